package bash_test

import (
	"context"
	"testing"

	"hardshell/internal/fault"
	"hardshell/shell"
	"hardshell/tool"
	"hardshell/tool/bash"
)

// jobs admits every job and begins it at once, and prepares a record for every
// foreground run.
type jobs struct {
	record string // of what it starts
	err    error
	// none has it keep no foreground run, prepareErr fail to; promoteErr makes no
	// job of one.
	none                   bool
	prepareErr, promoteErr error
	promoting              func()

	admitted []bash.Job
	prepared []bash.Job
	runs     []*run
}

func (j *jobs) Start(_ context.Context, job bash.Job) (string, error) {
	if j.err != nil {
		return "", j.err
	}
	j.admitted = append(j.admitted, job)
	_, err := job.Begin(context.Background(), j.record)
	return "bash-1", err
}

func (j *jobs) Foreground(_ context.Context, job bash.Job) (bash.Run, bool, error) {
	j.prepared = append(j.prepared, job)
	if j.none || j.prepareErr != nil {
		return nil, false, j.prepareErr
	}
	r := &run{jobs: j}
	j.runs = append(j.runs, r)
	return r, true, nil
}

// run is a prepared record.
type run struct {
	jobs      *jobs
	promoted  []*shell.Result
	discarded []*shell.Result
}

func (*run) Record() string { return "/jobs/s1/run" }

func (r *run) Promote(_ context.Context, shown *shell.Result) (string, error) {
	if r.jobs.promoting != nil {
		r.jobs.promoting()
	}
	if r.jobs.promoteErr != nil {
		return "", r.jobs.promoteErr
	}
	r.promoted = append(r.promoted, shown)
	return "bash-3", nil
}

func (r *run) Discard(result *shell.Result) { r.discarded = append(r.discarded, result) }

func TestABackgroundCommandIsHandedToTheJobs(t *testing.T) {
	t.Parallel()
	const args = `{"command":"serve","description":"Serve","run_in_background":true}`
	t.Run("and its id is the result", func(t *testing.T) {
		t.Parallel()
		e, j, owner := &executor{}, &jobs{record: "/jobs/s1/bash-1"}, session{"/w"}
		ctx, cancel := context.WithCancel(t.Context())
		result := callIn(ctx, t, newTool(t, e, &environment{}, bash.Config{EnableRunInBackground: true, Jobs: j}), args, owner)
		cancel()
		text, _ := result.SoleText()
		if result.IsError || text != "started background job bash-1" {
			t.Errorf("result is %+v", result)
		}
		if value := asJSON(t, result.Structured); value != `{"kind":"background","jobId":"bash-1"}` {
			t.Errorf("value is %s", value)
		}
		if len(j.admitted) != 1 || j.admitted[0].Label != "serve" || j.admitted[0].Owner != tool.Session(owner) || j.admitted[0].Interactive {
			t.Errorf("admitted %+v", j.admitted)
		}
		if len(e.ran) != 0 || len(e.started) != 1 || e.started[0].Record != "/jobs/s1/bash-1" {
			t.Fatalf("ran %v, started %v", e.ran, e.started)
		}
		if e.startedIn.Err() != nil {
			t.Error("the end of the call ended the job")
		}
	})
	t.Run("with its input open when it is interactive", func(t *testing.T) {
		t.Parallel()
		e, j := &executor{}, &jobs{}
		made := newTool(t, e, &environment{}, bash.Config{EnableRunInBackground: true, Jobs: j})
		result := call(t, made, `{"command":"cat","description":"Echo","run_in_background":true,"interactive":true}`, nil)
		if result.IsError {
			t.Fatal(result.Error.Message)
		}
		if len(j.admitted) != 1 || !j.admitted[0].Interactive {
			t.Errorf("admitted %+v", j.admitted)
		}
		if len(e.started) != 1 || e.started[0].Stdin != nil {
			t.Errorf("started %+v", e.started)
		}
	})
	t.Run("unless the call is aborted first", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		e, j := &executor{resolving: cancel}, &jobs{}
		wantError(t, callIn(ctx, t, newTool(t, e, &environment{}, bash.Config{EnableRunInBackground: true, Jobs: j}), args, nil),
			fault.Aborted, "tool call aborted")
		e.nothingRan(t)
		if len(j.admitted) != 0 {
			t.Errorf("admitted %+v", j.admitted)
		}
	})
	t.Run("who may refuse it", func(t *testing.T) {
		t.Parallel()
		e := &executor{}
		j := &jobs{err: fault.New("JOB_LIMIT", "too many jobs")}
		wantError(t, call(t, newTool(t, e, &environment{}, bash.Config{EnableRunInBackground: true, Jobs: j}), args, nil),
			"JOB_LIMIT", "too many jobs")
		e.nothingRan(t)
	})
}
