package jobs

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"

	"hardshell/tool"
)

// KillInput is the arguments of job_kill.
type KillInput struct {
	JobID  string `json:"job_id"`
	Reason string `json:"reason,omitempty"`
}

// Kill is the value of job_kill.
type Kill struct {
	Outcome KillOutcome `json:"outcome"`
	Job     Job         `json:"job"`

	limit int64 // of the text in bytes, 0 for none
}

// KillOutcome is what became of the wish to end a job.
type KillOutcome string

// A live job is told to stop, a settled one is left as it is.
const (
	CancellationRequested KillOutcome = "cancellation-requested"
	AlreadyFinished       KillOutcome = "already-finished"
)

func (t *Tools) killTool() (*tool.Tool, error) {
	return tool.New(tool.Definition[KillInput, Kill]{
		Name:        KillName,
		Description: t.prose[KillName],
		Annotations: tool.Annotations{Destructive: true},
		Refine:      t.describe(KillName),
		OutputSchema: func() (*jsonschema.Schema, error) {
			schema, err := tool.SchemaFor[Kill]()
			if err == nil {
				schema.Properties["outcome"].Enum = []any{string(CancellationRequested), string(AlreadyFinished)}
			}
			return schema, err
		},
		Run:    t.kill,
		Render: Kill.render,
		PresentCall: func(in KillInput) tool.View {
			return tool.Generic{Title: "Kill background job " + in.JobID, Kind: tool.KindExecute, RawInput: in.JobID}
		},
	})
}

// kill is the body of a call.
func (t *Tools) kill(_ context.Context, call tool.Call, in KillInput) (Kill, error) {
	if err := checkID(in.JobID); err != nil {
		return Kill{}, err
	}
	requested, job, err := t.registry.Kill(in.JobID, in.Reason, t.owner(call.Session))
	if err != nil {
		return Kill{}, err
	}
	value := Kill{Outcome: AlreadyFinished, Job: jobOf(job), limit: job.OutputLimitBytes}
	if requested {
		value.Outcome = CancellationRequested
	}
	return value, nil
}

// render is what a model reads.
func (k Kill) render() string {
	text := "requested cancellation of job " + k.Job.ID
	if k.Outcome == AlreadyFinished {
		text = "job " + k.Job.ID + " had already finished " + k.Job.statusLine()
	}
	return capResult(text, k.limit)
}
