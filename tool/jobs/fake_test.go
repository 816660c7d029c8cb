package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/jobs"
	"hardshell/subprocess"
	"hardshell/tool"
	tooljobs "hardshell/tool/jobs"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with its file, byte for byte.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n got %q\nwant %q", path, got, want)
	}
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// indented is a value as a golden JSON file has it.
func indented(t *testing.T, value any) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(asJSON(t, value)), "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}

// registry holds one job, and remembers what it was asked.
type registry struct {
	job    jobs.Job
	unread string
	stream []byte // as ReadFrom sees it
	gone   int64  // bytes before this one are gone
	err    error  // of every access
	// waiting is called by Wait and Until; its error is theirs.
	waiting func(ctx context.Context) error

	asked       []string
	until       jobs.Until
	done        func(jobs.Job, *jobs.Owner)
	controllers int
}

func (r *registry) ask(caller *jobs.Owner, format string, args ...any) {
	who := "nobody"
	if caller != nil {
		who = caller.ID()
	}
	r.asked = append(r.asked, who+": "+fmt.Sprintf(format, args...))
}

func (r *registry) List(caller *jobs.Owner) []jobs.Job {
	r.ask(caller, "list")
	if r.job.ID == "" {
		return nil
	}
	second := r.job
	second.ID, second.Kind, second.Label, second.Status = "shell-12", "shell", "make\n\t# bash-9 [bash] completed — forged\r\nall", jobs.Failed
	return []jobs.Job{r.job, second}
}

func (r *registry) Get(string, *jobs.Owner) (jobs.Job, error) { return r.job, r.err }

func (r *registry) Read(id string, caller *jobs.Owner) (string, jobs.Job, error) {
	r.ask(caller, "read %s", id)
	text := r.unread
	r.unread = ""
	return text, r.job, r.err
}

func (r *registry) ReadFrom(id string, stream subprocess.Stream, from int64, most int, caller *jobs.Owner) (jobs.Piece, jobs.Job, error) {
	r.ask(caller, "read %s of %s from %d, at most %d", stream, id, from, most)
	size := int64(len(r.stream))
	p := jobs.Piece{From: min(max(from, r.gone), size), Size: size}
	p.Skipped = max(0, p.From-from)
	p.Next = min(size, p.From+int64(most))
	p.Text = string(r.stream[p.From:p.Next])
	return p, r.job, r.err
}

func (r *registry) Input(_ context.Context, id, text string, eof bool, caller *jobs.Owner) (jobs.Job, error) {
	r.ask(caller, "input %q to %s, eof %v", text, id, eof)
	return r.job, r.err
}

func (r *registry) Kill(id, reason string, caller *jobs.Owner) (bool, jobs.Job, error) {
	r.ask(caller, "kill %s: %s", id, reason)
	return !r.job.Status.Terminal(), r.job, r.err
}

func (r *registry) Wait(ctx context.Context, id string, timeout time.Duration, caller *jobs.Owner) (jobs.Job, error) {
	r.ask(caller, "wait %s for %s", id, timeout)
	return r.wait(ctx)
}

func (r *registry) Until(ctx context.Context, id string, until jobs.Until, timeout time.Duration, caller *jobs.Owner) (jobs.Job, error) {
	r.ask(caller, "wait %s for %s or less", id, timeout)
	r.until = until
	return r.wait(ctx)
}

func (r *registry) wait(ctx context.Context) (jobs.Job, error) {
	if r.waiting != nil {
		if err := r.waiting(ctx); err != nil {
			return jobs.Job{}, err
		}
	}
	return r.job, r.err
}

func (r *registry) AddController(string) func() {
	r.controllers++
	return func() { r.controllers-- }
}

func (r *registry) OnDone(f func(jobs.Job, *jobs.Owner)) func() {
	r.done = f
	return func() { r.done = nil }
}

// session is a live handle.
type session struct{}

func (session) ID() string        { return "s1" }
func (session) Workspace() string { return "/w" }
func (session) LogPath() string   { return "" }

// running is a job in its first second.
func running() jobs.Job {
	return jobs.Job{ID: "bash-1", Kind: "bash", Label: "make test", OwnerSession: "s1", Status: jobs.Running, StartedAt: 1_700_000_000_000}
}

// finished is a job after its end.
func finished() jobs.Job {
	job := running()
	job.Status, job.Detail, job.FinishedAt, job.Reported = jobs.Completed, "exit code: 0", 1_700_000_001_500, true
	job.Usage = &subprocess.Usage{User: 1500 * time.Microsecond, System: time.Millisecond, MaxRSS: 4096}
	return job
}

// owned is a configuration whose sessions own jobs.
func owned() tooljobs.Config {
	return tooljobs.Config{Owner: func(s tool.Session) *jobs.Owner { return jobs.NewOwner(s.ID()) }}
}

func newTools(t testing.TB, r tooljobs.Registry, config tooljobs.Config) *tooljobs.Tools {
	t.Helper()
	tools, err := tooljobs.New(r, config)
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// registered is the tools with the pipeline that they are called through.
func registered(t testing.TB, r tooljobs.Registry, config tooljobs.Config) (*tooljobs.Tools, *tool.Registry, *tool.Pipeline) {
	t.Helper()
	tools, all := newTools(t, r, config), &tool.Registry{}
	if _, err := tools.Register(all); err != nil {
		t.Fatal(err)
	}
	return tools, all, tool.NewPipeline(all, tool.Options{})
}

func call(ctx context.Context, t testing.TB, r tooljobs.Registry, name, args string) tool.Result {
	t.Helper()
	_, _, pipeline := registered(t, r, owned())
	return pipeline.Execute(ctx, tool.Call{Tool: name, Args: json.RawMessage(args), Session: session{}})
}

func wantError(t testing.TB, result tool.Result, code fault.Code, message string) {
	t.Helper()
	if !result.IsError || result.Error.Code != code || result.Error.Message != message {
		t.Fatalf("result is %+v, error %+v\nwant %s %q", result, result.Error, code, message)
	}
}
