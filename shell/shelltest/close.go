package shelltest

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"hardshell/shell"
)

// close checks what becomes of commands when their runtime is closed.
func (s suite) close(t *testing.T) {
	t.Run("every live process is killed and joined, a finished one is left alone", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		plain, immune := marker(), marker()
		finished := r.bg(t, "echo out; exit 3")
		settle(t, finished)
		sleeping := r.bg(t, "sleep "+plain+" & wait")
		resisting := r.bg(t, "trap '' TERM; echo out; sleep "+immune)
		awaitSleepers(t, plain, 1)
		awaitSleepers(t, immune, 1)

		if err := r.runtime.Close(guard(t)); err != nil {
			t.Errorf("closing: %v", err)
		}
		noneLeft(t, plain)
		noneLeft(t, immune)
		wantState(t, settle(t, finished), shell.Completed, 3, "")
		wantState(t, settle(t, sleeping), shell.Killed, -1, "SIGTERM")
		wantState(t, settle(t, resisting), shell.Killed, -1, "SIGKILL")
		for name, p := range map[string]shell.Process{"finished": finished, "resisting": resisting} {
			if read := p.ReadOutput(); read.Delta != "out\n" {
				t.Errorf("the output of the %s process has become %q", name, read.Delta)
			}
			if p.Kill() {
				t.Errorf("Kill of the %s process is true after the end", name)
			}
		}
	})
	t.Run("what a finished command left running ends too", s.closeLeftovers)
	t.Run("daemons that left at once end too", s.closeDaemons)
	t.Run("a foreground run returns", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		id := marker()
		result := r.background(t, guard(t), shell.Request{Command: "sleep " + id})
		awaitSleepers(t, id, 1)
		if err := r.runtime.Close(guard(t)); err != nil {
			t.Errorf("closing: %v", err)
		}
		noneLeft(t, id)
		// Neither the caller nor the clock has ended it.
		res := result()
		wantSignal(t, res, "SIGTERM")
		wantCut(t, res, uncut)
	})
	t.Run("nothing starts afterwards", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		for range 2 {
			if err := r.runtime.Close(guard(t)); err != nil {
				t.Errorf("closing: %v", err)
			}
		}
		if res, err := r.try(guard(t), shell.Request{Command: "touch ran"}); err == nil {
			t.Errorf("a command ran after the end: %+v", res)
		}
		state := settle(t, r.bg(t, "touch ran"))
		wantState(t, state, shell.Killed, -1, "")
		if state.Failure == nil {
			t.Error("the process has no failure")
		}
		if exists(r.path("ran")) {
			t.Error("a command ran after the end")
		}
	})
	t.Run("commands that start meanwhile are not forgotten", func(t *testing.T) {
		t.Parallel()
		for range 5 {
			r := s.rig(t, Options{})
			id := marker()
			ctx, cancel := context.WithCancel(guard(t))
			started := make(chan shell.Process, 64)
			go func() {
				defer close(started)
				for range cap(started) {
					spec, err := r.Resolve(shell.Request{Command: "sleep " + id})
					if err != nil {
						return
					}
					p, err := r.Start(ctx, spec)
					if err != nil {
						return
					}
					started <- p
				}
			}()
			first := <-started
			if err := r.runtime.Close(guard(t)); err != nil {
				t.Errorf("closing: %v", err)
			}
			noneLeft(t, id)
			settle(t, first)
			for p := range started {
				if state := settle(t, p); state.Status != shell.Killed {
					t.Errorf("state %+v", state)
				}
			}
			noneLeft(t, id)
			cancel()
		}
	})
	t.Run("an impatient one cuts the grace short", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Grace: time.Hour})
		id := marker()
		r.bg(t, "trap '' TERM; sleep "+id)
		awaitSleepers(t, id, 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.runtime.Close(ctx); err != nil {
			t.Errorf("closing: %v", err)
		}
		await(t, "the process to end", func() bool { return len(marked(t, id)) == 0 })
	})
}

// closeLeftovers closes the runtime of a command that is over, of which a
// helper lives on to which no pipe leads.
func (s suite) closeLeftovers(t *testing.T) {
	t.Parallel()
	for name, helper := range map[string]string{
		"a plain one":            `sleep SECONDS`,
		"one that resists":       `bash -c 'trap "" TERM; sleep SECONDS'`,
		"one in its own session": `setsid sleep SECONDS`,
		"a daemon":               `setsid setsid -f sleep SECONDS`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("setsid"); err != nil && strings.HasPrefix(helper, "setsid") {
				t.Skip(err)
			}
			r := s.rig(t, Options{})
			id := marker()
			res := r.sh(t, strings.ReplaceAll(helper, "SECONDS", id)+" >/dev/null 2>&1 & exit 0")
			wantExit(t, res, 0)
			wantCut(t, res, uncut)
			if res.Duration > 300*ms+slack {
				t.Errorf("the run took %v", res.Duration)
			}
			awaitSleepers(t, id, 1)
			if err := r.runtime.Close(guard(t)); err != nil {
				t.Errorf("closing: %v", err)
			}
			noneLeft(t, id)
		})
	}
}

// closeDaemons closes the runtime of commands that left at once for sessions of
// their own.
func (s suite) closeDaemons(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	const daemons = 20
	r := s.rig(t, Options{Grace: 50 * ms})
	id := marker()
	for range daemons {
		wantExit(t, r.run(t, shell.Request{Argv: []string{"setsid", "-f", "sleep", id}}), 0)
	}
	awaitSleepers(t, id, daemons)
	if err := r.runtime.Close(guard(t)); err != nil {
		t.Errorf("closing: %v", err)
	}
	noneLeft(t, id)
}
