package jobs

import (
	"context"
	"regexp"

	"github.com/google/jsonschema-go/jsonschema"

	"hardshell/jobs"
	"hardshell/subprocess"
	"hardshell/tool"
)

// OutputInput is the arguments of job_output. A nil pointer was not sent.
type OutputInput struct {
	JobID     string      `json:"job_id"`
	Wait      bool        `json:"wait,omitempty"`
	TimeoutMs *float64    `json:"timeout_ms,omitempty"`
	Until     *UntilInput `json:"until,omitempty"`
	Stream    *string     `json:"stream,omitempty"`
	From      *int64      `json:"from,omitempty"`
}

// UntilInput says what to wait for that is less than the end.
type UntilInput struct {
	Pattern *string  `json:"pattern,omitempty"`
	IdleMs  *float64 `json:"idleMs,omitempty"`
}

// Output is the value of job_output.
type Output struct {
	// Text is what was read, at most as much as the job's limit allows.
	Text string `json:"text"`
	Job  Job    `json:"job"`
	// Range says which bytes a re-read got; nil for the read of what is new.
	Range *Range `json:"range,omitempty"`

	limit int64 // of the whole text in bytes, 0 for none
}

func (t *Tools) outputTool() (*tool.Tool, error) {
	return tool.New(tool.Definition[OutputInput, Output]{
		Name:        OutputName,
		Description: t.prose[OutputName],
		Annotations: tool.Annotations{ReadOnly: true},
		Refine: func(schema *jsonschema.Schema) {
			t.describe(OutputName)(schema)
			schema.Properties["stream"].Enum = []any{string(subprocess.Stdout), string(subprocess.Stderr)}
		},
		Run:    t.output,
		Render: Output.render,
		PresentCall: func(in OutputInput) tool.View {
			return tool.Generic{Title: "Read output from background job " + in.JobID, Kind: tool.KindRead, RawInput: in.JobID}
		},
		// What is new goes to whoever reads first.
		ParallelSafe: OutputInput.rereads,
	})
}

// output is the body of a call.
func (t *Tools) output(ctx context.Context, call tool.Call, in OutputInput) (Output, error) {
	until, err := in.check()
	if err != nil {
		return Output{}, err
	}
	owner := t.owner(call.Session)
	switch {
	case in.rereads():
		return t.reread(in, owner)
	case in.Until != nil:
		_, err = t.registry.Until(ctx, in.JobID, until, t.wait(in.TimeoutMs), owner)
	case in.Wait:
		_, err = t.registry.Wait(ctx, in.JobID, t.wait(in.TimeoutMs), owner)
	}
	if err != nil {
		return Output{}, err
	}
	if ctx.Err() != nil {
		// Nobody would see what is read now, and nobody could read it again.
		return Output{}, tool.Aborted()
	}
	text, job, err := t.registry.Read(in.JobID, owner)
	if err != nil {
		return Output{}, err
	}
	return Output{Text: capBody(text, job.OutputLimitBytes), Job: jobOf(job), limit: job.OutputLimitBytes}, nil
}

// render is what a model reads.
func (o Output) render() string {
	body, status := o.parts()
	return capOutput(body, status, o.limit)
}

// parts are the output, and the lines after it. Those of a re-read say which
// bytes it is and where to go on.
func (o Output) parts() (body, status string) {
	body, status = o.Text, o.Job.statusLine()
	switch {
	case o.Range != nil:
		status = o.Range.line(o.Job.Status.Terminal()) + "\n" + status
		if body == "" {
			body = "(no output)"
		}
	case body == "":
		body = "(no new output)"
	}
	return body, status
}

func (in OutputInput) rereads() bool { return in.Stream != nil || in.From != nil }

// check refuses values that the schema allows.
func (in OutputInput) check() (until jobs.Until, err error) {
	switch {
	case checkID(in.JobID) != nil:
		return until, checkID(in.JobID)
	case in.rereads() && (in.Wait || in.Until != nil):
		return until, refused("invalid job_output: stream and from re-read what is there, and go neither with wait nor with until")
	case in.From != nil && *in.From < 0:
		return until, refused("invalid from: expected an offset of 0 or more bytes, got %d", *in.From)
	case in.Until == nil:
		return until, nil
	}
	return in.Until.check()
}

// check compiles what to wait for. Lines are what a program prints, so ^ and $
// are their ends.
func (in UntilInput) check() (until jobs.Until, err error) {
	switch {
	case in.Pattern == nil && in.IdleMs == nil:
		return until, refused("invalid until: expected pattern, idleMs or both")
	case in.Pattern != nil && *in.Pattern == "":
		return until, refused("invalid until.pattern: expected a non-empty string")
	case in.IdleMs != nil && !(*in.IdleMs > 0):
		return until, refused("invalid until.idleMs: expected a positive number of milliseconds, got %s", number(*in.IdleMs))
	}
	if in.Pattern != nil {
		if _, err := regexp.Compile(*in.Pattern); err != nil {
			return until, refused("invalid until.pattern: expected a regular expression in RE2 syntax: %v", err)
		}
		until.Pattern, err = regexp.Compile("(?m)" + *in.Pattern)
		if err != nil {
			return until, refused("invalid until.pattern: expected a shorter regular expression: %v", err)
		}
	}
	if in.IdleMs != nil {
		until.Idle = positive(*in.IdleMs)
	}
	return until, nil
}
