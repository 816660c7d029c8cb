package sandboxtest

import (
	"os"
	"strings"

	"hardshell/sandbox"
	"hardshell/subprocess"
)

// tempChecks are about the private temp of a session.
func tempChecks() []check {
	both := func(name string, run func(f *fixture, policy sandbox.Policy)) []check {
		var checks []check
		for _, mode := range []sandbox.Mode{sandbox.ReadOnly, sandbox.WorkspaceWrite} {
			checks = append(checks, check{name: string(mode) + ": " + name, run: func(f *fixture) { run(f, f.policy(mode)) }})
		}
		return checks
	}
	checks := both("the temp can be written to and executed from", func(f *fixture, policy sandbox.Policy) {
		f.expectStdout(f.sh(f.confine(policy), `printf '#!/bin/sh\necho ran\n' >"$TMPDIR/x" && chmod +x "$TMPDIR/x" && "$TMPDIR/x"`), "ran\n")
	})
	checks = append(checks, both("mktemp works", func(f *fixture, policy sandbox.Policy) {
		f.expectOK(f.sh(f.confine(policy), `x=$(mktemp) && echo x >"$x" && d=$(mktemp -d) && echo x >"$d/x" && rm -r "$x" "$d"`))
	})...)
	checks = append(checks, both("the temp is kept between the commands of a session", func(f *fixture, policy sandbox.Policy) {
		f.expectOK(f.sh(f.confine(policy), `echo kept >"$TMPDIR/kept"`))
		f.expectStdout(f.sh(f.confine(policy), `cat "$TMPDIR/kept"`), "kept\n")
	})...)
	checks = append(checks, both("a long here-document works", func(f *fixture, policy sandbox.Policy) {
		line := strings.Repeat("x", 99) + "\n"
		spec := f.bash(f.confine(policy), "")
		spec.Argv = []string{"bash", "-s"}
		spec.Stdin = subprocess.Stdin{Mode: subprocess.StdinData,
			Data: strings.NewReader("wc -c <<EOF\n" + strings.Repeat(line, 2000) + "EOF\n")}
		f.expectStdout(f.run(spec), "200000\n")
	})...)
	return append(checks,
		check{name: "the temp is shared by the modes of a session", run: func(f *fixture) {
			f.expectOK(f.sh(f.workspaceWrite(), `echo kept >"$TMPDIR/kept"`))
			f.expectStdout(f.sh(f.readOnly(), `cat "$TMPDIR/kept"`), "kept\n")
		}},
		check{name: "the temp is not shared between sessions", run: func(f *fixture) {
			f.expectOK(f.sh(f.workspaceWrite(), `echo `+secret+` >"$TMPDIR/kept"; echo "$TMPDIR"`))
			first := strings.TrimSpace(f.sh(f.workspaceWrite(), `echo "$TMPDIR"`).Stdout)
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.SessionID = stranger
			f.expectNoSecret(f.sh(f.confine(policy), `cat "$TMPDIR/kept" /tmp/kept "`+first+`/kept"; ls "$TMPDIR" /tmp; true`))
		}},
		check{name: "the temps of policies without a session are not shared", run: func(f *fixture) {
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.SessionID = ""
			f.expectOK(f.sh(f.confine(policy), `echo `+secret+` >"$TMPDIR/kept"`))
			policy.SessionID = stranger
			f.expectNoSecret(f.sh(f.confine(policy), `cat "$TMPDIR/kept" /tmp/kept; true`))
		}},
		check{name: "the temp is not on the host's /tmp", run: func(f *fixture) {
			name := "sandboxtest-" + f.Marker
			f.expectOK(f.sh(f.workspaceWrite(), `echo x >"$TMPDIR/sandboxtest-$marker"`))
			if exists("/tmp/"+name) || exists(os.TempDir()+"/"+name) {
				f.Error("the file is in the host's temporary directory")
			}
		}},
		check{name: "the host's /tmp is not written to", run: func(f *fixture) {
			name := "/tmp/sandboxtest-" + f.Marker
			r := f.sh(f.workspaceWrite(), `echo x >"/tmp/sandboxtest-$marker"`)
			if exists(name) {
				os.Remove(name)
				f.Error("the file is in the host's /tmp")
			}
			if f.tier.namespaces {
				f.expectOK(r)
			}
		}},
		check{name: "files of the host's /tmp are not seen where /tmp is private", run: func(f *fixture) {
			dir := directory(f.T, "/tmp")
			f.write(dir+"/file", secret)
			r := f.sh(f.workspaceWrite(), `cat '`+dir+`/file'; true`)
			if f.tier.namespaces {
				f.expectNoSecret(r)
			}
		}},
		check{name: "/tmp and $TMPDIR are one directory where /tmp is private", run: func(f *fixture) {
			if !f.tier.namespaces {
				f.Skip("skipped: in this tier the temp is $TMPDIR only")
			}
			f.expectStdout(f.sh(f.readOnly(), `echo one >/tmp/x && cat "$TMPDIR/x"`), "one\n")
		}},
		check{name: "/dev/shm is private where /dev is", run: func(f *fixture) {
			if !f.tier.namespaces {
				f.Skip("skipped: in this tier there is no /dev/shm")
			}
			f.expectStdout(f.sh(f.readOnly(), `echo one >/dev/shm/sandboxtest-$marker && cat /dev/shm/sandboxtest-$marker`), "one\n")
			if exists("/dev/shm/sandboxtest-" + f.Marker) {
				f.Error("the file is in the host's /dev/shm")
			}
		}},
		check{name: "a workspace in the host's /tmp is written to", run: func(f *fixture) {
			dir := directory(f.T, "/tmp")
			policy := f.policy(sandbox.WorkspaceWrite)
			policy.WorkspaceRoot = dir
			spec := f.bash(f.confine(policy), `echo hi >new && cat '`+dir+`/new' && echo x >"$TMPDIR/x"`)
			spec.Dir = dir
			f.expectStdout(f.run(spec), "hi\n")
			if !exists(dir + "/new") {
				f.Error("the host does not see the file")
			}
		}},
		check{name: "a workspace in the host's /tmp is read under read-only", run: func(f *fixture) {
			dir := directory(f.T, "/tmp")
			f.write(dir+"/file", "hi\n")
			policy := f.policy(sandbox.ReadOnly)
			policy.WorkspaceRoot = dir
			spec := f.bash(f.confine(policy), `cat file; echo x >new`)
			spec.Dir = dir
			r := f.run(spec)
			if r.Stdout != "hi\n" || exists(dir+"/new") {
				f.Errorf("the command ended with %v", r)
			}
		}},
	)
}
