package shelltest

import (
	"io"
	"strings"
	"testing"
	"time"

	"hardshell/shell"
)

// stdin checks what a command reads.
func (s suite) stdin(t *testing.T) {
	t.Run("without one a command sees the end at once", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		res := r.sh(t, "cat; test -c /dev/stdin && echo device || echo pipe")
		wantExit(t, res, 0)
		wantStdout(t, res, "device\n")
	})
	t.Run("is written and then closed", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		wantStdout(t, r.run(t, shell.Request{Command: "cat", Stdin: strings.NewReader("a\n")}), "a\n")
		wantStdout(t, r.run(t, shell.Request{Command: "read x; read y; echo $x-$y-$?", Stdin: strings.NewReader("a\nb")}), "a-b-1\n")
	})
	t.Run("an empty one is a pipe at its end", func(t *testing.T) {
		t.Parallel()
		res := s.rig(t, Options{}).run(t, shell.Request{Command: "cat; test -p /dev/stdin && echo pipe || echo other", Stdin: strings.NewReader("")})
		wantStdout(t, res, "pipe\n")
	})
	t.Run("more than a pipe holds goes through", func(t *testing.T) {
		t.Parallel()
		input := strings.Repeat("0123456789abcde\n", 1<<18)
		r := s.rig(t, Options{MaxOutputBytes: 8 << 20})
		res := r.run(t, shell.Request{Command: "cat", Stdin: strings.NewReader(input)})
		wantExit(t, res, 0)
		wantStdout(t, res, input)
	})
	t.Run("arrives while the command runs", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		in, feed := io.Pipe()
		live := new(tap)
		result := r.background(t, guard(t), shell.Request{Command: "cat; echo end", Stdin: in, Stdout: live})
		for _, line := range []string{"one\n", "two\n"} {
			if _, err := io.WriteString(feed, line); err != nil {
				t.Fatal(err)
			}
			live.await(t, line)
		}
		feed.Close()
		wantStdout(t, result(), "one\ntwo\nend\n")
	})
	t.Run("may be ignored", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		for _, script := range []string{"exit 7", "exec 0<&-; exit 7", "head -c 10 >/dev/null; exit 7"} {
			res := r.run(t, shell.Request{Command: script, Stdin: strings.NewReader(strings.Repeat("x", 4<<20))})
			wantExit(t, res, 7)
			wantCut(t, res, uncut)
		}
	})
	t.Run("is no reason to wait when nobody reads it", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		input := strings.Repeat("x", 4<<20)
		fastest(t, 500*ms+slack, func() time.Duration {
			start := time.Now()
			res := r.run(t, shell.Request{Command: "sleep 0.5; exit 3", Stdin: strings.NewReader(input)})
			wantExit(t, res, 3)
			return time.Since(start)
		})
		res := r.run(t, shell.Request{Command: "exec 0<&-; sleep 0.2; echo ok", Stdin: strings.NewReader(input)})
		wantStdout(t, res, "ok\n")
	})
	t.Run("held by a background process is no reason to wait", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		id := marker()
		fastest(t, 300*ms+slack, func() time.Duration {
			start := time.Now()
			res := r.run(t, shell.Request{Command: "sleep " + id + " <&0 & exit 3", Stdin: strings.NewReader(strings.Repeat("x", 4<<20))})
			wantExit(t, res, 3)
			wantCut(t, res, uncut)
			return time.Since(start)
		})
	})
	t.Run("that never comes is no reason to wait", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		in, feed := io.Pipe()
		defer feed.Close()
		wantExit(t, r.run(t, shell.Request{Command: "exit 3", Stdin: in}), 3)

		in, feed = io.Pipe()
		defer feed.Close()
		res := r.run(t, shell.Request{Command: "cat", Stdin: in, Timeout: 100 * ms})
		wantSignal(t, res, "SIGTERM")
		wantCut(t, res, timedOut)
	})
	t.Run("ends with the command, for whoever reads on", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		in, feed := io.Pipe()
		defer feed.Close()
		res := r.run(t, shell.Request{Command: "(" + gate("go") + "; cat; touch done) <&0 >/dev/null 2>&1 & exit 3", Stdin: in})
		wantExit(t, res, 3)
		touch(t, r.path("go"))
		await(t, "the background process to see the end", func() bool { return exists(r.path("done")) })
	})
	t.Run("reaches a background process", func(t *testing.T) {
		t.Parallel()
		p := s.rig(t, Options{}).start(t, shell.Request{Command: "cat", Stdin: strings.NewReader("in\n")})
		wantState(t, settle(t, p), shell.Completed, 0, "")
		if read := p.ReadOutput(); read.Delta != "in\n" {
			t.Errorf("read %q", read.Delta)
		}
	})
}
