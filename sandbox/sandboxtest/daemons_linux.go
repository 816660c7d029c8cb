package sandboxtest

import (
	"context"
	"os"
	"time"

	"hardshell/sandbox"
)

// daemon is a way to leave a process behind. It waits for $ws/go, then writes
// outside, then says so in the workspace.
type daemon struct{ name, script string }

const daemonBody = `d() { echo x >"$ws/started"; await "$ws/go"; echo x >"$out/new"; echo x >"$out/file"; kill -9 "$(cat "$ws/victim")"; echo x >"$ws/wrote"; exec sleep "$marker"; }; export -f d await; export ws out marker
`

var daemons = []daemon{
	{"a background process", `d >/dev/null 2>&1 & await "$ws/started"`},
	{"a session of its own", `setsid bash -c d >/dev/null 2>&1 & await "$ws/started"`},
	{"a double fork", `( (setsid bash -c d >/dev/null 2>&1 &) & ); await "$ws/started"`},
	{"an empty environment", `setsid env -i ws="$ws" out="$out" marker="$marker" PATH="$PATH" bash -c "$(declare -f d await); d" >/dev/null 2>&1 & await "$ws/started"`},
	{"a process that ignores signals", `(trap '' TERM HUP INT; setsid bash -c d) >/dev/null 2>&1 & await "$ws/started"`},
}

// daemonChecks are about processes that outlive their command.
func daemonChecks() []check {
	var checks []check
	for _, d := range daemons {
		checks = append(checks,
			check{name: d.name + " stays confined after its command", run: d.staysConfined},
			check{name: d.name + " ends with the runtime", run: d.endsWithRuntime},
			check{name: d.name + " ends with the provider", run: d.endsWithProvider},
		)
	}
	return append(checks,
		check{name: "what one command left running is ended by the next command of the session", run: func(f *fixture) {
			c := f.workspaceWrite()
			f.expectOK(f.sh(c, `sleep "$marker" >/dev/null 2>&1 & echo $! >pid`))
			f.awaitAlive(1)
			f.expectOK(f.sh(c, `kill "$(cat pid)"`))
			f.waitFor("its end", func() bool { return len(f.alive()) == 0 })
		}},
		check{name: "closing ends a command that runs", run: func(f *fixture) {
			if !f.tier.namespaces {
				f.Skip("skipped: in this tier the runtime ends commands")
			}
			h := f.start(f.bash(f.workspaceWrite(), `sleep "$marker"; true`))
			f.awaitAlive(1)
			f.closeProvider()
			f.expectGone()
			f.await(h)
		}},
		check{name: "killing everything that can be killed leaves the sandbox usable", run: func(f *fixture) {
			if !f.tier.namespaces {
				f.Skip("skipped: in this tier that would reach the processes of the host's user")
			}
			c := f.workspaceWrite()
			s := f.newSleeper()
			f.run(f.program(c, f.binary, attemptWord, "killing everything that can be", f.encode(f.targetOf(s))))
			f.expectUntouched(s)
			f.expectStdout(f.sh(c, `echo hi`), "hi\n")
		}},
		check{name: "killing pid 1 leaves the sandbox usable", run: func(f *fixture) {
			if !f.tier.namespaces {
				f.Skip("skipped: in this tier pid 1 is the host's")
			}
			c := f.workspaceWrite()
			f.sh(c, `kill -9 1; kill -TERM 1; kill -STOP 1; kill -SEGV 1`)
			f.expectStdout(f.sh(c, `echo hi`), "hi\n")
		}},
	)
}

// leave runs the command that leaves the daemon behind.
func (d daemon) leave(f *fixture) (sandbox.Confinement, *sleeper) {
	f.Helper()
	c := f.workspaceWrite()
	s := f.newSleeper()
	f.write(f.Workspace+"/victim", itoa(s.pid))
	spec := f.bash(c, daemonBody+d.script)
	spec.Grace = 200 * time.Millisecond // some ignore its signal
	f.expectOK(f.run(spec))
	return c, s
}

func (d daemon) staysConfined(f *fixture) {
	before := content(f.Outside)
	_, s := d.leave(f)
	f.write(f.Workspace+"/go", "")
	// One that has ended with its command is confined as well.
	f.waitFor("the daemon", func() bool { return exists(f.Workspace+"/wrote") || len(f.alive()) == 1 })
	f.expectUnchanged(before, content(f.Outside))
	f.expectUntouched(s)
}

func (d daemon) endsWithRuntime(f *fixture) {
	_, s := d.leave(f)
	f.write(f.Workspace+"/go", "")
	f.waitFor("the daemon", func() bool { return exists(f.Workspace+"/wrote") || len(f.alive()) == 1 })
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	if err := f.Runtime.Close(ctx); err != nil {
		f.Errorf("Runtime.Close = %v", err)
	}
	f.expectOnly(s)
}

func (d daemon) endsWithProvider(f *fixture) {
	if !f.tier.namespaces {
		f.Skip("skipped: in this tier the runtime ends what is left")
	}
	_, s := d.leave(f)
	f.write(f.Workspace+"/go", "")
	f.waitFor("the daemon", func() bool { return exists(f.Workspace+"/wrote") || len(f.alive()) == 1 })
	f.closeProvider()
	f.expectOnly(s)
}

// expectOnly expects that of the marked processes only the sleeper is left.
func (f *fixture) expectOnly(s *sleeper) {
	f.Helper()
	for _, pid := range f.alive() {
		if pid != s.pid {
			f.Errorf("alive, but should be gone: %d %.200q", pid, commandLine(pid))
		}
	}
	f.expectUntouched(s)
}

// closeProvider closes the provider before the runtime.
func (f *fixture) closeProvider() {
	f.Helper()
	f.within("Provider.Close", func() {
		if err := f.Provider.Close(); err != nil {
			f.Errorf("Provider.Close = %v, want no error", err)
		}
	})
}

// limitChecks are about what a command may use up.
func limitChecks() []check {
	return []check{
		{name: "no more processes than the policy says are started", run: func(f *fixture) {
			if os.Geteuid() == 0 {
				f.Skip("skipped: the kernel does not count the processes of root without a control group")
			}
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.PIDs = 64
			if !f.tier.namespaces {
				f.Skip("skipped: in this tier the kernel counts all processes of the user")
			}
			c := f.confine(policy)
			t := f.targetOf(nil)
			t.Socket = f.Marker
			r := f.attempt(c, "spawn 100", t)
			if r.Done {
				f.Error("100 processes were started under a limit of 64")
			}
			if n := len(f.alive()); n > 64 {
				f.Errorf("%d processes run, want 64 at most", n)
			}
		}},
	}
}
