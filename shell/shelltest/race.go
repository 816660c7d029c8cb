package shelltest

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/shell"
)

// race checks what must hold whatever comes first. Each check repeats its race
// with the start of one side moved a little.
func (s suite) race(t *testing.T) {
	t.Run("abort against timeout", s.abortAgainstTimeout)
	t.Run("abort against start and end", s.abortAgainstEnds)
	t.Run("timeout against end", s.timeoutAgainstEnd)
	t.Run("kill against end", s.killAgainstEnd)
	t.Run("kill against kill", s.killAgainstKill)
	t.Run("kill against abort", s.killAgainstAbort)
	t.Run("read against read", s.readAgainstRead)
}

// wantConsistent checks what every result has, however it came about.
func wantConsistent(t *testing.T, res *shell.Result) {
	t.Helper()
	if res.TimedOut && res.Aborted {
		t.Error("both timed out and aborted")
	}
	if (res.ExitCode == nil) == (res.Signal == "") {
		t.Errorf("exit status %v beside signal %q", res.ExitCode, res.Signal)
	}
	if res.Signal != "" && !res.TimedOut && !res.Aborted {
		t.Errorf("died from %s for no reason", res.Signal)
	}
	if res.Survivors != nil {
		t.Errorf("survivors %v", res.Survivors)
	}
}

func (s suite) abortAgainstTimeout(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	id := marker()
	for i := range 20 {
		const timeout = 30 * ms
		ctx, cancel := context.WithCancel(guard(t))
		timer := time.AfterFunc(timeout+time.Duration(i-10)*200*time.Microsecond, cancel)
		res, err := r.try(ctx, shell.Request{Command: "sleep " + id, Timeout: timeout})
		timer.Stop()
		cancel()
		if err != nil { // on a busy machine the abort comes before the start
			wantFault(t, err, fault.Aborted)
			continue
		}
		wantConsistent(t, res)
		if !res.TimedOut && !res.Aborted {
			t.Errorf("neither timed out nor aborted: %+v", res)
		}
		noneLeft(t, id)
	}
}

// abortAgainstEnds moves an abort from before the start to behind the end.
func (s suite) abortAgainstEnds(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	for i := range 30 {
		name := "ran-" + marker()
		ctx, cancel := context.WithCancel(guard(t))
		timer := time.AfterFunc(time.Duration(i)*400*time.Microsecond, cancel)
		res, err := r.try(ctx, shell.Request{Command: "touch " + name})
		timer.Stop()
		cancel()
		switch {
		case err != nil:
			wantFault(t, err, fault.Aborted)
			if exists(r.path(name)) {
				t.Error("the command ran and the run is an error")
			}
		default:
			wantConsistent(t, res)
			if !res.Aborted && (res.ExitCode == nil || *res.ExitCode != 0 || !exists(r.path(name))) {
				t.Errorf("nothing cut it short, and it is %s", outcomeOf(res))
			}
		}
	}
}

func (s suite) timeoutAgainstEnd(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	id := marker()
	for i := range 20 {
		timeout := 25*ms + time.Duration(i)*time.Millisecond
		start := time.Now()
		res := r.run(t, shell.Request{Command: "sleep 0.03; : " + id, Timeout: timeout})
		wantConsistent(t, res)
		if elapsed := time.Since(start); res.TimedOut && elapsed < timeout {
			t.Errorf("timed out after %v of %v", elapsed, timeout)
		}
		noneLeft(t, id)
	}
}

func (s suite) killAgainstEnd(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	for i := range 30 {
		p := r.bg(t, "exit 3")
		if i > 0 {
			<-time.After(time.Duration(i) * 300 * time.Microsecond)
		}
		killed := p.Kill()
		now := p.State().Status
		if killed && now != shell.Killed {
			t.Errorf("Kill is true and the status is %s", now)
		}
		if !killed && now != shell.Completed {
			t.Errorf("Kill is false and the status is %s", now)
		}
		if end := settle(t, p); end.Status != now {
			t.Errorf("the status went from %s to %s", now, end.Status)
		} else if end.ExitCode == nil && end.Signal == "" {
			t.Errorf("the settled state has neither an exit status nor a signal: %+v", end)
		}
	}
}

func (s suite) killAgainstKill(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	for range 10 {
		p := r.bg(t, "sleep "+marker())
		var won atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if p.Kill() {
					won.Add(1)
				}
				p.State()
				p.ReadOutput()
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("Kill was true %d times", won.Load())
		}
		if state := settle(t, p); state.Status != shell.Killed {
			t.Errorf("state %+v", state)
		}
	}
}

func (s suite) killAgainstAbort(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	for range 10 {
		id := marker()
		ctx, cancel := context.WithCancel(guard(t))
		p := r.startIn(t, ctx, shell.Request{Command: "sleep " + id})
		go cancel()
		p.Kill()
		if state := settle(t, p); state.Status != shell.Killed || state.Survivors != nil {
			t.Errorf("state %+v", state)
		}
		if p.Kill() {
			t.Error("Kill is true after the end")
		}
		noneLeft(t, id)
		cancel()
	}
}

// readAgainstRead checks that readers at the same time share the output.
func (s suite) readAgainstRead(t *testing.T) {
	t.Parallel()
	const lines = 20000
	r := s.rig(t, Options{MaxOutputBytes: 1 << 20})
	p := r.bg(t, "seq 1 20000")
	var mu sync.Mutex
	var parts []string
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for last := false; ; {
				read := p.ReadOutput()
				if read.Lossy {
					t.Error("a read is lossy")
				}
				if read.Delta != "" {
					mu.Lock()
					parts = append(parts, read.Delta)
					mu.Unlock()
				} else if last {
					return
				}
				select {
				case <-p.Done():
					last = true
				default:
				}
			}
		})
	}
	all.Wait()
	want, total := numbers(lines), 0
	for _, part := range parts {
		total += len(part)
		if !strings.Contains(want, part) {
			t.Errorf("a part is not of the output: %q", clip(part))
		}
	}
	if total != len(want) {
		t.Errorf("the readers got %d bytes, want %d", total, len(want))
	}
}
