package bench

import (
	"context"

	"hardshell/internal/hostwire"
	"hardshell/internal/state"
	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/shell/bash"
	"hardshell/shell/confined"
	"hardshell/subprocess/host"
)

// session are the pairs of a named session: a command through its host, and the
// first one, for which the host is started and a sandbox made.
func (p *place) session(o Options) []measurement {
	if o.Self == "" {
		return nil
	}
	var running shell.Executor
	var runtime *host.Runtime
	end := func() error {
		if runtime == nil {
			return nil
		}
		return runtime.Close(context.Background())
	}
	return []measurement{
		{
			name: "session", runs: o.Runs, optional: true,
			prepare: func(context.Context) error {
				var err error
				running, p.host, err = p.through("bench", o.Self)
				return err
			},
			aName: "run bash -c true through a session host", a: func(ctx context.Context) error { return p.run(ctx, running, "true") },
			bName: bareTrueName, b: bareTrue,
		},
		{
			name: "session-first", runs: max(o.Runs/5, 5), optional: true,
			aName: "first command of a session",
			a: func(ctx context.Context) error {
				executor, made, err := p.through("bench-first", o.Self)
				if err != nil {
					return err
				}
				runtime = made
				return p.run(ctx, executor, "true")
			},
			bName: bareTrueName, b: bareTrue, after: end,
		},
	}
}

// through is an executor whose commands are confined and spawned by the host of a
// session.
func (p *place) through(session, self string) (shell.Executor, *host.Runtime, error) {
	home, err := state.ResolveHome(p.home)
	if err != nil {
		return nil, nil, err
	}
	runtime := host.New(host.Config{
		Home: home, SessionID: session, SpillDir: home.Spill(session), Command: []string{self, hostwire.Argument},
	})
	policies := fixed{sandbox.Policy{Mode: sandbox.WorkspaceWrite, WorkspaceRoot: p.workspace, SessionID: session}}
	executor, err := confined.New(runtime, runtime.Sandbox(), policies, bash.DefaultConfig())
	return executor, runtime, err
}
