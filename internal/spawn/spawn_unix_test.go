//go:build unix

package spawn

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// run starts a shell script with its output in a pipe, and returns the output
// and the status.
func run(t *testing.T, script string, change func(*Attr)) (string, Status) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	attr := &Attr{
		Path: "/bin/sh", Argv: []string{"sh", "-c", script}, Env: os.Environ(),
		Files: []int{int(r.Fd()), int(w.Fd()), 2},
	}
	if change != nil {
		change(attr)
	}
	child, err := Start(attr)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	output, _ := io.ReadAll(r)
	child.WaitExit()
	return string(output), child.Reap()
}

func TestChildReportsHowItEnded(t *testing.T) {
	t.Parallel()
	cases := []struct {
		script string
		want   Status
	}{
		{"exit 0", Status{Code: 0}},
		{"exit 7", Status{Code: 7}},
		{"kill -TERM $$", Status{Code: -1, Signal: "SIGTERM"}},
		{"kill -KILL $$", Status{Code: -1, Signal: "SIGKILL"}},
	}
	for _, c := range cases {
		_, got := run(t, c.script, nil)
		if got.Code != c.want.Code || got.Signal != c.want.Signal {
			t.Errorf("%s: got %+v, want %+v", c.script, got, c.want)
		}
		if got.MaxRSS <= 0 {
			t.Errorf("%s: no peak memory", c.script)
		}
	}
}

func TestChildLeadsItsSession(t *testing.T) {
	t.Parallel()
	out, _ := run(t, `ps -o pid=,pgid=,sid= -p $$`, nil)
	fields := strings.Fields(out)
	if len(fields) != 3 || fields[0] != fields[1] || fields[1] != fields[2] {
		t.Errorf("pid, group and session are %q", out)
	}
}

func TestDescriptorsWithoutCloseOnExecDoNotReachTheChild(t *testing.T) {
	leaked, err := unix.Open("/dev/null", unix.O_RDONLY, 0) // no O_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leaked)
	out, status := run(t, "if (: <&"+strconv.Itoa(leaked)+") 2>/dev/null; then echo open; else echo closed; fi", nil)
	if out != "closed\n" || status.Code != 0 {
		t.Errorf("descriptor %d is %q in the child (%+v)", leaked, out, status)
	}
}

func TestFailuresNameTheirStage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("not a program"), 0o644); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name      string
		path, dir string
		stage     Stage
		errno     syscall.Errno
	}{
		{"a missing directory", "/bin/sh", filepath.Join(dir, "none"), StageChdir, syscall.ENOENT},
		{"a file as directory", "/bin/sh", file, StageChdir, syscall.ENOTDIR},
		{"a missing program", filepath.Join(dir, "none"), dir, StageExec, syscall.ENOENT},
		{"a file that is not executable", file, "", StageExec, syscall.EACCES},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Start(&Attr{Path: c.path, Argv: []string{"x"}, Dir: c.dir, Files: []int{0, 1, 2}})
			var failed *Error
			if !errors.As(err, &failed) || failed.Stage != c.stage || failed.Errno != c.errno {
				t.Errorf("got %v, want %s %v", err, c.stage, c.errno)
			}
			if !errors.Is(err, c.errno) {
				t.Errorf("%v does not wrap %v", err, c.errno)
			}
		})
	}
}

func TestReapKeepsTheIDUntilThen(t *testing.T) {
	t.Parallel()
	child, err := Start(&Attr{Path: "/bin/sh", Argv: []string{"sh", "-c", "exit 5"}, Files: []int{0, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	child.WaitExit()
	if err := syscall.Kill(child.PID(), 0); err != nil {
		t.Errorf("the id of an unreaped child is free: %v", err)
	}
	if status := child.Reap(); status.Code != 5 {
		t.Errorf("got %+v", status)
	}
	if err := syscall.Kill(child.PID(), 0); err != syscall.ESRCH {
		t.Errorf("the child is still there: %v", err)
	}
}
