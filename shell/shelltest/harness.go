package shelltest

import (
	"os"
	"slices"
	"testing"

	"hardshell/internal/fault"
	"hardshell/shell"
)

// harness checks what commands take from this process: its directory and its
// environment. The checks change both, so none is parallel.
func (s suite) harness(t *testing.T) {
	t.Run("its directory is the workdir of last resort", func(t *testing.T) {
		dir := tempDir(t)
		t.Chdir(dir)
		r := s.bareRig(t, Options{})
		res := r.sh(t, "pwd; pwd -P")
		wantExit(t, res, 0)
		wantStdout(t, res, dir+"\n"+dir+"\n")
	})
	t.Run("a relative workdir starts there, as the kernel does it", func(t *testing.T) {
		dir := tempDir(t)
		t.Chdir(dir)
		r := s.linkedRigWith(t, Options{Workdir: dir})
		for workdir, want := range map[string]string{
			"real/sub": "real/sub", "lnk": "real/sub", "lnk/..": "real", "./lnk/.": "real/sub",
		} {
			res := r.run(t, shell.Request{Command: "pwd -P", Workdir: workdir})
			wantExit(t, res, 0)
			wantStdout(t, res, dir+"/"+want+"\n")
		}
		_, err := r.try(guard(t), shell.Request{Command: "true", Workdir: "missing"})
		wantFault(t, err, fault.WorkdirNotFound, "missing", "ENOENT")
	})
	t.Run("a relative workdir of the settings starts there", func(t *testing.T) {
		dir := tempDir(t)
		t.Chdir(dir)
		if err := os.Mkdir("sub", 0o755); err != nil {
			t.Fatal(err)
		}
		r := s.bareRig(t, Options{Workdir: "sub", SpillDir: tempDir(t)})
		wantStdout(t, r.sh(t, "pwd -P"), dir+"/sub\n")
	})
	t.Run("a directory that is gone is a clean error", func(t *testing.T) {
		dir := tempDir(t)
		t.Chdir(dir)
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		r := s.bareRig(t, Options{})
		res, err := r.try(guard(t), shell.Request{Command: "echo ran"})
		if err == nil {
			t.Errorf("the run has a result: %+v", res)
		} else if fault.CodeOf(err) == "" {
			t.Errorf("error %q has no code", err)
		}
		if spec, err := r.Resolve(shell.Request{Command: "echo ran"}); err == nil {
			p, err := r.Start(guard(t), spec)
			if err != nil {
				t.Fatalf("Start: %v", err)
			}
			state := settle(t, p)
			wantState(t, state, shell.Killed, -1, "")
			if fault.CodeOf(state.Failure) == "" {
				t.Errorf("failure %v has no code", state.Failure)
			}
		}
		// Whoever names a place is not concerned.
		wantStdout(t, r.run(t, shell.Request{Command: "pwd", Workdir: "/"}), "/\n")
	})
	t.Run("its environment is inherited and never changed", func(t *testing.T) {
		for name, value := range map[string]string{
			"SHELLTEST_PLAIN": "p", "SHELLTEST_TOKEN": "t", "DSH_SHELLTEST": "d", "CDPATH": "/", "TERM": "xterm", "PWD": "/nonexistent-place",
		} {
			t.Setenv(name, value)
		}
		before := os.Environ()
		r := s.rig(t, Options{})
		got := r.environ(t, shell.Request{
			Env:    map[string]string{"HOME": "/elsewhere", "SHELLTEST_NEW": "n"},
			DshEnv: managed(t, map[string]string{"DSH_NEW": "m"}),
		})
		wantVars(t, got, map[string]string{
			"SHELLTEST_PLAIN": "p", "TERM": "dumb", "HOME": "/elsewhere", "SHELLTEST_NEW": "n", "DSH_NEW": "m",
			"PATH": os.Getenv("PATH"), "PWD": r.dir,
		})
		wantNoVars(t, got, []string{"SHELLTEST_TOKEN", "DSH_SHELLTEST", "CDPATH"})
		if !slices.Equal(os.Environ(), before) {
			t.Error("the environment of this process has changed")
		}
	})
}
