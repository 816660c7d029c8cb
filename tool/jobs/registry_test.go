package jobs_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hardshell/jobs"
	"hardshell/tool"
	tooljobs "hardshell/tool/jobs"
)

// work is a job that runs until it is ended or cancelled, and prints at its end.
type work struct {
	end     chan struct{}
	outcome jobs.Outcome
}

func (w *work) Done() <-chan struct{} { return w.end }
func (w *work) Outcome() jobs.Outcome { return w.outcome }
func (w *work) Output() string        { return "done\n" }

func (w *work) Cancel(reason string) error {
	w.settle(jobs.Killed, reason)
	return nil
}

func (w *work) settle(status jobs.Status, detail string) {
	w.outcome = jobs.Outcome{Status: status, Detail: detail}
	close(w.end)
}

func TestTheToolsWorkWithTheRegistryOfJobs(t *testing.T) {
	t.Parallel()
	// Its time passes only when everybody waits.
	synctest.Test(t, testTheToolsWithTheRegistry)
}

func testTheToolsWithTheRegistry(t *testing.T) {
	registry := jobs.New(jobs.Options{})
	owner, settled := jobs.NewOwner("s1"), make(chan string, 8)
	tools, _, pipeline := registered(t, registry, tooljobs.Config{
		Owner: func(tool.Session) *jobs.Owner { return owner },
	})
	defer tools.Deliver()()
	// After the notices: what it says has been told.
	defer registry.OnDone(func(job jobs.Job, _ *jobs.Owner) { settled <- job.ID })()
	start := func() *work {
		w := &work{end: make(chan struct{})}
		if _, err := registry.Start(jobs.Start{
			Kind: "bash", Label: "make", Owner: owner,
			Run: func(jobs.Slot) (jobs.Producer, error) { return w, nil },
		}); err != nil {
			t.Fatal(err)
		}
		return w
	}
	read := func(name, args string) string {
		t.Helper()
		result := pipeline.Execute(t.Context(), tool.Call{Tool: name, Args: json.RawMessage(args), Session: session{}})
		text, _ := result.SoleText()
		return text
	}
	wantText := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}

	// A wait that saw the end leaves no notice.
	first := start()
	time.AfterFunc(time.Millisecond, func() { first.settle(jobs.Completed, "exit code: 0") })
	wantText(read("job_output", `{"job_id":"bash-1","wait":true,"timeout_ms":60000}`), "done\n[status: completed, exit code: 0]")
	<-settled
	if notices := owner.Take(); notices != nil {
		t.Errorf("told %+v", notices)
	}

	// What settles unseen leaves one.
	start().settle(jobs.Killed, "signal: SIGTERM")
	<-settled
	want := []jobs.Notice{{
		JobID:   "bash-2",
		Text:    "background job bash-2 (bash: make) finished [status: killed, signal: SIGTERM]. Read its output with job_output.",
		Summary: "bash make [status: killed, signal: SIGTERM]",
	}}
	if diff := cmp.Diff(want, owner.Take()); diff != "" {
		t.Error(diff)
	}

	// What is killed leaves none.
	start()
	wantText(read("job_output", `{"job_id":"bash-3","wait":true,"timeout_ms":1}`), "(no new output)\n[status: running]")
	wantText(read("job_kill", `{"job_id":"bash-3","reason":"tired"}`), "requested cancellation of job bash-3")
	<-settled
	wantText(read("job_kill", `{"job_id":"bash-3"}`), "job bash-3 had already finished [status: killed, tired]")
	if notices := owner.Take(); notices != nil {
		t.Errorf("told %+v", notices)
	}

	// An aborted wait does not count as having seen the end.
	last := start()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	aborted := pipeline.Execute(ctx, tool.Call{Tool: "job_output", Args: json.RawMessage(`{"job_id":"bash-4","wait":true}`), Session: session{}})
	wantError(t, aborted, "ABORTED", "wait aborted")
	last.settle(jobs.Completed, "exit code: 1")
	<-settled
	if notices := owner.Take(); len(notices) != 1 {
		t.Errorf("told %+v", notices)
	}
	wantText(read("job_output", `{"job_id":"bash-4"}`), "done\n[status: completed, exit code: 1]")

	wantText(read("job_list", `{}`), "bash-1 [bash] completed — make\nbash-2 [bash] killed — make\nbash-3 [bash] killed — make\nbash-4 [bash] completed — make")
	wantText(read("job_output", `{"job_id":"bash-9"}`), "Error: unknown job bash-9")
	wantText(read("job_output", `{"job_id":"bash-9","wait":true,"timeout_ms":-1.5}`), "Error: unknown job bash-9")
	wantText(read("job_output", `{"job_id":"bash-1","wait":true,"timeout_ms":-1.5}`), "Error: invalid wait timeout: expected a positive number of milliseconds, got -1.5")
	wantText(read("job_output", `{"job_id":"bash-1","from":0}`), "Error: the output of job bash-1 is not kept: it can be read once, without an offset")
	wantText(read("job_input", `{"job_id":"bash-1","text":"x"}`), "Error: job bash-1 takes no input: start one that does")
}
