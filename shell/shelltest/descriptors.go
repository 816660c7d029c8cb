package shelltest

import (
	"runtime"
	"strings"
	"testing"

	"hardshell/shell"
)

// descriptors checks what a command's descriptors are.
func (s suite) descriptors(t *testing.T) {
	t.Run("the standard ones can be opened by name", func(t *testing.T) {
		t.Parallel()
		// A socket would refuse to be opened, with ENXIO.
		r := s.rig(t, Options{})
		res := r.run(t, shell.Request{
			Command: "cat /dev/stdin; echo out >/dev/stdout; echo err >/dev/stderr; echo both | tee /dev/stderr",
			Stdin:   strings.NewReader("in\n"),
		})
		wantExit(t, res, 0)
		wantStdout(t, res, "in\nout\nboth\n")
		wantStderr(t, res, "err\nboth\n")
	})
	t.Run("the standard ones are pipes", func(t *testing.T) {
		t.Parallel()
		res := s.rig(t, Options{}).run(t, shell.Request{
			Command: "for f in stdin stdout stderr; do test -p /dev/$f || echo $f is none >&2; done",
			Stdin:   strings.NewReader(""),
		})
		wantExit(t, res, 0)
		wantStderr(t, res, "")
	})
	t.Run("there are no others", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" {
			t.Skip("the descriptors are listed in /proc")
		}
		r := s.rig(t, Options{})
		for _, req := range []shell.Request{
			{Command: "ls /proc/self/fd"},
			{Command: padded("ls /proc/self/fd", maxArgBytes)},
			{Argv: []string{"ls", "/proc/self/fd"}},
			{Command: "ls /proc/self/fd", Stdin: strings.NewReader("in")},
		} {
			// The fourth is the directory that ls reads.
			wantStdout(t, r.run(t, req), "0\n1\n2\n3\n")
		}
	})
	t.Run("there is no terminal", func(t *testing.T) {
		t.Parallel()
		res := s.rig(t, Options{}).sh(t, "test -t 0 -o -t 1 -o -t 2 && echo terminal; : </dev/tty")
		if res.ExitCode == nil || *res.ExitCode == 0 {
			t.Errorf("/dev/tty can be opened: exit %v, signal %q", res.ExitCode, res.Signal)
		}
		wantStdout(t, res, "")
	})
	t.Run("no signal is blocked or ignored", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" {
			t.Skip("the masks are read from /proc")
		}
		res := s.rig(t, Options{}).run(t, shell.Request{Argv: []string{"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}})
		wantStdout(t, res, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n")
	})
	t.Run("outputs that are closed early do not end the command", func(t *testing.T) {
		t.Parallel()
		res := s.rig(t, Options{}).sh(t, "echo out; exec 1>&- 2>&-; sleep 1; exit 5")
		wantExit(t, res, 5)
		wantCut(t, res, uncut)
		wantStdout(t, res, "out\n")
		if res.Duration < 900*ms {
			t.Errorf("the command of one second was over after %v", res.Duration)
		}
	})
}
