package shelltest

import (
	"strings"
	"testing"

	"hardshell/internal/fault"
	"hardshell/shell"
)

// argv checks commands that no shell reads.
func (s suite) argv(t *testing.T) {
	t.Run("every argument arrives as it is", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		touch(t, r.path("match"))
		args := []string{"$HOME", "", "*", "a b", "-c", "--", "'\"\\", "line\nline\n", "`id`", "$(id)", "~", "a;b|c&d", "\xff", "€"}
		res := r.run(t, shell.Request{Argv: append([]string{"printf", `%s\0`}, args...)})
		wantExit(t, res, 0)
		if got, want := res.Stdout.Text, strings.ReplaceAll(strings.Join(args, "\x00")+"\x00", "\xff", "\uFFFD"); got != want {
			t.Errorf("the arguments are %q, want %q", got, want)
		}
	})
	t.Run("it needs no shell", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		write(t, r.path("prog"), "#!/bin/sh\necho \"$0 $1\"\n", 0o755)
		res := r.run(t, shell.Request{Argv: []string{"prog", "x"}, Env: map[string]string{"PATH": r.dir}})
		wantExit(t, res, 0)
		wantStdout(t, res, r.path("prog")+" x\n")
	})
	t.Run("a relative program is taken from the workdir", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		write(t, r.path("prog"), "#!/bin/sh\nexit 9\n", 0o755)
		wantExit(t, r.run(t, shell.Request{Argv: []string{"./prog"}}), 9)
		_, err := r.try(guard(t), shell.Request{Argv: []string{"./prog"}, Workdir: "/"})
		wantFault(t, err, fault.SpawnFailed, "./prog")
	})
	t.Run("it ends as a command does", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		wantExit(t, r.run(t, shell.Request{Argv: []string{"sh", "-c", "exit 7"}}), 7)
		wantSignal(t, r.run(t, shell.Request{Argv: []string{"sh", "-c", "kill -TERM $$"}}), "SIGTERM")

		id := marker()
		res := r.run(t, shell.Request{Argv: []string{"sleep", id}, Timeout: 100 * ms})
		wantSignal(t, res, "SIGTERM")
		wantCut(t, res, timedOut)
		noneLeft(t, id)
	})
	t.Run("it has the streams and the environment of a command", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		live := new(tap)
		res := r.run(t, shell.Request{Argv: []string{"cat"}, Stdin: strings.NewReader("in\n"), Stdout: live})
		wantStdout(t, res, "in\n")
		if live.String() != "in\n" {
			t.Errorf("the live output is %q", live)
		}
		wantStdout(t, r.run(t, shell.Request{Argv: []string{"cat"}}), "")
		res = r.run(t, shell.Request{
			Argv: []string{"printenv", "TERM", "A", "DSH_B"},
			Env:  map[string]string{"A": "x"}, DshEnv: managed(t, map[string]string{"DSH_B": "y"}),
		})
		wantStdout(t, res, "dumb\nx\ny\n")
	})
	t.Run("it runs in the background", func(t *testing.T) {
		t.Parallel()
		p := s.rig(t, Options{}).start(t, shell.Request{Argv: []string{"printf", "%s", "$HOME"}})
		wantState(t, settle(t, p), shell.Completed, 0, "")
		if read := p.ReadOutput(); read.Delta != "$HOME" {
			t.Errorf("read %q", read.Delta)
		}
	})
	t.Run("an argument beyond the kernel's limit is an error", func(t *testing.T) {
		t.Parallel()
		_, err := s.rig(t, Options{}).try(guard(t), shell.Request{Argv: []string{"echo", strings.Repeat("x", 1<<18)}})
		wantFault(t, err, fault.SpawnFailed)
	})
}
