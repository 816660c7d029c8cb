package shelltest

import (
	"context"
	"os"
	"testing"

	"hardshell/internal/fault"
	"hardshell/shell"
)

// workdir checks where commands run. Relative places, which depend on the
// directory of this process, are in the harness checks.
func (s suite) workdir(t *testing.T) {
	t.Run("is the request's, then the executor's", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		wantStdout(t, r.sh(t, "pwd"), r.dir+"\n")
		wantStdout(t, r.run(t, shell.Request{Command: "pwd", Workdir: "/"}), "/\n")
		wantStdout(t, r.run(t, shell.Request{Argv: []string{"pwd", "-P"}}), r.dir+"\n")
	})
	t.Run("is entered as the kernel does it", func(t *testing.T) {
		t.Parallel()
		r := s.linkedRig(t)
		for workdir, want := range map[string]string{
			r.path("lnk"):         r.path("real/sub"),
			r.path("lnk") + "/..": r.path("real"),
			r.path("lnk") + "/.":  r.path("real/sub"),
		} {
			wantStdout(t, r.run(t, shell.Request{Command: "pwd -P", Workdir: workdir}), want+"\n")
			wantStdout(t, r.run(t, shell.Request{Argv: []string{"pwd", "-P"}, Workdir: workdir}), want+"\n")
		}
	})
	t.Run("is in PWD, whatever PWD was", func(t *testing.T) {
		t.Parallel()
		dir := tempDir(t)
		link := dir + "/lnk"
		r := s.linkedRigWith(t, Options{Workdir: dir, Ambient: append(os.Environ(), "PWD="+link, "OLDPWD="+link)})
		sub := r.path("real/sub")
		wantStdout(t, r.run(t, shell.Request{Command: "pwd; echo $PWD", Workdir: sub}), sub+"\n"+sub+"\n")
		wantStdout(t, r.run(t, shell.Request{Argv: []string{"printenv", "PWD"}, Workdir: sub}), sub+"\n")
		wantStdout(t, r.run(t, shell.Request{Argv: []string{"printenv", "PWD"}, Workdir: link}), link+"\n")
		wantStdout(t, r.run(t, shell.Request{Argv: []string{"printenv", "PWD"}}), r.dir+"\n")
	})
	t.Run("may go while the command runs", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		sub := r.path("sub")
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		live := new(tap)
		result := r.background(t, guard(t), shell.Request{
			Command: "echo up; " + gate(r.path("go")) + "; /bin/pwd; echo rc=$?", Workdir: sub, Stdout: live,
		})
		live.await(t, "up\n")
		if err := os.Remove(sub); err != nil {
			t.Fatal(err)
		}
		touch(t, r.path("go"))
		res := result()
		wantExit(t, res, 0)
		wantStdout(t, res, "up\nrc=1\n")
	})
	t.Run("may be one that the user cannot enter", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() == 0 {
			t.Skip("root enters every directory")
		}
		r := s.rig(t, Options{})
		closed := r.path("closed")
		if err := os.Mkdir(closed, 0); err != nil {
			t.Fatal(err)
		}
		_, err := r.try(guard(t), shell.Request{Command: "true", Workdir: closed})
		wantFault(t, err, fault.SpawnFailed, closed, "EACCES")
	})
}

// linkedRig has the directories real/sub and a link lnk to the latter.
func (s suite) linkedRig(t *testing.T) *rig {
	t.Helper()
	return s.linkedRigWith(t, Options{Workdir: tempDir(t)})
}

func (s suite) linkedRigWith(t *testing.T, o Options) *rig {
	t.Helper()
	if err := os.MkdirAll(o.Workdir+"/real/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real/sub", o.Workdir+"/lnk"); err != nil {
		t.Fatal(err)
	}
	return s.rig(t, o)
}

// background runs a request in a goroutine; the function that it returns waits
// for the result.
func (r *rig) background(t *testing.T, ctx context.Context, req shell.Request) (result func() *shell.Result) {
	t.Helper()
	type answer struct {
		res *shell.Result
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		res, err := r.try(ctx, req)
		answers <- answer{res, err}
	}()
	return func() *shell.Result {
		t.Helper()
		a := <-answers
		if a.err != nil {
			t.Fatalf("Run(%s): %v", describe(req), a.err)
		}
		return a.res
	}
}
