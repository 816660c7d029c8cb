package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"hardshell/sandbox"
	"hardshell/shell"
)

// workFiles is how many files the pairs "tar" and "git-status" are about.
const workFiles = 2000

// work are the pairs of the same work inside of namespaces and outside.
func (p *place) work(o Options) []measurement {
	const tier = sandbox.TierNamespaces
	executor, err := p.kept(tier)
	prepared := err
	made := false
	prepare := func(ctx context.Context) error {
		if !made && prepared == nil {
			made = true
			prepared = p.makeFiles(ctx)
		}
		return prepared
	}
	n := 0
	extract := func(executor shell.Executor) func(context.Context) error {
		return func(ctx context.Context) error {
			n++
			return p.run(ctx, executor, fmt.Sprintf("mkdir out.%d && tar xf files.tar -C out.%d", n, n))
		}
	}
	status := func(executor shell.Executor) func(context.Context) error {
		return func(ctx context.Context) error { return p.run(ctx, executor, "git -C files status --porcelain") }
	}
	return []measurement{
		{
			name: "git-status", runs: max(o.Runs/5, 5), prepare: prepare, optional: true,
			aName: "git status in " + string(tier), a: status(executor),
			bName: "git status outside", b: status(p.plain),
		},
		{
			name: "tar", runs: max(o.Runs/20, 5), prepare: prepare, optional: true,
			aName: "tar x of 2,000 files in " + string(tier), a: extract(executor),
			bName: "tar x outside", b: extract(p.plain),
			after: p.removeExtracted,
		},
	}
}

// makeFiles makes a repository with files, and an archive of them.
func (p *place) makeFiles(ctx context.Context) error {
	for i := range workFiles {
		dir := filepath.Join(p.workspace, "files", fmt.Sprintf("d%02d", i%50))
		if i < 50 {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
		}
		text := fmt.Appendf(nil, "file %d of a small repository\n", i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d", i)), text, 0o600); err != nil {
			return err
		}
	}
	return p.run(ctx, p.plain, `tar cf files.tar files && cd files && git init -q && git add . &&
		git -c user.name=bench -c user.email=bench@localhost -c commit.gpgsign=false commit -qm files`)
}

func (p *place) removeExtracted() error {
	list, err := filepath.Glob(filepath.Join(p.workspace, "out.*"))
	for _, dir := range list {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}
