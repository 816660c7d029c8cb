package jobs

import (
	"context"
	"fmt"

	"hardshell/tool"
)

// InputInput is the arguments of job_input.
type InputInput struct {
	JobID string `json:"job_id"`
	Text  string `json:"text"`
	EOF   bool   `json:"eof,omitempty"`
}

// Sent is the value of job_input.
type Sent struct {
	Bytes  int  `json:"bytes"`
	Closed bool `json:"closed"`
	Job    Job  `json:"job"`
}

func (t *Tools) inputTool() (*tool.Tool, error) {
	return tool.New(tool.Definition[InputInput, Sent]{
		Name:        InputName,
		Description: t.prose[InputName],
		// The program may be anything, a shell for instance.
		Annotations: tool.Annotations{Destructive: true, OpenWorld: true},
		Refine:      t.describe(InputName),
		Run:         t.input,
		Render:      Sent.render,
		PresentCall: func(in InputInput) tool.View {
			view := tool.Generic{Title: "Send input to background job " + in.JobID, Kind: tool.KindExecute, RawInput: in.JobID}
			if in.Text != "" {
				view.Content = tool.Console(in.Text).Content
			}
			return view
		},
	})
}

// input is the body of a call.
func (t *Tools) input(ctx context.Context, call tool.Call, in InputInput) (Sent, error) {
	if err := checkID(in.JobID); err != nil {
		return Sent{}, err
	}
	if in.Text == "" && !in.EOF {
		return Sent{}, refused("invalid text: expected a non-empty string, unless eof is true")
	}
	job, err := t.registry.Input(ctx, in.JobID, in.Text, in.EOF, t.owner(call.Session))
	if err != nil {
		return Sent{}, err
	}
	return Sent{Bytes: len(in.Text), Closed: in.EOF, Job: jobOf(job)}, nil
}

// render is what a model reads.
func (s Sent) render() string {
	text := fmt.Sprintf("sent %d bytes to job %s", s.Bytes, s.Job.ID)
	if s.Closed {
		text += " and closed its input"
	}
	return text
}
