package jobs_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hardshell/jobs"
	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/subprocess"
)

// command is a shell.Process that a test writes to.
type command struct {
	mu    sync.Mutex
	read  shell.ProcessRead
	state shell.ProcessState
	kills int
	done  chan struct{}
}

func newCommand() *command {
	return &command{done: make(chan struct{}), state: shell.ProcessState{Status: shell.Running}}
}

func (c *command) print(delta string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.Delta += delta
}

func (c *command) settle(state shell.ProcessState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
	close(c.done)
}

func (c *command) State() shell.ProcessState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *command) Done() <-chan struct{} { return c.done }

func (c *command) Kill() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kills++
	return c.kills == 1
}

func (c *command) ReadOutput() shell.ProcessRead {
	c.mu.Lock()
	defer c.mu.Unlock()
	read := c.read
	c.read.Delta, c.read.Lossy = "", false
	return read
}

func read(t *testing.T, p jobs.Producer, want string) {
	t.Helper()
	if got, err := p.(jobs.Streaming).ReadOutput(); err != nil || got != want {
		t.Errorf("read %q, %v; want %q", got, err, want)
	}
}

func TestTheNotesOfACommandAreReadOnce(t *testing.T) {
	t.Parallel()
	c := newCommand()
	p := jobs.NewProcess(c, jobs.ProcessOptions{Escalation: true})
	c.print("a")
	read(t, p, "a")
	c.print("b")
	c.settle(shell.ProcessState{
		Status: shell.Completed, ExitCode: new(1), Usage: &subprocess.Usage{User: time.Second},
		Sandbox: &sandbox.Info{Mode: sandbox.ReadOnly, Denied: true},
	})
	read(t, p, "b\n"+sandbox.DenialMarker(sandbox.ReadOnly)+"\n"+sandbox.EscalationHint)
	read(t, p, "")
	if o := p.Outcome(); o.Status != jobs.Completed || o.Detail != "exit code: 1" || o.Usage == nil || o.Usage.User != time.Second {
		t.Errorf("the outcome is %+v", o)
	}
}

func TestACommandSaysThatOutputWasLost(t *testing.T) {
	t.Parallel()
	c := newCommand()
	p := jobs.NewProcess(c, jobs.ProcessOptions{})
	c.print("tail")
	c.read.Lossy, c.read.StdoutSpillPath, c.read.StderrSpillPath = true, "/spill/out", "/spill/err"
	read(t, p, "tail\n[some output was dropped from memory; full output: /spill/out, /spill/err]")
	c.print("more\n")
	read(t, p, "more\n")
	c.read.Lossy, c.read.StdoutSpillPath, c.read.StderrSpillPath = true, "", ""
	read(t, p, "[some output was dropped from memory; full output: (unavailable)]")
}

func TestACommandIsKilledAsOftenAsAsked(t *testing.T) {
	t.Parallel()
	c := newCommand()
	p := jobs.NewProcess(c, jobs.ProcessOptions{})
	if p.Cancel("once") != nil || p.Cancel("twice") != nil || c.kills != 2 {
		t.Errorf("it was killed %d times", c.kills)
	}
}

func TestLookingAtACommandConsumesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCommand()
		p := jobs.NewProcess(c, jobs.ProcessOptions{}).(jobs.Streaming)
		c.print("a")
		go func() {
			time.Sleep(time.Second)
			c.print("[stderr]\nb")
			time.Sleep(time.Second)
			c.print("c")
			c.settle(shell.ProcessState{Status: shell.Completed})
		}()
		var looks []string
		for range 2 {
			if err := p.Unread(t.Context(), func(text string) bool {
				looks = append(looks, text)
				return strings.HasSuffix(text, "b")
			}); err != nil {
				t.Error(err)
			}
		}
		<-c.done
		if err := p.Unread(t.Context(), func(text string) bool { looks = append(looks, text); return false }); err != nil {
			t.Error(err)
		}
		if got, want := strings.Join(looks, "|"), "a|a\n[stderr]\nb|a\n[stderr]\nb|a\n[stderr]\nbc"; got != want {
			t.Errorf("it looked at %q, want %q", got, want)
		}
		if text, _ := p.ReadOutput(); text != "a\n[stderr]\nbc" {
			t.Errorf("read %q", text)
		}
	})
}

func TestWhatIsHeldForAReaderIsBounded(t *testing.T) {
	t.Parallel()
	c := newCommand()
	p := jobs.NewProcess(c, jobs.ProcessOptions{}).(jobs.Streaming)
	for range 5 {
		c.print(strings.Repeat("é", 200_000))
		if err := p.Unread(t.Context(), func(string) bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := p.ReadOutput()
	body, note, _ := strings.Cut(text, "\n")
	if len(body) > 1<<20 || len(body) < 1<<20-4 || strings.Trim(body, "é") != "" || !strings.HasPrefix(note, "[some output was dropped") {
		t.Errorf("%d bytes were held, the note is %q", len(body), note)
	}
}

func TestDetail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state shell.ProcessState
		want  string
	}{
		"an exit":                        {shell.ProcessState{Status: shell.Completed, ExitCode: new(0)}, "completed, exit code: 0"},
		"a nonzero exit is an exit":      {shell.ProcessState{Status: shell.Completed, ExitCode: new(3)}, "completed, exit code: 3"},
		"an exit without a status":       {shell.ProcessState{Status: shell.Completed}, "completed, exit code: 0"},
		"a death by a signal":            {shell.ProcessState{Status: shell.Killed, Signal: "SIGTERM"}, "killed, signal: SIGTERM"},
		"a kill that was caught":         {shell.ProcessState{Status: shell.Killed, ExitCode: new(0)}, "killed, killed before exit"},
		"a tree that resists":            {shell.ProcessState{Status: shell.Killed, Survivors: []int{4711, 4712}}, "killed, killed before exit; still running: pid 4711, 4712"},
		"a runtime that is over":         {shell.ProcessState{Status: shell.Killed, Signal: "SIGTERM", Limit: subprocess.LimitRuntime}, "killed, timed out"},
		"a command that is silent":       {shell.ProcessState{Status: shell.Killed, Limit: subprocess.LimitSilence}, "killed, no output for too long"},
		"a command that needs memory":    {shell.ProcessState{Status: shell.Killed, Limit: subprocess.LimitMemory}, "killed, used too much memory"},
		"a command that talks":           {shell.ProcessState{Status: shell.Killed, Limit: subprocess.LimitOutput}, "killed, wrote too much output"},
		"a limit that is not known here": {shell.ProcessState{Status: shell.Killed, Limit: "disk"}, "killed, passed the limit of disk"},
		"a command that never started":   {shell.ProcessState{Status: shell.Killed, Failure: errors.New("no such\n file")}, "failed, spawn failed: no such file"},
		"a sandbox that failed": {
			shell.ProcessState{Status: shell.Killed, ExitCode: new(125), Sandbox: &sandbox.Info{Mode: sandbox.WorkspaceWrite, RunnerFailed: true}},
			"failed, the sandbox runner failed under workspace-write mode",
		},
	} {
		t.Run(name, func(t *testing.T) {
			status, detail := jobs.Detail(c.state)
			if got := string(status) + ", " + detail; got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	denied := &sandbox.Info{Mode: sandbox.ReadOnly, Denied: true}
	for name, c := range map[string]struct {
		info               *sandbox.Info
		failed, escalation bool
		want               string
	}{
		"nothing without a sandbox":      {nil, true, true, ""},
		"nothing without a denial":       {&sandbox.Info{Mode: sandbox.ReadOnly}, true, true, ""},
		"nothing when it succeeded":      {denied, false, true, ""},
		"a denial":                       {denied, true, false, "[sandbox: file access denied under read-only mode]"},
		"a denial and the way out of it": {denied, true, true, "[sandbox: file access denied under read-only mode]\n" + sandbox.EscalationHint},
		"a runner that failed outranks a denial": {
			&sandbox.Info{Mode: sandbox.WorkspaceWrite, Denied: true, RunnerFailed: true}, true, true,
			"[sandbox: the sandbox runner itself failed under workspace-write mode — the command did not run; " +
				"this is a problem of the sandbox, not of the command]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := jobs.Notes(c.info, c.failed, c.escalation); got != c.want {
				t.Errorf("the notes are %q, want %q", got, c.want)
			}
		})
	}
	if !strings.HasPrefix(sandbox.EscalationHint, "[sandbox: escalation available — retry this exact command once with sandbox_permissions") {
		t.Errorf("the hint is %s", sandbox.EscalationHint)
	}
}
