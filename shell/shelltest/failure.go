package shelltest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/shell"
)

// secret is a value that no error may show.
const secret = "correct horse battery staple"

// broken is a request that can never become a process.
type broken struct {
	name string
	req  shell.Request
	// over is true when the context has ended before.
	over  bool
	code  fault.Code
	parts []string
}

// brokenRequests are the ways in which a command does not start. Each would
// make the file "ran" if it did.
func brokenRequests(t *testing.T) []broken {
	const command = "touch ran"
	dir := tempDir(t)
	file, missing, dangling := dir+"/file", dir+"/missing", dir+"/dangling"
	touch(t, file)
	if err := os.Symlink(missing, dangling); err != nil {
		t.Fatal(err)
	}
	env := func(name, value string) map[string]string { return map[string]string{name: value} }

	return []broken{
		{"a NUL byte in the command", shell.Request{Command: command + "\x00"}, false, fault.InvalidArgument, []string{"NUL"}},
		{"a NUL byte in a long command", shell.Request{Command: command + "\n#" + strings.Repeat("x", 1<<18) + "\x00"}, false, fault.InvalidArgument, []string{"NUL"}},
		{"a NUL byte in an argument", shell.Request{Argv: []string{"touch", "ran", "\x00"}}, false, fault.InvalidArgument, []string{"NUL"}},
		{"a NUL byte in a variable", shell.Request{Command: command, Env: env("A", secret+"\x00")}, false, fault.InvalidArgument, []string{"NUL", "A"}},
		{"a NUL byte in a variable's name", shell.Request{Command: command, Env: env("A\x00", secret)}, false, fault.InvalidArgument, nil},
		{"an equals sign in a variable's name", shell.Request{Command: command, Env: env("A=B", secret)}, false, fault.InvalidArgument, []string{"A=B"}},
		{"a variable without a name", shell.Request{Command: command, Env: env("", secret)}, false, fault.InvalidArgument, nil},
		{"a NUL byte in the workdir", shell.Request{Command: command, Workdir: dir + "\x00"}, false, fault.InvalidArgument, []string{"NUL"}},
		{"an argv without a program", shell.Request{Argv: []string{}}, false, fault.InvalidArgument, []string{"non-empty program name"}},
		{"a program without a name", shell.Request{Argv: []string{"", "ran"}}, false, fault.InvalidArgument, []string{"non-empty program name"}},

		{"a missing workdir", shell.Request{Command: command, Workdir: missing}, false, fault.WorkdirNotFound, []string{missing, "ENOENT"}},
		{"a missing workdir of an argv", shell.Request{Argv: []string{"touch", "ran"}, Workdir: missing}, false, fault.WorkdirNotFound, []string{missing, "ENOENT"}},
		{"a workdir that is a dangling link", shell.Request{Command: command, Workdir: dangling}, false, fault.WorkdirNotFound, []string{dangling, "ENOENT"}},
		{"a workdir that is a file", shell.Request{Command: command, Workdir: file}, false, fault.WorkdirNotDirectory, []string{file, "ENOTDIR"}},
		{"a workdir below a file", shell.Request{Command: command, Workdir: file + "/sub"}, false, fault.WorkdirNotDirectory, []string{file + "/sub", "ENOTDIR"}},

		{"an empty PATH", shell.Request{Command: command, Env: env("PATH", "")}, false, fault.ShellNotFound, []string{"bash"}},
		{"a PATH without a shell", shell.Request{Command: command, Env: env("PATH", dir)}, false, fault.ShellNotFound, []string{"bash"}},
		{"a missing shell for a long command", shell.Request{Command: command + "\n#" + strings.Repeat("x", 1<<18), Env: env("PATH", dir)}, false, fault.ShellNotFound, []string{"bash"}},
		{"a missing program", shell.Request{Argv: []string{"nosuch-program-of-this-suite", "ran"}}, false, fault.SpawnFailed, []string{"nosuch-program-of-this-suite"}},
		{"a program that is no executable file", shell.Request{Argv: []string{file}}, false, fault.SpawnFailed, []string{file}},
		{"an environment beyond the kernel's limit", shell.Request{Command: command, Env: env("BIG", secret+strings.Repeat("x", 1<<18))}, false, fault.SpawnFailed, nil},

		{"a context that has ended", shell.Request{Command: command}, true, fault.Aborted, []string{"aborted before spawn: too late"}},
		{"a context that has ended, and a missing workdir", shell.Request{Command: command, Workdir: missing}, true, fault.Aborted, nil},
		{"a context that has ended, and a missing shell", shell.Request{Command: command, Env: env("PATH", "")}, true, fault.Aborted, nil},
	}
}

var errTooLate = errors.New("too late")

func (b broken) context(t *testing.T) context.Context {
	ctx, cancel := context.WithCancelCause(guard(t))
	if b.over {
		cancel(errTooLate)
	}
	t.Cleanup(func() { cancel(nil) })
	return ctx
}

// failure checks that a command which cannot start is an error in the
// foreground, and a killed process with a note in the background.
func (s suite) failure(t *testing.T) {
	for _, b := range brokenRequests(t) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			r := s.rig(t, Options{})
			t.Run("in the foreground", func(t *testing.T) { r.failsInForeground(t, b) })
			t.Run("in the background", func(t *testing.T) { r.failsInBackground(t, b) })
			if exists(r.path("ran")) {
				t.Error("the command ran")
			}
		})
	}
	t.Run("a context that was cancelled without a reason", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.rig(t, Options{}).try(ctx, shell.Request{Command: "true"})
		wantFault(t, err, fault.Aborted, "aborted")
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("error %q does not wrap the context's", err)
		}
	})
	t.Run("a context past its deadline", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		_, err := s.rig(t, Options{}).try(ctx, shell.Request{Command: "true"})
		wantFault(t, err, fault.Aborted)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %q does not wrap the context's", err)
		}
	})
	t.Run("a failure leaves the executor as it was", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		for range 5 {
			if _, err := r.try(guard(t), shell.Request{Command: "true", Workdir: r.path("missing")}); err == nil {
				t.Fatal("no error")
			}
		}
		wantStdout(t, r.sh(t, "echo ok"), "ok\n")
	})
	t.Run("the shell is the one of the child's PATH", s.shellLookup)
}

func (r *rig) failsInForeground(t *testing.T, b broken) {
	res, err := r.try(b.context(t), b.req)
	if res != nil {
		t.Errorf("there is a result: %+v", res)
	}
	wantFault(t, err, b.code, b.parts...)
	if err == nil {
		return
	}
	if strings.Contains(err.Error(), secret) {
		t.Error("the error shows the value of a variable")
	}
	if b.over && !errors.Is(err, errTooLate) {
		t.Errorf("error %q does not wrap the context's cause", err)
	}
}

func (r *rig) failsInBackground(t *testing.T, b broken) {
	p := r.startIn(t, b.context(t), b.req)
	state := settle(t, p)
	wantState(t, state, shell.Killed, -1, "")
	wantFault(t, state.Failure, b.code, b.parts...)
	if p.Kill() {
		t.Error("Kill is true for a process that never was")
	}
	first, second := p.ReadOutput(), p.ReadOutput()
	if state.Failure == nil {
		return
	}
	if note := "[stderr]\nspawn failed: " + state.Failure.Error(); strings.TrimSuffix(first.Delta, "\n") != note {
		t.Errorf("the first read is %q, want %q", clip(first.Delta), clip(note))
	}
	if strings.Contains(first.Delta, secret) {
		t.Error("the note shows the value of a variable")
	}
	if first.Lossy || second != (shell.ProcessRead{}) {
		t.Errorf("the first read is lossy (%v) or the second is not empty: %+v", first.Lossy, second)
	}
	if again := settle(t, p); again.Status != shell.Killed || again.Failure != state.Failure {
		t.Errorf("the settled state has changed: %+v", again)
	}
}

// shellLookup checks that the shell is found as the child would find it, and
// not in the harness's PATH.
func (s suite) shellLookup(t *testing.T) {
	t.Parallel()
	real, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	r := s.rig(t, Options{})
	for _, dir := range []string{"fake", "notexec", "isdir", "isdir/bash"} {
		if err := os.Mkdir(r.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, r.path("fake/bash"), "#!"+real+"\nprintf '<%s>' \"$@\"\n", 0o755)
	write(t, r.path("notexec/bash"), "#!"+real+"\necho wrong\n", 0o644)
	onPath := func(dirs ...string) shell.Request {
		return shell.Request{Command: "echo found", Env: map[string]string{"PATH": strings.Join(dirs, ":")}}
	}
	realDir := strings.TrimSuffix(real, "/bash")

	res := r.run(t, onPath(r.path("fake"), realDir))
	if out := res.Stdout.Text; !strings.HasPrefix(out, "<-c>") || !strings.HasSuffix(out, "<echo found>") {
		t.Errorf("the first shell on PATH was not run, or with other arguments: %q", out)
	}
	wantStdout(t, r.run(t, onPath(realDir, r.path("fake"))), "found\n")
	wantStdout(t, r.run(t, onPath(r.path("isdir"), r.path("notexec"), r.path("missing"), realDir)), "found\n")
}
