package jobs_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hardshell/internal/fault"
	"hardshell/jobs"
	"hardshell/tool"
)

func TestANoticeTellsOfAJobThatSettledUnreported(t *testing.T) {
	t.Parallel()
	unreported := finished()
	unreported.Reported = false
	capped := unreported
	capped.OutputLimitBytes = 8
	many := unreported
	many.Kind, many.Label = "bash", "set -e\nmake all\n"
	for name, c := range map[string]struct {
		job     jobs.Job
		unowned bool
		want    []jobs.Notice
	}{
		"once": {job: unreported, want: []jobs.Notice{{
			JobID:   "bash-1",
			Text:    "background job bash-1 (bash: make test) finished [status: completed, exit code: 0]. Read its output with job_output.",
			Summary: "bash make test [status: completed, exit code: 0]",
		}}},
		"on one line": {job: many, want: []jobs.Notice{{
			JobID:   "bash-1",
			Text:    "background job bash-1 (bash: set -e make all) finished [status: completed, exit code: 0]. Read its output with job_output.",
			Summary: "bash set -e make all [status: completed, exit code: 0]",
		}}},
		"within its limit": {job: capped, want: []jobs.Notice{{
			JobID: "bash-1", Text: "_output.", Summary: "bash make test [status: completed, exit code: 0]",
		}}},
		"but not when somebody knows": {job: finished()},
		"nor when nobody owns it":     {job: unreported, unowned: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, owner, other := &registry{}, jobs.NewOwner("s1"), jobs.NewOwner("s1")
			remove := newTools(t, r, owned()).Deliver()
			if r.controllers != 1 {
				t.Error("nothing can be started")
			}
			if c.unowned {
				r.done(c.job, nil)
			} else {
				r.done(c.job, owner)
			}
			if diff := cmp.Diff(c.want, owner.Take()); diff != "" {
				t.Error(diff)
			}
			if owner.Take() != nil || other.Take() != nil {
				t.Error("it was told twice, or to a successor")
			}
			remove()
			if r.done != nil || r.controllers != 0 {
				t.Error("something is left of it")
			}
		})
	}
}

func TestTextsOfACappedJobAreBounded(t *testing.T) {
	t.Parallel()
	capped := finished()
	capped.OutputLimitBytes = 30
	long := strings.Repeat("é", 50)
	const read, kill = "job_output", "job_kill"
	for name, c := range map[string]struct {
		tool     string
		err      error
		deny     bool
		review   tool.Review
		uncapped bool
		want     string
	}{
		"a read":                  {tool: read, want: "atus: completed, exit code: 0]"},
		"a kill":                  {tool: kill, want: "it code: 0]\n[result truncated]"},
		"an error":                {tool: read, err: fault.New("UNKNOWN_JOB", "%s", long), want: "ééééé\n[result truncated]"},
		"a denial":                {tool: kill, deny: true, want: "ééééé\n[result truncated]"},
		"a text in its place":     {tool: read, review: tool.Review{Content: tool.Text(long)}, want: "ééééé\n[result truncated]"},
		"a block":                 {tool: read, review: tool.Review{Block: true, Feedback: long}, want: "Error: éé\n[result truncated]"},
		"a short text is not cut": {tool: read, review: tool.Review{Content: tool.Text("short")}, want: "short"},
		"several blocks":          {tool: read, review: tool.Review{Content: append(tool.Text(long), tool.Text(long)...)}, want: long + long},
		"a job without a limit":   {tool: read, uncapped: true, review: tool.Review{Content: tool.Text(long)}, want: long},
		"another tool":            {tool: "job_list", review: tool.Review{Content: tool.Text(long)}, want: long},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &failing{registry: registry{job: capped, unread: "one two three"}, err: c.err}
			if c.uncapped {
				r.job.OutputLimitBytes = 0
			}
			tools, _, pipeline := registered(t, r, owned())
			remove := tools.Bound(pipeline)
			pipeline.OnPre(func(ctx context.Context, _ tool.Call, next tool.Next[tool.Decision]) (tool.Decision, error) {
				if c.deny {
					return tool.Decision{Action: tool.Deny, Reason: long}, nil
				}
				return next(ctx)
			})
			pipeline.OnPost(func(ctx context.Context, _ tool.Outcome, next tool.Next[tool.Review]) (tool.Review, error) {
				if c.review.Block || c.review.Content != nil {
					return c.review, nil
				}
				return next(ctx)
			})
			execute := func() string {
				args := `{"job_id":"bash-1"}`
				var text strings.Builder
				for _, block := range pipeline.Execute(t.Context(), tool.Call{Tool: c.tool, Args: json.RawMessage(args), Session: session{}}).Content {
					text.WriteString(block.Text)
				}
				return text.String()
			}
			if got := execute(); got != c.want {
				t.Errorf("%d bytes %q\nwant %q", len(got), got, c.want)
			}
			remove()
			if got := execute(); c.err != nil && got != "Error: "+long {
				t.Errorf("after its end it is %q", got)
			}
		})
	}
}

// failing is a registry that finds the job, and then fails.
type failing struct {
	registry
	err error
}

func (f *failing) Read(id string, caller *jobs.Owner) (string, jobs.Job, error) {
	text, job, _ := f.registry.Read(id, caller)
	return text, job, f.err
}
