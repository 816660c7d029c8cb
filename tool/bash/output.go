package bash

import (
	"github.com/google/jsonschema-go/jsonschema"

	"hardshell/internal/plainjson"
	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/tool"
)

// Output is the value of a call: Foreground, Background or Promoted.
type Output interface{ output() }

// Foreground is a command that ended. Its JSON form is that of shell.Result.
type Foreground struct{ *shell.Result }

// Background is a command that was started as a job.
type Background struct{ JobID string }

// Promoted is a command that outlasted the call and runs on as a job.
type Promoted struct {
	JobID string
	// Result has what the command wrote until then, and how long that was. It
	// has no outcome.
	Result *shell.Result
}

func (Foreground) output() {}
func (Background) output() {}
func (Promoted) output()   {}

// MarshalJSON gives the kind and the job's id.
func (b Background) MarshalJSON() ([]byte, error) {
	return plainjson.Marshal(backgroundJSON{Kind: kindBackground, JobID: b.JobID})
}

// MarshalJSON gives the kind, the job's id and what is known of the command.
func (p Promoted) MarshalJSON() ([]byte, error) {
	wire := promotedJSON{
		Kind: kindPromoted, JobID: p.JobID, DurationMs: p.Result.Duration.Milliseconds(),
		Stdout: p.Result.Stdout, Stderr: p.Result.Stderr, Sandbox: p.Result.Sandbox,
	}
	if p.Result.Timeout != shell.NoTimeout {
		ms := shell.Milliseconds(p.Result.Timeout)
		wire.TimeoutMs = &ms
	}
	return plainjson.Marshal(wire)
}

const (
	kindForeground = "foreground"
	kindBackground = "background"
	kindPromoted   = "promoted"
)

type backgroundJSON struct {
	Kind  string `json:"kind"`
	JobID string `json:"jobId"`
}

type promotedJSON struct {
	Kind       string                `json:"kind"`
	JobID      string                `json:"jobId"`
	TimeoutMs  *float64              `json:"timeoutMs"`
	DurationMs int64                 `json:"durationMs"`
	Stdout     shell.CollectedOutput `json:"stdout"`
	Stderr     shell.CollectedOutput `json:"stderr"`
	Sandbox    *sandbox.Info         `json:"sandbox,omitempty"`
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
	Usage      *usageJSON            `json:"usage,omitempty"`
	Survivors  []int                 `json:"survivors,omitempty"`
	Sandbox    *sandbox.Info         `json:"sandbox,omitempty"`
}

// usageJSON describes the JSON form of subprocess.Usage.
type usageJSON struct {
	UserMs      float64 `json:"userMs"`
	SystemMs    float64 `json:"systemMs"`
	MaxRSSBytes int64   `json:"maxRssBytes"`
}

// outputSchema describes the values that this deployment's calls have.
func (b *bash) outputSchema() (*jsonschema.Schema, error) {
	foreground, err := kindSchema[foregroundJSON](kindForeground, "exitCode", "signal", "timeoutMs")
	if err != nil {
		return nil, err
	}
	kinds := []*jsonschema.Schema{foreground}
	if b.config.EnableRunInBackground {
		background, err := kindSchema[backgroundJSON](kindBackground)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, background)
	}
	if b.promotes() {
		promoted, err := kindSchema[promotedJSON](kindPromoted, "timeoutMs")
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, promoted)
	}
	if len(kinds) == 1 {
		return foreground, nil
	}
	return &jsonschema.Schema{Type: "object", OneOf: kinds}, nil
}

// kindSchema describes one kind of value, of which the named properties may be
// null.
func kindSchema[T any](kind string, nullable ...string) (*jsonschema.Schema, error) {
	schema, err := tool.SchemaFor[T]()
	if err != nil {
		return nil, err
	}
	schema.Properties["kind"].Enum = []any{kind}
	for _, name := range nullable {
		property := schema.Properties[name]
		property.Type, property.Types = "", []string{property.Type, "null"}
	}
	return schema, nil
}
