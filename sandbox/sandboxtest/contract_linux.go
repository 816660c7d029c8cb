package sandboxtest

import (
	"context"
	"strings"

	"hardshell/internal/fault"
	"hardshell/sandbox"
)

// reportChecks are about what a confinement says of itself.
func reportChecks() []check {
	return []check{
		{name: "workspace-write reports what its tier gives", run: func(f *fixture) {
			f.expectReport(f.workspaceWrite(), sandbox.WorkspaceWrite, f.tier.effects)
		}},
		{name: "read-only reports what its tier gives", run: func(f *fixture) {
			c := f.readOnly()
			want := f.tier.effects
			// Without a writable root there is nothing to protect inside of one.
			want.ProtectedPaths = c.Report().Effects.ProtectedPaths
			f.expectReport(c, sandbox.ReadOnly, want)
		}},
		{name: "a report is complete", run: func(f *fixture) {
			for _, c := range []sandbox.Confinement{f.readOnly(), f.workspaceWrite()} {
				e := c.Report().Effects
				for class, value := range map[string]sandbox.Enforcement{"write": e.Write, "metadata": e.Metadata,
					"protected-paths": e.ProtectedPaths, "read": e.Read, "visibility": e.Visibility, "signal": e.Signal, "unix": e.Unix} {
					if value != sandbox.Full && value != sandbox.Partial {
						f.Errorf("%s is reported %q", class, value)
					}
				}
			}
		}},
		{name: "a confinement describes itself by its backend", run: func(f *fixture) {
			c := f.readOnly()
			if r := c.Report(); r.Backend == "" || !strings.Contains(c.Confines(), r.Backend) {
				f.Errorf("Confines() = %q, Backend = %q", c.Confines(), r.Backend)
			}
		}},
		{name: "an empty network is an open one", run: func(f *fixture) {
			if r := f.readOnly().Report(); r.Network != sandbox.NetworkOpen {
				f.Errorf("the network is reported %q", r.Network)
			}
		}},
	}
}

func (f *fixture) expectReport(c sandbox.Confinement, mode sandbox.Mode, effects sandbox.Effects) {
	f.Helper()
	r := c.Report()
	if r.Mode != mode || r.Tier != f.Tier || r.Backend == "" || r.Network != sandbox.NetworkOpen {
		f.Errorf("the report is %+v; want the mode %s, the tier %s, a backend and an open network", r, mode, f.Tier)
	}
	if r.Effects != effects {
		f.Errorf("the effects are\n\t%+v, want\n\t%+v", r.Effects, effects)
	}
}

// refusalChecks are about policies that are refused.
func refusalChecks() []check {
	refused := func(name string, code fault.Code, change func(f *fixture, p *sandbox.Policy)) check {
		return check{name: name, run: func(f *fixture) {
			policy := f.policy(sandbox.WorkspaceWrite)
			change(f, &policy)
			c, err := f.Provider.Confine(context.Background(), policy)
			f.expectFault(err, code)
			if c != nil {
				f.Error("there is a confinement beside the error")
			}
		}}
	}
	return []check{
		refused("danger-full-access is not the provider's to decide", fault.Invariant, func(_ *fixture, p *sandbox.Policy) { p.Mode = sandbox.DangerFullAccess }),
		refused("an unknown mode is refused", fault.InvalidArgument, func(_ *fixture, p *sandbox.Policy) { p.Mode = "read-write" }),
		refused("an empty mode is refused", fault.InvalidArgument, func(_ *fixture, p *sandbox.Policy) { p.Mode = "" }),
		refused("a relative workspace is refused", fault.InvalidArgument, func(_ *fixture, p *sandbox.Policy) { p.WorkspaceRoot = "workspace" }),
		refused("an empty workspace is refused", fault.InvalidArgument, func(_ *fixture, p *sandbox.Policy) { p.WorkspaceRoot = "" }),
		refused("a relative writable root is refused", fault.InvalidArgument, func(_ *fixture, p *sandbox.Policy) { p.WritableRoots = []string{"x"} }),
		refused("a relative hidden path is refused", fault.InvalidArgument, func(_ *fixture, p *sandbox.Policy) { p.Hide = []string{"~/.ssh"} }),
		refused("a NUL byte is refused", fault.InvalidArgument, func(_ *fixture, p *sandbox.Policy) { p.WorkspaceRoot += "\x00" }),
		refused("an unknown network is refused", fault.InvalidArgument, func(_ *fixture, p *sandbox.Policy) { p.Network = "lan" }),
		refused("unknown caches are refused", fault.InvalidArgument, func(_ *fixture, p *sandbox.Policy) { p.Caches = "mine" }),
		refused("a negative number of processes is refused", fault.InvalidArgument, func(_ *fixture, p *sandbox.Policy) { p.PIDs = -1 }),
		{name: "a session id that leads elsewhere is refused", run: func(f *fixture) {
			for _, id := range []string{"../x", "a/b", "..", strings.Repeat("x", 65)} {
				policy := f.policy(sandbox.ReadOnly)
				policy.SessionID = id
				if _, err := f.Provider.Confine(context.Background(), policy); err == nil {
					f.Errorf("the session %.20q was accepted", id)
				}
			}
		}},
		{name: "a workspace that does not exist is an error with a code", run: func(f *fixture) {
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.WorkspaceRoot = f.Base + "/none"
			if _, err := f.Provider.Confine(context.Background(), policy); fault.CodeOf(err) == "" {
				f.Errorf("the error is %v, want one with a code", err)
			}
			if exists(f.Base + "/none") {
				f.Error("it was made")
			}
		}},
		{name: "a context that has ended is an error", run: func(f *fixture) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_, err := f.Provider.Confine(ctx, f.policy(sandbox.ReadOnly))
			f.expectFault(err, fault.Aborted)
		}},
		{name: "a closed provider confines nothing", run: func(f *fixture) {
			c := f.workspaceWrite()
			f.closeProvider()
			_, err := f.Provider.Confine(context.Background(), f.policy(sandbox.ReadOnly))
			f.expectFault(err, fault.SandboxUnavailable)
			before := content(f.Outside)
			if h, err := f.Runtime.Spawn(context.Background(), f.bash(c, `echo x >"$out/new"`)); err == nil {
				f.await(h)
				f.Error("a command was started under a confinement of a closed provider")
			}
			f.expectUnchanged(before, content(f.Outside))
		}},
		{name: "closing twice is no error", run: func(f *fixture) {
			f.readOnly()
			f.closeProvider()
			f.closeProvider()
		}},
		{name: "closing a provider that confined nothing is no error", run: func(f *fixture) { f.closeProvider() }},
	}
}

// denialChecks are about recognizing a refusal by what a command wrote.
func denialChecks() []check {
	code := func(n int) *int { return &n }
	denied := func(f *fixture, c sandbox.Confinement, script string, want bool) {
		f.Helper()
		r := f.sh(c, script)
		outcome := sandbox.Outcome{Workdir: f.Workspace, Stderr: r.Stderr}
		if r.Signal == "" {
			outcome.ExitCode = code(r.Code)
		}
		if got := c.Denied(outcome); got != want {
			f.Errorf("Denied is %t, want %t, after %v", got, want, r)
		}
	}
	return []check{
		{name: "a refused write is a denial", run: func(f *fixture) {
			denied(f, f.workspaceWrite(), `echo x >"$out/new"`, true)
			denied(f, f.readOnly(), `echo x >"$ws/new"`, true)
			denied(f, f.readOnly(), `touch "$out/file"`, f.tier.namespaces)
			denied(f, f.readOnly(), `rm "$out/file"`, true)
		}},
		{name: "a relative path is taken from the working directory", run: func(f *fixture) {
			denied(f, f.readOnly(), `echo x >new`, true)
			denied(f, f.workspaceWrite(), `echo x >../outside/new`, true)
		}},
		{name: "a success is no denial", run: func(f *fixture) {
			denied(f, f.readOnly(), `echo x >"$out/new"; exit 0`, false)
			denied(f, f.readOnly(), `true`, false)
		}},
		{name: "an ordinary failure is no denial", run: func(f *fixture) {
			denied(f, f.readOnly(), `cat "$out/none"`, false)
			denied(f, f.readOnly(), `exit 3`, false)
		}},
		{name: "death by a signal is no denial", run: func(f *fixture) {
			denied(f, f.readOnly(), `echo x >"$out/new"; kill -9 $$`, false)
		}},
		{name: "the same words about a path inside of a writable root are no denial", run: func(f *fixture) {
			denied(f, f.workspaceWrite(), `echo "bash: $ws/new: Read-only file system" >&2; exit 1`, false)
			denied(f, f.workspaceWrite(), `echo "bash: $ws/new: Permission denied" >&2; exit 1`, false)
		}},
	}
}
