package sandboxtest

import (
	"fmt"
	"os"

	"hardshell/sandbox"
)

// homeChecks are about a command that would widen itself through the home of
// hardshell: authority is the ability to read what lies in run.
func homeChecks() []check {
	var checks []check
	reading := func(name, script string) {
		for _, mode := range []sandbox.Mode{sandbox.ReadOnly, sandbox.WorkspaceWrite} {
			checks = append(checks, check{name: fmt.Sprintf("%s: %s", mode, name), run: func(f *fixture) {
				f.expectNoSecret(f.sh(f.confine(f.policy(mode)), script+"\ntrue"))
			}})
		}
	}
	reading("a key is not read", `cat "$dsh/run/token"`)
	reading("no key is found", `cat "$dsh"/run/* "$dsh"/*/../run/token`)
	reading("the settings are not read", `cat "$dsh/settings.yaml"`)
	reading("a key is not read through /proc/self/root", `cat "/proc/self/root$dsh/run/token"`)
	reading("a key is not copied", `cp "$dsh/run/token" "$TMPDIR/key"; cat "$TMPDIR/key"`)
	reading("a key is not hard linked", `ln "$dsh/run/token" "$TMPDIR/key"; cat "$TMPDIR/key"; ln "$dsh/run/token" "$ws/key"; cat "$ws/key"`)
	reading("a key is not read through a symbolic link", `ln -s "$dsh/run/token" "$TMPDIR/key"; cat "$TMPDIR/key"`)
	reading("the log of another session is not read", `cat "$dsh/sessions/`+stranger+`/log.jsonl"`)
	reading("the spill of another session is not read", `cat "$dsh/spill/`+stranger+`/spill"`)
	reading("the jobs of another session are not read", `cat "$dsh/jobs/`+stranger+`"/*/*`)
	reading("nothing is found by a search", `grep -rs `+secret+` "$dsh"`)

	writing := func(name, script string) {
		checks = append(checks, check{name: name, run: func(f *fixture) {
			before := f.homeState()
			f.expectRefused(f.sh(f.workspaceWrite(), script))
			f.expectUnchanged(before, f.homeState())
		}})
	}
	writing("the settings are not written", `echo x >"$dsh/settings.yaml"`)
	writing("settings are not put in the place of others", `echo x >"$TMPDIR/s" && mv "$TMPDIR/s" "$dsh/settings.yaml"`)
	writing("a composition is not made", `echo '[]' >"$dsh/compose.yaml"`)
	writing("an answer to an ask is not made", `mkdir -p "$dsh/run/asks" && echo allow >"$dsh/run/asks/answer"`)
	writing("a key is not replaced", `echo x >"$dsh/run/token"`)
	writing("a session's own log is not written", `echo x >>"$dsh/sessions/`+session+`/log.jsonl"`)
	writing("the log of another session is not written", `echo x >>"$dsh/sessions/`+stranger+`/log.jsonl"`)
	writing("a session's own spill is not written", `echo x >>"$dsh/spill/`+session+`/spill"`)
	writing("a session's own jobs are not written", `echo x >>"$dsh/jobs/`+session+`/bash-1/log-stdout"`)
	writing("a session's own jobs are not deleted", `rm -rf "$dsh/jobs/`+session+`/bash-1" && [ ! -e "$dsh/jobs/`+session+`/bash-1" ] && [ -e "$dsh/jobs/`+session+`" ]`)
	writing("the home is not moved away", `mv "$dsh" "$dsh.away"`)

	return append(checks,
		check{name: "a key that appears after the confinement was made is not read", run: func(f *fixture) {
			c := f.workspaceWrite()
			f.expectOK(f.sh(c, `true`))
			f.write(f.home.Run()+"/later", secret)
			f.expectNoSecret(f.sh(c, `cat "$dsh/run/later"; cat "$dsh"/run/*; true`))
		}},
		check{name: "a session that appears after the confinement was made is not read", run: func(f *fixture) {
			c := f.workspaceWrite()
			f.expectOK(f.sh(c, `true`))
			if err := f.home.Ensure(f.home.Session("later")); err != nil {
				f.Fatal(err)
			}
			f.write(f.home.SessionLog("later"), secret)
			f.expectNoSecret(f.sh(c, `cat "$dsh/sessions/later/log.jsonl"; true`))
		}},
		check{name: "a socket in the home is not connected to where Unix sockets are reported full", run: func(f *fixture) {
			f.expectUnixRefused(f.workspaceWrite(), f.serve("unix", f.home.Run()+"/s"))
		}},
		check{name: "a workspace that holds the home shows nothing of it", run: func(f *fixture) {
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.WorkspaceRoot = f.Base
			c := f.confine(policy)
			before := f.homeState()
			f.expectNoSecret(f.sh(c, `cat "$dsh/run/token" "$dsh/settings.yaml"; true`))
			f.expectRefused(f.sh(c, `echo x >"$dsh/settings.yaml"`))
			f.expectUnchanged(before, f.homeState())
		}},
		check{name: "a home that is granted as a writable root by its parent shows nothing of it", run: func(f *fixture) {
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.WritableRoots = []string{f.Base}
			f.expectNoSecret(f.sh(f.confine(policy), `cat "$dsh/run/token"; true`))
		}},
	)
}

// homeState is what commands must not change: all but the temp and the caches
// of the home, which are a command's own.
func (f *fixture) homeState() snapshot {
	s := content(f.Home)
	for path := range s {
		for _, own := range []string{"/tmp", "/cache"} {
			if root := f.Home + own; path == root || len(path) > len(root) && path[:len(root)+1] == root+"/" {
				delete(s, path)
			}
		}
		if path == f.Home {
			delete(s, path)
		}
	}
	return s
}

// ownFileChecks are about what of the home a session must see.
func ownFileChecks() []check {
	var checks []check
	for _, mode := range []sandbox.Mode{sandbox.ReadOnly, sandbox.WorkspaceWrite} {
		checks = append(checks, check{name: string(mode) + ": a session's own log, spill and jobs are readable", run: func(f *fixture) {
			r := f.sh(f.confine(f.policy(mode)), `cat "$dsh/sessions/`+session+`/log.jsonl" "$dsh/spill/`+session+`/spill" "$dsh/jobs/`+session+`/bash-1/log-stdout"`)
			f.expectStdout(r, "of this session\nof this session\nof this session\n")
		}})
	}
	return append(checks,
		check{name: "a spill file that appears after the confinement was made is readable", run: func(f *fixture) {
			c := f.readOnly()
			f.expectOK(f.sh(c, `true`))
			f.write(f.home.Spill(session)+"/later", "later\n")
			f.expectStdout(f.sh(c, `cat "$dsh/spill/`+session+`/later"`), "later\n")
		}},
		check{name: "a session whose directories do not exist yet is confined", run: func(f *fixture) {
			policy := f.policy(sandbox.ReadOnly)
			policy.SessionID = "session-without-files"
			f.expectStdout(f.sh(f.confine(policy), `echo hi`), "hi\n")
		}},
		check{name: "a policy without a session is confined and has a temp", run: func(f *fixture) {
			policy := f.policy(sandbox.ReadOnly)
			policy.SessionID = ""
			f.expectStdout(f.sh(f.confine(policy), `echo hi >"$TMPDIR/x" && cat "$TMPDIR/x"`), "hi\n")
		}},
		check{name: "a home that does not exist yet is no obstacle", run: func(f *fixture) {
			if err := os.RemoveAll(f.Home); err != nil {
				f.Fatal(err)
			}
			f.expectStdout(f.sh(f.workspaceWrite(), `echo hi`), "hi\n")
		}},
	)
}
