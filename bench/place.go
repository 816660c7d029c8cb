package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"hardshell/sandbox"
	"hardshell/sandbox/native"
	"hardshell/shell"
	"hardshell/shell/bash"
	"hardshell/shell/confined"
	"hardshell/subprocess/host"
	"hardshell/subprocess/local"
)

// place is where measurements run: a home and a workspace of their own, and the
// executors.
type place struct {
	dir, home, workspace string
	empty                string // a workspace with nothing in it
	runtime              *local.Runtime
	plain                shell.Executor
	providers            []sandbox.Provider
	host, jobHost        *host.Runtime // of the sessions that are measured, or nil
}

func newPlace() (*place, error) {
	dir, err := tempDir()
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	p := &place{dir: dir, home: filepath.Join(dir, "home"), workspace: filepath.Join(dir, "workspace"), empty: filepath.Join(dir, "empty")}
	if err := os.Mkdir(p.workspace, 0o700); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	p.runtime = local.New(local.Config{SpillDir: filepath.Join(dir, "spill")})
	if p.plain, err = bash.New(p.runtime, bash.DefaultConfig()); err != nil {
		p.close(context.Background())
		return nil, err
	}
	return p, nil
}

// close ends what was left running and removes the place.
func (p *place) close(ctx context.Context) error {
	err := p.runtime.Close(ctx)
	for _, runtime := range []*host.Runtime{p.host, p.jobHost} {
		if runtime != nil {
			err = errors.Join(err, runtime.Close(ctx))
		}
	}
	for _, provider := range p.providers {
		err = errors.Join(err, provider.Close())
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}

// fixed is the same policy for every command.
type fixed struct{ policy sandbox.Policy }

// Default implements confined.Policies.
func (f fixed) Default() sandbox.Policy { return f.policy }

// executor is one whose commands are confined by a tier, with its provider, which
// the caller closes.
func (p *place) executor(tier sandbox.Tier) (shell.Executor, sandbox.Provider, error) {
	provider, err := native.New(native.Config{Home: p.home, Tiers: []sandbox.Tier{tier}, Ephemeral: true})
	if err != nil {
		return nil, nil, err
	}
	policies := fixed{sandbox.Policy{Mode: sandbox.WorkspaceWrite, WorkspaceRoot: p.workspace}}
	executor, err := confined.New(p.runtime, provider, policies, bash.DefaultConfig())
	if err != nil {
		return nil, nil, errors.Join(err, provider.Close())
	}
	return executor, provider, nil
}

// kept is the same, closed with the place.
func (p *place) kept(tier sandbox.Tier) (shell.Executor, error) {
	executor, provider, err := p.executor(tier)
	if err == nil {
		p.providers = append(p.providers, provider)
	}
	return executor, err
}

// run runs a command through an executor, its output captured.
func (p *place) run(ctx context.Context, executor shell.Executor, command string) error {
	spec, err := executor.Resolve(shell.Request{Command: command, Workdir: p.workspace})
	if err != nil {
		return err
	}
	result, err := executor.Run(ctx, spec)
	if err != nil {
		return err
	}
	if status := result.Status(); status != 0 {
		return fmt.Errorf("exit status %d: %s", status, result.Stderr.Text)
	}
	return nil
}

// bareTrue is what others are compared with.
func bareTrue(context.Context) error { return exec.Command("bash", "-c", "true").Run() }

const bareTrueName = "bare bash -c true"
