package shelltest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"hardshell/shell"
)

// live checks the writers that get a foreground command's output as it comes.
func (s suite) live(t *testing.T) {
	t.Run("gets the bytes while the command runs", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		stdout, stderr := new(tap), new(tap)
		result := r.background(t, guard(t), shell.Request{
			Command: "echo one; " + gate(r.path("1")) + "; echo two >&2; " + gate(r.path("2")) + "; echo three",
			Stdout:  stdout, Stderr: stderr,
		})
		stdout.await(t, "one\n")
		touch(t, r.path("1"))
		stderr.await(t, "two\n")
		touch(t, r.path("2"))
		res := result()
		wantStdout(t, res, "one\nthree\n")
		wantStderr(t, res, "two\n")
		if stdout.String() != "one\nthree\n" || stderr.String() != "two\n" {
			t.Errorf("live output is %q and %q", stdout, stderr)
		}
	})
	t.Run("gets the raw bytes", func(t *testing.T) {
		t.Parallel()
		live := new(tap)
		s.rig(t, Options{}).run(t, shell.Request{Command: `printf 'a\0\xff\xe2\x82'`, Stdout: live})
		if live.String() != "a\x00\xff\xe2\x82" {
			t.Errorf("live output is %q", live)
		}
	})
	t.Run("gets all of them, whatever is kept", func(t *testing.T) {
		t.Parallel()
		live := new(tap)
		r := s.rig(t, Options{MaxOutputBytes: 100, MaxSpillBytes: 1000})
		res := r.run(t, shell.Request{Command: "seq 1 20000", Stdout: live})
		if want := numbers(20000); live.String() != want || res.Stdout.Bytes != int64(len(want)) {
			t.Errorf("live output has %d bytes and the report says %d, want %d", len(live.String()), res.Stdout.Bytes, len(want))
		}
		if !res.Stdout.Truncated {
			t.Error("the capture is not truncated")
		}
	})
	t.Run("may be one for both streams", func(t *testing.T) {
		t.Parallel()
		live := new(tap)
		s.rig(t, Options{}).run(t, shell.Request{Command: "echo out; echo err >&2", Stdout: live, Stderr: live})
		if got := live.String(); got != "out\nerr\n" && got != "err\nout\n" {
			t.Errorf("live output is %q", got)
		}
	})
	t.Run("holds the command back while it blocks", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		held := newHeld()
		result := r.background(t, guard(t), shell.Request{Command: "yes | head -c 1000000; touch done", Stdout: held})
		<-held.entered
		// The pipe holds less than that, so the command cannot have gone on.
		if exists(r.path("done")) {
			t.Error("the command went on although nobody took its output")
		}
		close(held.release)
		res := result()
		wantExit(t, res, 0)
		if !exists(r.path("done")) || res.Stdout.Bytes != 1000000 || held.n != 1000000 {
			t.Errorf("%d bytes were reported and %d written, want 1000000", res.Stdout.Bytes, held.n)
		}
	})
	t.Run("gets the rest when it lags behind the end of the command", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Grace: 20 * ms})
		held, id := newHeld(), marker()
		const rest = 60000 // fits into a pipe
		result := r.background(t, guard(t), shell.Request{
			Command: "echo first; " + gate("go") + fmt.Sprintf("; printf %%0%dd 7; exit 3; : ", rest) + id, Stdout: held,
		})
		<-held.entered
		awaitSome(t, id)
		touch(t, r.path("go"))
		await(t, "the command to end", func() bool { return len(marked(t, id)) == 0 })
		r.sh(t, "sleep 0.1") // longer than the drain window
		close(held.release)
		res := result()
		wantExit(t, res, 3)
		wantStdout(t, res, "first\n"+strings.Repeat("0", rest-1)+"7")
	})
	t.Run("that fails is a reader that has gone", func(t *testing.T) {
		t.Parallel()
		res := s.rig(t, Options{}).run(t, shell.Request{Argv: []string{"yes"}, Stdout: failing{}})
		wantSignal(t, res, "SIGPIPE")
		wantCut(t, res, uncut)
	})
}

// held is a writer that waits for its release.
type held struct {
	entered, release chan struct{}
	n                int
}

func newHeld() *held { return &held{entered: make(chan struct{}, 1), release: make(chan struct{})} }

func (h *held) Write(p []byte) (int, error) {
	select {
	case h.entered <- struct{}{}:
	default:
	}
	<-h.release
	h.n += len(p)
	return len(p), nil
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("this writer always fails") }

// numbers is the output of seq from 1 to n.
func numbers(n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(strconv.Itoa(i + 1))
		text.WriteByte('\n')
	}
	return text.String()
}
