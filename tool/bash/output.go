package bash

import (
	"github.com/google/jsonschema-go/jsonschema"

	"hardshell/internal/plainjson"
	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/tool"
)

// Output is the value of a call: Foreground or Background.
type Output interface{ output() }

// Foreground is a command that ended. Its JSON form is that of shell.Result.
type Foreground struct{ *shell.Result }

// Background is a command that was started as a job.
type Background struct{ JobID string }

func (Foreground) output() {}
func (Background) output() {}

// MarshalJSON gives the kind and the job's id.
func (b Background) MarshalJSON() ([]byte, error) {
	return plainjson.Marshal(backgroundJSON{Kind: kindBackground, JobID: b.JobID})
}

const (
	kindForeground = "foreground"
	kindBackground = "background"
)

type backgroundJSON struct {
	Kind  string `json:"kind"`
	JobID string `json:"jobId"`
}

// foregroundJSON describes the JSON form of shell.Result to the schema
// generator.
type foregroundJSON struct {
	Kind       string                `json:"kind"`
	ExitCode   *int                  `json:"exitCode"`
	Signal     *string               `json:"signal"`
	TimedOut   bool                  `json:"timedOut"`
	Aborted    bool                  `json:"aborted"`
	TimeoutMs  *float64              `json:"timeoutMs"`
	DurationMs int64                 `json:"durationMs"`
	Stdout     shell.CollectedOutput `json:"stdout"`
	Stderr     shell.CollectedOutput `json:"stderr"`
	Survivors  []int                 `json:"survivors,omitempty"`
	Sandbox    *sandbox.Info         `json:"sandbox,omitempty"`
}

// outputSchema describes the values that this deployment's calls have.
func (b *bash) outputSchema() (*jsonschema.Schema, error) {
	foreground, err := tool.SchemaFor[foregroundJSON]()
	if err != nil {
		return nil, err
	}
	foreground.Properties["kind"].Enum = []any{kindForeground}
	for _, name := range []string{"exitCode", "signal", "timeoutMs"} {
		property := foreground.Properties[name]
		property.Type, property.Types = "", []string{property.Type, "null"}
	}
	if !b.config.EnableRunInBackground {
		return foreground, nil
	}
	background, err := tool.SchemaFor[backgroundJSON]()
	if err != nil {
		return nil, err
	}
	background.Properties["kind"].Enum = []any{kindBackground}
	return &jsonschema.Schema{Type: "object", OneOf: []*jsonschema.Schema{foreground, background}}, nil
}
