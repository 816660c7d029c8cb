package shelltest

import (
	"context"
	"slices"
	"testing"
	"time"

	"hardshell/shell"
)

// drainWindow is how long the streams of a command that has ended are read on,
// at most, while others hold them; less when the grace is less.
const drainWindow = 500 * ms

// drain checks the time between the end of a command and the end of its
// output.
func (s suite) drain(t *testing.T) {
	t.Run("a background child that holds the output is not waited for", s.heldOutput)
	t.Run("a background child that holds nothing costs nothing", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Grace: 3 * time.Second})
		id := marker()
		fastest(t, 200*ms, func() time.Duration {
			start := time.Now()
			res := r.sh(t, "nohup sleep "+id+" >/dev/null 2>&1 & echo hi")
			elapsed := time.Since(start)
			wantExit(t, res, 0)
			wantCut(t, res, uncut)
			wantStdout(t, res, "hi\n")
			awaitSome(t, id)
			return elapsed
		})
		if err := r.runtime.Close(guard(t)); err != nil {
			t.Error(err)
		}
		noneLeft(t, id)
	})
	t.Run("a background child may write on", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		res := r.sh(t, "(for i in 1 2 3 4 5; do sleep 0.2; echo x; echo y >&2; done; touch done)& echo hi")
		wantExit(t, res, 0)
		wantCut(t, res, uncut)
		if exists(r.path("done")) {
			t.Fatal("the run waited for the child")
		}
		await(t, "the child to get to its end", func() bool { return exists(r.path("done")) })
	})
	t.Run("a background child may write much", func(t *testing.T) {
		t.Parallel()
		// More than a pipe holds: somebody must go on reading.
		r := s.rig(t, Options{})
		res := r.sh(t, "("+gate("go")+"; head -c 1000000 /dev/zero && touch done)& echo hi")
		wantStdout(t, res, "hi\n")
		touch(t, r.path("go"))
		await(t, "the child to get to its end", func() bool { return exists(r.path("done")) })
		wantStdout(t, res, "hi\n")
	})
	t.Run("a timeout within it is none", s.timeoutInDrain)
	t.Run("an abort within it is none", s.abortInDrain)
}

func (s suite) heldOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		grace, window time.Duration
	}{
		{"longer than a short grace", 100 * ms, 100 * ms},
		{"longer than a grace", 300 * ms, 300 * ms},
		{"longer than half a second", 3 * time.Second, drainWindow},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.rig(t, Options{Grace: c.grace})
			id := marker()
			fastest(t, c.window+slack, func() time.Duration {
				start := time.Now()
				res := r.sh(t, "sleep "+id+" & echo hi")
				elapsed := time.Since(start)
				wantExit(t, res, 0)
				wantCut(t, res, uncut)
				wantStdout(t, res, "hi\n")
				if elapsed < c.window {
					t.Errorf("the output was read for less than %v: %v", c.window, elapsed)
				}
				return elapsed
			})
			if sleepers(t, id) == 0 {
				t.Error("the child did not survive the end of the command")
			}
		})
	}
}

// timeoutInDrain lets the deadline pass after the end of the command, while its
// output is still held.
func (s suite) timeoutInDrain(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{Grace: 3 * time.Second})
	const timeout = 400 * ms
	until(t, func() bool {
		id := marker()
		start := time.Now()
		res := r.run(t, shell.Request{Command: "sleep " + id + " & echo hi", Timeout: timeout})
		elapsed := time.Since(start)
		if res.Duration > timeout/2 || elapsed < timeout {
			t.Logf("the command took %v of %v", res.Duration, elapsed)
			return false
		}
		wantExit(t, res, 0)
		wantCut(t, res, uncut)
		wantStdout(t, res, "hi\n")
		if sleepers(t, id) != 1 {
			t.Error("the background child did not survive")
		}
		return true
	})
}

// abortInDrain ends the context when the command was reaped, while its output
// is still held.
func (s suite) abortInDrain(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{Grace: 3 * time.Second})
	id := marker()
	ctx, cancel := context.WithCancel(guard(t))
	defer cancel()
	result := r.background(t, ctx, shell.Request{Command: "sleep " + id + " & " + gate("go") + "; echo hi"})
	awaitSleepers(t, id, 1)
	leaders := notSleeping(t, id)
	touch(t, r.path("go"))
	await(t, "the command to be reaped", func() bool {
		return !slices.ContainsFunc(leaders, func(pid int) bool { return !gone(pid) })
	})
	// The executor notes the end a moment after the kernel: another command is
	// longer than that moment.
	r.sh(t, "true")
	cancel()
	res := result()
	wantExit(t, res, 0)
	wantCut(t, res, uncut)
	wantStdout(t, res, "hi\n")
	if sleepers(t, id) != 1 {
		t.Error("the background child did not survive")
	}
}

// notSleeping lists the marked processes that are not just "sleep MARKER".
func notSleeping(t *testing.T, marker string) []int {
	t.Helper()
	var pids []int
	for _, p := range marked(t, marker) {
		if len(p.argv) != 2 || p.argv[1] != marker {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// awaitSome waits until there is a marked process.
func awaitSome(t *testing.T, marker string) {
	t.Helper()
	await(t, "a process marked "+marker, func() bool { return len(marked(t, marker)) > 0 })
}
