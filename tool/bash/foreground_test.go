package bash_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/tool"
	"hardshell/tool/bash"
)

// process is a command that runs until it is killed.
type process struct {
	survivors []int
	done      chan struct{}
}

func newProcess(survivors ...int) *process {
	return &process{survivors: survivors, done: make(chan struct{})}
}

func (p *process) Done() <-chan struct{}         { return p.done }
func (p *process) ReadOutput() shell.ProcessRead { return shell.ProcessRead{} }

func (p *process) State() shell.ProcessState {
	if !p.killed() {
		return shell.ProcessState{Status: shell.Running}
	}
	return shell.ProcessState{Status: shell.Killed, Signal: "SIGTERM", Survivors: p.survivors}
}

func (p *process) Kill() bool {
	close(p.done)
	return true
}

func (p *process) killed() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// yielded is a run that was not waited for any longer.
func yielded(p *process) *shell.Result {
	return &shell.Result{
		Timeout: 2 * time.Minute, Duration: 45_001 * time.Millisecond, Process: p,
		Stdout: whole("one\ntwo"), Stderr: tail("oops\n", "/jobs/s1/run/log-err"),
		Sandbox: &sandbox.Info{Mode: sandbox.ReadOnly},
	}
}

// held is the configuration of a deployment that holds a call for 45 s.
func held(j *jobs) bash.Config { return bash.Config{Jobs: j, YieldAfter: 45 * time.Second} }

const build = `{"command":"make","description":"Build","timeoutMs":120000}`

func TestALongCommandGoesOnAsAJob(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]*shell.Result{
		"promoted":       yielded(newProcess()),
		"promoted-empty": {Timeout: shell.NoTimeout, Duration: 1500 * time.Microsecond, Process: newProcess()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, j, owner := &executor{result: result}, &jobs{}, session{"/w"}
			made := newTool(t, e, nil, held(j))
			got := call(t, made, build, owner)
			if got.IsError {
				t.Fatal(got.Error.Message)
			}
			text, _ := got.SoleText()
			golden(t, name+".txt", text)
			golden(t, name+".json", indented(t, got.Structured))
			golden(t, name+".card.json", indented(t, got.Card))
			if replayed := made.Present(json.RawMessage(build), tool.Result{Content: got.Content}); asJSON(t, replayed) != asJSON(t, got.Card) {
				t.Errorf("the card of the text alone is %s", asJSON(t, replayed))
			}
			if len(e.ran) != 1 || e.ran[0].Record != "/jobs/s1/run" || e.ran[0].Yield != 45*time.Second {
				t.Errorf("ran %+v", e.ran)
			}
			if len(j.prepared) != 1 || j.prepared[0].Label != "make" || j.prepared[0].Owner != owner || j.prepared[0].Begin != nil {
				t.Errorf("prepared %+v", j.prepared)
			}
			run := j.runs[0]
			if len(run.promoted) != 1 || run.promoted[0] != result || len(run.discarded) != 0 {
				t.Errorf("promoted %v, discarded %v", run.promoted, run.discarded)
			}
			if result.Process.(*process).killed() {
				t.Error("the command was killed")
			}
		})
	}
}

func TestARunThatEndsInTimeLeavesNoRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		e    executor
		want string
	}{
		"with a status":          {executor{result: exited(3)}, "(no output)\n[exit code: 3]"},
		"as it was aborted":      {executor{result: &shell.Result{Aborted: true}}, "Error: tool call aborted"},
		"before it was spawned":  {executor{runErr: fault.New(fault.Aborted, "aborted")}, "Error: tool call aborted"},
		"as it could not be run": {executor{runErr: errors.New("no bash")}, "Error: no bash"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := &jobs{}
			result := call(t, newTool(t, &c.e, nil, held(j)), build, nil)
			if text, _ := result.SoleText(); text != c.want {
				t.Errorf("text is %q", text)
			}
			run := j.runs[0]
			if len(run.discarded) != 1 || run.discarded[0] != c.e.result || len(run.promoted) != 0 {
				t.Errorf("promoted %v, discarded %v", run.promoted, run.discarded)
			}
		})
	}
}

func TestACommandThatCannotBecomeAJobIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config   bash.Config
		args     string
		prepared bool
	}{
		"since calls are held for ever":      {bash.Config{Jobs: &jobs{}}, build, false},
		"since there are no jobs":            {bash.Config{YieldAfter: time.Second}, build, false},
		"since no record can be kept":        {held(&jobs{none: true}), build, true},
		"since the disk is full":             {held(&jobs{prepareErr: errors.New("ENOSPC")}), build, true},
		"since its timeout comes first":      {held(&jobs{}), `{"command":"x","description":"d","timeoutMs":44999}`, false},
		"since its timeout comes just then ": {held(&jobs{}), `{"command":"x","description":"d","timeoutMs":45000}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &executor{result: exited(0)}
			if result := call(t, newTool(t, e, nil, c.config), c.args, nil); result.IsError {
				t.Fatal(result.Error.Message)
			}
			if len(e.ran) != 1 || e.ran[0].Record != "" || e.ran[0].Yield != 0 {
				t.Errorf("ran %+v", e.ran)
			}
			if j, ok := c.config.Jobs.(*jobs); ok && (len(j.prepared) == 1) != c.prepared {
				t.Errorf("prepared %d records", len(j.prepared))
			}
		})
	}
}

func TestACommandThatIsRefusedAsAJobIsKilled(t *testing.T) {
	t.Parallel()
	limit := fault.New("JOB_LIMIT", "background job limit reached for this owner (limit: 10); use job_kill to stop an unneeded job, wait for it to finish, then retry")
	for name, survivors := range map[string][]int{"promotion-refused": nil, "promotion-refused-survivors": {12, 34}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, j := newProcess(survivors...), &jobs{promoteErr: limit}
			e := &executor{result: yielded(p)}
			result := call(t, newTool(t, e, nil, held(j)), build, nil)
			if !result.IsError || result.Error.Code != "JOB_LIMIT" {
				t.Fatalf("result is %+v", result)
			}
			text, _ := result.SoleText()
			golden(t, name+".txt", text)
			if run := j.runs[0]; !p.killed() || len(run.discarded) != 1 || run.discarded[0] != e.result {
				t.Errorf("killed %v, discarded %v", p.killed(), run.discarded)
			}
		})
	}
}

func TestAnAbortWhileACommandIsPromotedKillsIt(t *testing.T) {
	t.Parallel()
	t.Run("before anybody was asked", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		p, j := newProcess(7), &jobs{}
		e := &executor{result: yielded(p), running: func(context.Context) { cancel() }}
		wantError(t, callIn(ctx, t, newTool(t, e, nil, held(j)), build, nil),
			fault.Aborted, "tool call aborted\n[still running after the kill: pid 7]")
		if run := j.runs[0]; !p.killed() || len(run.promoted) != 0 || len(run.discarded) != 1 {
			t.Errorf("killed %v, promoted %v, discarded %v", p.killed(), run.promoted, run.discarded)
		}
	})
	t.Run("while somebody was", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		p := newProcess()
		j := &jobs{promoting: cancel, promoteErr: context.Canceled}
		e := &executor{result: yielded(p)}
		wantError(t, callIn(ctx, t, newTool(t, e, nil, held(j)), build, nil), fault.Aborted, "tool call aborted")
		if !p.killed() || len(j.runs[0].discarded) != 1 {
			t.Errorf("killed %v, discarded %v", p.killed(), j.runs[0].discarded)
		}
	})
}

func TestANegativeTimeToHoldACallIsRefused(t *testing.T) {
	t.Parallel()
	_, err := bash.New(&executor{}, nil, bash.Config{YieldAfter: -time.Millisecond})
	if fault.CodeOf(err) != fault.InvalidArgument || err.Error() != "tool-bash: yieldMs must be 0 or more, got -1" {
		t.Errorf("error is %v", err)
	}
}
