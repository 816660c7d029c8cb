package shelltest

import (
	"context"
	"reflect"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/shell"
)

// timeout checks which cause is named when a command is cut short. The first
// one is, whatever happens after it.
func (s suite) timeout(t *testing.T) {
	t.Run("a timeout is not an abort", func(t *testing.T) {
		t.Parallel()
		id := marker()
		r, start := s.rig(t, Options{}), time.Now()
		res := r.run(t, shell.Request{Command: "echo before; sleep " + id, Timeout: 100 * ms})
		wantSignal(t, res, "SIGTERM")
		wantCut(t, res, timedOut)
		if elapsed := time.Since(start); res.Timeout != 100*ms || elapsed < 100*ms {
			t.Errorf("the timeout is %v, over after %v; want 100 ms and at least that", res.Timeout, elapsed)
		}
		noneLeft(t, id)
	})
	t.Run("the default timeout is one", func(t *testing.T) {
		t.Parallel()
		res := s.rig(t, Options{Timeout: 100 * ms}).sh(t, "sleep "+marker())
		wantSignal(t, res, "SIGTERM")
		wantCut(t, res, timedOut)
	})
	t.Run("a timeout that passes at once is still no error", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		id := marker()
		for range 10 {
			wantCut(t, r.run(t, shell.Request{Command: "sleep " + id, Timeout: 1}), timedOut)
			noneLeft(t, id)
		}
	})
	t.Run("an abort is not a timeout", func(t *testing.T) {
		t.Parallel()
		id := marker()
		res := s.rig(t, Options{}).runAborted(t, shell.Request{Command: "echo armed; sleep " + id})
		wantSignal(t, res, "SIGTERM")
		wantCut(t, res, aborted)
		wantStdout(t, res, "armed\n")
		noneLeft(t, id)
	})
	t.Run("a deadline of the caller's is an abort", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		until(t, func() bool {
			ctx, cancel := context.WithTimeout(guard(t), 100*ms)
			defer cancel()
			res, err := r.try(ctx, shell.Request{Command: "sleep " + marker(), Timeout: time.Minute})
			if err != nil {
				wantFault(t, err, fault.Aborted)
				t.Log("the deadline passed before the start")
				return false
			}
			wantSignal(t, res, "SIGTERM")
			wantCut(t, res, aborted)
			return true
		})
	})
	t.Run("a signal of the command's own is neither", func(t *testing.T) {
		t.Parallel()
		res := s.rig(t, Options{}).sh(t, "kill -TERM $$")
		wantSignal(t, res, "SIGTERM")
		wantCut(t, res, uncut)
	})
	t.Run("a command can time out and exit with zero", s.timeoutAndExit)
	t.Run("an abort stays one when the timeout passes in the grace", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Grace: 600 * ms})
		until(t, func() bool {
			start := time.Now()
			res := r.runAborted(t, shell.Request{Command: "trap '' TERM; echo armed; sleep " + marker(), Timeout: 400 * ms})
			if res.TimedOut {
				t.Log("it was not armed before the timeout")
				return false
			}
			wantSignal(t, res, "SIGKILL")
			wantCut(t, res, aborted)
			if elapsed := time.Since(start); elapsed < 600*ms {
				t.Errorf("killed after %v, before the grace of 600 ms", elapsed)
			}
			return true
		})
	})
	t.Run("a timeout stays one when the caller aborts in the grace", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		until(t, func() bool {
			ctx, cancel := context.WithCancel(guard(t))
			defer cancel()
			live := new(tap)
			result := r.background(t, ctx, shell.Request{
				Command: "trap 'echo term' TERM; echo armed; while :; do sleep 0.01; done", Timeout: 200 * ms, Stdout: live,
			})
			within(2*time.Second, func() bool { return live.String() == "armed\nterm\n" })
			cancel()
			res := result()
			if res.Stdout.Text != "armed\nterm\n" {
				t.Logf("it was not armed before the timeout: %q", res.Stdout.Text)
				return false
			}
			wantSignal(t, res, "SIGKILL")
			wantCut(t, res, timedOut)
			return true
		})
	})
	t.Run("what happens after the end changes nothing", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		ctx, cancel := context.WithCancel(guard(t))
		res := r.runIn(t, ctx, shell.Request{Command: "echo out; exit 3", Timeout: 2 * time.Second})
		was := *res
		cancel()
		wantExit(t, r.sh(t, "sleep 0.1"), 0)
		if !reflect.DeepEqual(*res, was) {
			t.Errorf("the result has become %+v", *res)
		}
	})
	t.Run("what resists is killed after the grace", s.immune)
}

// runAborted runs a request and aborts it when the command has written "armed".
func (r *rig) runAborted(t *testing.T, req shell.Request) *shell.Result {
	t.Helper()
	ctx, cancel := context.WithCancel(guard(t))
	defer cancel()
	live := new(tap)
	req.Stdout = live
	result := r.background(t, ctx, req)
	live.await(t, "armed\n")
	cancel()
	return result()
}

func (s suite) timeoutAndExit(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	for _, c := range []struct {
		name, script string
		timeout      time.Duration
	}{
		{"while its child is waited for", `trap "exit 0" TERM; echo a; sleep ` + marker(), 200 * ms},
		{"out of a loop", `trap "exit 0" TERM; echo a; while :; do sleep .05; done`, 300 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			until(t, func() bool {
				res := r.run(t, shell.Request{Command: c.script, Timeout: c.timeout})
				if res.Stdout.Text == "" {
					t.Log("it was not armed before the timeout")
					return false
				}
				wantExit(t, res, 0)
				wantCut(t, res, timedOut)
				wantStdout(t, res, "a\n")
				return true
			})
		})
	}
	t.Run("and an aborted one with another status", func(t *testing.T) {
		res := r.runAborted(t, shell.Request{Command: `trap "exit 5" TERM; echo armed; while :; do sleep .02; done`})
		wantExit(t, res, 5)
		wantCut(t, res, aborted)
	})
}

func (s suite) immune(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	id := marker()
	until(t, func() bool {
		start := time.Now()
		res := r.run(t, shell.Request{
			Command: "trap '' TERM; (trap '' TERM; sleep " + id + ")& echo armed; sleep " + id,
			Timeout: 200 * ms,
		})
		elapsed := time.Since(start)
		noneLeft(t, id)
		wantCut(t, res, timedOut)
		if elapsed < 200*ms {
			t.Errorf("over after %v, before the timeout", elapsed)
		}
		if res.Stdout.Text == "" || elapsed > 700*ms+slack {
			t.Logf("took %v, stdout %q", elapsed, res.Stdout.Text)
			return false
		}
		wantSignal(t, res, "SIGKILL")
		if elapsed < 500*ms {
			t.Errorf("killed after %v, before timeout and grace have passed", elapsed)
		}
		return true
	})
}
