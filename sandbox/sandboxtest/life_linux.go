package sandboxtest

import (
	"os"
	"strconv"
	"strings"
	"time"

	"hardshell/sandbox"
	"hardshell/subprocess"
)

func itoa(n int) string { return strconv.Itoa(n) }

// workChecks are about programs that find what they need.
func workChecks() []check {
	both := func(name, script, want string) []check {
		var checks []check
		for _, mode := range []sandbox.Mode{sandbox.ReadOnly, sandbox.WorkspaceWrite} {
			checks = append(checks, check{name: string(mode) + ": " + name, run: func(f *fixture) {
				f.expectStdout(f.sh(f.confine(f.policy(mode)), script), want)
			}})
		}
		return checks
	}
	var checks []check
	for _, c := range []struct{ name, script, want string }{
		{"files outside are read", `cat "$out/file" "$out/dir/file"`, "before\nbefore\n"},
		{"directories outside are listed", `ls "$out"`, "dir\nfile\n"},
		{"the system is read", `ls /usr /etc >/dev/null && head -c 4 /bin/ls | tail -c 3`, "ELF"},
		{"what is written to /dev/null is gone", `echo x >/dev/null && echo x >>/dev/null && cat /dev/null`, ""},
		{"a full device is full", `echo x 2>/dev/null >/dev/full || echo full`, "full\n"},
		{"zeros and random bytes are read", `head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c`, "3\n3\n"},
		{"the standard streams are named in /dev", `echo a >/dev/stdout; echo b >/dev/stderr; echo c | cat /dev/stdin`, "a\nc\n"},
		{"process substitution works", `cat <(echo a) <(echo b); echo c > >(cat); wait $!`, "a\nb\nc\n"},
		{"a pipe of several programs works", `seq 1000 | sort -n | tail -1 | cat`, "1000\n"},
		{"/proc shows the process itself", `[ -r /proc/self/status ] && [ -e /proc/$$/fd/1 ] && readlink /proc/self/exe >/dev/null && cat /proc/sys/kernel/ostype`, "Linux\n"},
		{"ps and kill work on processes of its own", `sleep "$marker" & kill -0 $! && kill $! && wait $!; echo $?`, "143\n"},
		{"arguments with blanks and newlines arrive", `printf '%s|' "a b" $'x\ny'`, "a b|x\ny|"},
	} {
		checks = append(checks, both(c.name, c.script, c.want)...)
	}
	return append(checks,
		check{name: "the directories on the way to what is hidden are listed where they can be", run: func(f *fixture) {
			if !f.tier.namespaces {
				f.Skip("skipped: Landlock would let everything below them be listed")
			}
			f.expectOK(f.sh(f.readOnly(), `ls / "$ws/.."`))
		}},
		check{name: "a script in the workspace is executed", run: func(f *fixture) {
			f.expectStdout(f.sh(f.workspaceWrite(), `printf '#!/bin/sh\necho ran\n' >x && chmod +x x && ./x`), "ran\n")
		}},
		check{name: "an argument list is executed exactly", run: func(f *fixture) {
			f.expectStdout(f.run(f.program(f.readOnly(), "printf", "%s|", "a b", "$HOME", "x\ny", "")), "a b|$HOME|x\ny||")
		}},
		check{name: "environment and standard input arrive", run: func(f *fixture) {
			spec := f.bash(f.readOnly(), `echo "$GREETING"; cat`)
			spec.Env["GREETING"] = "hi"
			spec.Stdin = subprocess.Stdin{Mode: subprocess.StdinData, Data: strings.NewReader("in\n")}
			f.expectStdout(f.run(spec), "hi\nin\n")
		}},
		check{name: "many commands run at once", run: func(f *fixture) {
			c := f.workspaceWrite()
			var handles []subprocess.Handle
			for range 20 {
				handles = append(handles, f.start(f.bash(c, `await "$ws/go"; echo hi`)))
			}
			f.write(f.Workspace+"/go", "")
			for _, h := range handles {
				f.expectStdout(f.await(h), "hi\n")
			}
		}},
		check{name: "many confinements at once are made", run: func(f *fixture) {
			results := make(chan error)
			for n := range 8 {
				go func() {
					policy := f.policy(sandbox.Modes()[n%2])
					policy.SessionID = "session-" + itoa(n%4)
					_, err := f.Provider.Confine(f.Context(), policy)
					results <- err
				}()
			}
			for range 8 {
				if err := <-results; err != nil {
					f.Errorf("Confine = %v, want no error", err)
				}
			}
		}},
	)
}

// lifeChecks are about how commands end: inside as outside.
func lifeChecks() []check {
	both := func(name string, run func(f *fixture, c sandbox.Confinement)) []check {
		var checks []check
		for _, mode := range []sandbox.Mode{sandbox.ReadOnly, sandbox.WorkspaceWrite} {
			checks = append(checks, check{name: string(mode) + ": " + name, run: func(f *fixture) { run(f, f.confine(f.policy(mode))) }})
		}
		return checks
	}
	ends := func(script string, code int, signal string) func(*fixture, sandbox.Confinement) {
		return func(f *fixture, c sandbox.Confinement) { f.expectEnd(f.sh(c, script), code, signal) }
	}
	var checks []check
	checks = append(checks, both("an exit status arrives", ends(`exit 3`, 3, ""))...)
	checks = append(checks, both("the status 125 is the command's own", ends(`echo 'hardshell: x' >&2; exit 125`, 125, ""))...)
	checks = append(checks, both("the status 255 arrives", ends(`exit 255`, 255, ""))...)
	checks = append(checks, both("death by SIGKILL arrives", ends(`kill -9 $$`, -1, "SIGKILL"))...)
	checks = append(checks, both("death by SIGTERM arrives", ends(`kill $$`, -1, "SIGTERM"))...)
	checks = append(checks, both("death by SIGSEGV arrives", ends(`ulimit -c 0; kill -SEGV $$`, -1, "SIGSEGV"))...)
	checks = append(checks, both("a termination reaches a trap, which gets its grace", func(f *fixture, c sandbox.Confinement) {
		spec := f.bash(c, `trap 'echo trapped; sleep 0.2; exit 5' TERM; echo ready; while :; do sleep 0.05; done`)
		h := f.start(spec)
		f.waitFor("the trap", func() bool { return h.Reader(subprocess.Stdout).Collected().Text == "ready\n" })
		h.Terminate()
		r := f.await(h)
		f.expectEnd(r, 5, "")
		if r.Stdout != "ready\ntrapped\n" {
			f.Errorf("the command ended with %v", r)
		}
	})...)
	checks = append(checks, both("a termination ends a plain program at once", func(f *fixture, c sandbox.Confinement) {
		spec := f.program(c, "sleep", f.Marker)
		spec.Grace = hang
		h := f.start(spec)
		f.awaitAlive(1)
		h.Terminate()
		f.expectEnd(f.await(h), -1, "SIGTERM")
	})...)
	checks = append(checks, both("what resists a termination is killed with its children", func(f *fixture, c sandbox.Confinement) {
		spec := f.bash(c, `trap '' TERM; setsid sleep "$marker" & sleep "$marker" & while :; do sleep "$marker"; done`)
		spec.Grace = 200 * time.Millisecond
		h := f.start(spec)
		f.awaitAlive(4)
		h.Terminate()
		f.expectEnd(f.await(h), -1, "SIGKILL")
		f.waitFor("the end of the tree", func() bool { return len(f.alive()) == 0 })
		if s := h.Survivors(); len(s) > 0 {
			f.Errorf("Survivors = %v, want none", s)
		}
	})...)
	return append(checks,
		check{name: "a termination ends a program at once that has its parent trace it", run: func(f *fixture) {
			t := f.targetOf(nil)
			t.Socket = f.Marker
			spec := f.program(f.readOnly(), f.binary, attemptWord, "have the parent trace it and sleep", f.encode(t))
			spec.Grace = 2 * hang // more than await has patience for
			h := f.start(spec)
			f.waitFor("the stop", func() bool {
				for _, pid := range f.alive() {
					if stat, err := os.ReadFile("/proc/" + itoa(pid) + "/stat"); err == nil && strings.Contains(string(stat), " (sleep) t ") {
						return true
					}
				}
				return false
			})
			h.Terminate()
			f.expectEnd(f.await(h), -1, "SIGKILL")
		}},
		check{name: "a program that does not exist is an error", run: func(f *fixture) {
			if _, err := f.Runtime.Spawn(f.Context(), f.program(f.readOnly(), f.Base+"/none")); err == nil {
				f.Error("the spawn worked")
			}
		}},
		check{name: "a working directory that does not exist is an error", run: func(f *fixture) {
			spec := f.program(f.readOnly(), "true")
			spec.Dir = f.Base + "/none"
			if _, err := f.Runtime.Spawn(f.Context(), spec); err == nil {
				f.Error("the spawn worked")
			}
		}},
		check{name: "a hidden working directory is an error or empty", run: func(f *fixture) {
			spec := f.bash(f.readOnly(), `cat run/token; ls -R`)
			spec.Dir = f.Home
			h, err := f.Runtime.Spawn(f.Context(), spec)
			if err != nil {
				return
			}
			f.expectNoSecret(f.await(h))
		}},
	)
}

func (f *fixture) expectEnd(r result, code int, signal string) {
	f.Helper()
	if r.Code != code || r.Signal != signal {
		f.Errorf("the command ended with %v; want code %d, signal %q", r, code, signal)
	}
}
