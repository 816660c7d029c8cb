package shelltest

import (
	"context"
	"strings"
	"testing"
	"time"

	"hardshell/shell"
)

// process checks a background process from its start to its end. What it says
// of its output is in the read checks.
func (s suite) process(t *testing.T) {
	t.Run("starts at once and runs", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		fastest(t, 150*ms, func() time.Duration {
			start := time.Now()
			p := r.bg(t, "sleep "+marker())
			elapsed := time.Since(start)
			wantState(t, p.State(), shell.Running, -1, "")
			select {
			case <-p.Done():
				t.Error("it is done at once")
			default:
			}
			return elapsed
		})
	})
	t.Run("settles once, with its facts", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		for _, c := range []struct {
			script string
			status shell.Status
			code   int
			signal string
		}{
			{"true", shell.Completed, 0, ""},
			{"exit 3", shell.Completed, 3, ""},
			{"nosuch-program-of-this-suite", shell.Completed, 127, ""},
			{"kill -TERM $$", shell.Killed, -1, "SIGTERM"},
			{"kill -KILL $$", shell.Killed, -1, "SIGKILL"},
			{"kill -HUP $$", shell.Killed, -1, "SIGHUP"},
		} {
			p := r.bg(t, c.script)
			state := settle(t, p)
			wantState(t, state, c.status, c.code, c.signal)
			if state.Failure != nil || state.Survivors != nil {
				t.Errorf("state %+v", state)
			}
			if (state.Sandbox != nil) != r.confines() {
				t.Errorf("sandbox facts are %+v, and whether the executor confines is %v", state.Sandbox, r.confines())
			}
			if p.Kill() {
				t.Errorf("Kill is true after the end of %q", c.script)
			}
			wantState(t, p.State(), c.status, c.code, c.signal)
			<-p.Done()
		}
	})
	t.Run("has no timeout", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Timeout: 50 * ms, MaxTimeout: 50 * ms})
		p := r.start(t, shell.Request{Command: "sleep 0.4; echo d", Timeout: 50 * ms})
		wantState(t, settle(t, p), shell.Completed, 0, "")
		if read := p.ReadOutput(); read.Delta != "d\n" {
			t.Errorf("read %q", read.Delta)
		}
	})
	t.Run("has no budget of its own for standard output", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{MaxOutputBytes: 100})
		p := r.start(t, shell.Request{Command: "printf '%0100d' 0", StdoutMaxBytes: 10})
		settle(t, p)
		if read := p.ReadOutput(); read.Lossy || len(read.Delta) != 100 {
			t.Errorf("read %+v, want 100 bytes", read)
		}
	})
	t.Run("kill", s.kill)
	t.Run("ends with its context", s.processAborted)
	t.Run("goes on after the foreground run beside it", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		p := r.bg(t, gate("go")+"; echo out")
		ctx, cancel := context.WithCancel(guard(t))
		r.runIn(t, ctx, shell.Request{Command: "true"})
		cancel()
		r.run(t, shell.Request{Command: "sleep 60", Timeout: 50 * ms})
		touch(t, r.path("go"))
		wantState(t, settle(t, p), shell.Completed, 0, "")
	})
	t.Run("many run at once", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		var all []shell.Process
		for range 30 {
			all = append(all, r.bg(t, gate("go")+"; exit 4"))
		}
		touch(t, r.path("go"))
		for _, p := range all {
			wantState(t, settle(t, p), shell.Completed, 4, "")
		}
	})
}

func (s suite) kill(t *testing.T) {
	t.Run("is true once and ends the process", func(t *testing.T) {
		t.Parallel()
		id := marker()
		p := s.rig(t, Options{}).bg(t, "sleep "+id)
		awaitSleepers(t, id, 1)
		if !p.Kill() {
			t.Error("the first Kill is false")
		}
		if status := p.State().Status; status != shell.Killed {
			t.Errorf("the status after Kill is %s", status)
		}
		if p.Kill() {
			t.Error("the second Kill is true")
		}
		wantState(t, settle(t, p), shell.Killed, -1, "SIGTERM")
		if p.Kill() {
			t.Error("Kill is true after the end")
		}
		noneLeft(t, id)
	})
	t.Run("at once after the start is not lost", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		for range 10 {
			id := marker()
			p := r.bg(t, "sleep "+id)
			if !p.Kill() {
				t.Error("Kill is false")
			}
			if state := settle(t, p); state.Status != shell.Killed {
				t.Errorf("state %+v", state)
			}
			noneLeft(t, id)
		}
	})
	t.Run("becomes SIGKILL when SIGTERM does nothing", func(t *testing.T) {
		t.Parallel()
		p := s.rig(t, Options{}).bg(t, "trap '' TERM; echo armed; sleep "+marker())
		awaitDelta(t, p, "armed\n")
		p.Kill()
		wantState(t, settle(t, p), shell.Killed, -1, "SIGKILL")
	})
	t.Run("of a process that then exits by itself leaves it killed", func(t *testing.T) {
		t.Parallel()
		p := s.rig(t, Options{}).bg(t, `trap "exit 0" TERM; echo a; while :; do sleep .02; done`)
		awaitDelta(t, p, "a\n")
		p.Kill()
		wantState(t, settle(t, p), shell.Killed, 0, "")
	})
	t.Run("reaches a process that is stopped", func(t *testing.T) {
		t.Parallel()
		p := s.rig(t, Options{}).bg(t, "echo armed; kill -STOP $$; sleep "+marker())
		awaitDelta(t, p, "armed\n")
		p.Kill()
		state := settle(t, p)
		if state.Status != shell.Killed || state.ExitCode != nil || state.Signal != "SIGTERM" && state.Signal != "SIGKILL" {
			t.Errorf("state %+v", state)
		}
	})
	t.Run("is true while the output of an ended command is held", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Grace: 3 * time.Second})
		until(t, func() bool {
			id := marker()
			p := r.bg(t, "sleep "+id+" & "+gate("go"+id)+"; exit 0")
			awaitSleepers(t, id, 1)
			leaders := notSleeping(t, id)
			touch(t, r.path("go"+id))
			for _, pid := range leaders {
				await(t, "the command to be reaped", func() bool { return gone(pid) })
			}
			if !p.Kill() {
				t.Log("it had settled before")
				return false
			}
			wantState(t, settle(t, p), shell.Killed, 0, "")
			noneLeft(t, id)
			return true
		})
	})
}

func (s suite) processAborted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		code         int
		signal       string
	}{
		{"by SIGTERM", "echo armed; sleep " + marker(), -1, "SIGTERM"},
		{"by SIGKILL when it resists", "trap '' TERM; echo armed; sleep " + marker(), -1, "SIGKILL"},
		{"killed even when it exits by itself", "trap 'exit 0' TERM; echo armed; while :; do sleep .02; done", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.rig(t, Options{})
			ctx, cancel := context.WithCancel(guard(t))
			defer cancel()
			p := r.startIn(t, ctx, shell.Request{Command: c.script})
			awaitDelta(t, p, "armed\n")
			cancel()
			wantState(t, settle(t, p), shell.Killed, c.code, c.signal)
		})
	}
	t.Run("but not after its own end", func(t *testing.T) {
		r := s.rig(t, Options{})
		ctx, cancel := context.WithCancel(guard(t))
		p := r.startIn(t, ctx, shell.Request{Command: "echo out; exit 3"})
		settle(t, p)
		cancel()
		r.sh(t, "true")
		wantState(t, p.State(), shell.Completed, 3, "")
		if read := p.ReadOutput(); read.Delta != "out\n" {
			t.Errorf("read %q", read.Delta)
		}
	})
}

// awaitDelta reads until a process has produced exactly this text.
func awaitDelta(t *testing.T, p shell.Process, want string) {
	t.Helper()
	var got strings.Builder
	if !within(patience, func() bool {
		got.WriteString(p.ReadOutput().Delta)
		return got.Len() >= len(want)
	}) || got.String() != want {
		t.Fatalf("read %q, want %q", got.String(), want)
	}
}
