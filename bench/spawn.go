package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"

	"hardshell/sandbox"
	"hardshell/sandbox/native"
)

// bare are the pairs without confinement.
func (p *place) bare(o Options) []measurement {
	writer := fmt.Sprintf("exec dd if=/dev/zero bs=64k count=%d status=none", o.Bytes>>16)
	return []measurement{
		{
			name: "spawn", runs: o.Runs,
			aName: "run bash -c true", a: func(ctx context.Context) error { return p.run(ctx, p.plain, "true") },
			bName: bareTrueName, b: bareTrue,
		},
		{
			name: "output", runs: max(o.Runs/20, 5),
			aName: "captured output", a: func(ctx context.Context) error { return p.run(ctx, p.plain, writer) },
			bName: "plain read loop", b: func(context.Context) error { return readAway(writer) },
		},
	}
}

// confined are the pairs of each tier: a command of a sandbox that is there, and
// the first of one that has to be made.
func (p *place) confined(o Options) []measurement {
	var list []measurement
	for _, tier := range native.Tiers() {
		list = append(list, p.steady(tier, o), p.first(tier, o))
	}
	return list
}

func (p *place) steady(tier sandbox.Tier, o Options) measurement {
	executor, err := p.kept(tier)
	return measurement{
		name: string(tier), runs: o.Runs, optional: true,
		prepare: func(context.Context) error { return err },
		aName:   "run bash -c true in " + string(tier), a: func(ctx context.Context) error { return p.run(ctx, executor, "true") },
		bName: bareTrueName, b: bareTrue,
	}
}

func (p *place) first(tier sandbox.Tier, o Options) measurement {
	var provider sandbox.Provider
	end := func() error {
		if provider == nil {
			return nil
		}
		return provider.Close()
	}
	return measurement{
		name: string(tier) + "-first", runs: max(o.Runs/5, 5), optional: true,
		aName: "first command in " + string(tier),
		a: func(ctx context.Context) error {
			executor, made, err := p.executor(tier)
			if err != nil {
				return err
			}
			provider = made
			if err := p.run(ctx, executor, "true"); err != nil {
				_ = end() // the first error tells more
				return err
			}
			return nil
		},
		bName: bareTrueName, b: bareTrue, after: end,
	}
}

// readAway runs a command and throws its output away, with a pipe and a buffer
// as large as the capture's.
func readAway(command string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	enlarge(r)
	cmd := exec.Command("bash", "-c", command)
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		w.Close()
		return err
	}
	w.Close()
	buf := make([]byte, 256<<10)
	for {
		if _, err := r.Read(buf); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	return cmd.Wait()
}
