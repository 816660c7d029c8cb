package bash

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"hardshell/internal/fault"
	"hardshell/sandbox"
)

// Input is the arguments of a call. A nil pointer was not sent.
type Input struct {
	Command            string   `json:"command"`
	Description        string   `json:"description"`
	TimeoutMs          *float64 `json:"timeoutMs,omitempty"`
	Workdir            string   `json:"workdir,omitempty"`
	RunInBackground    bool     `json:"run_in_background,omitempty"`
	Interactive        bool     `json:"interactive,omitempty"`
	SandboxPermissions *string  `json:"sandbox_permissions,omitempty"`
	Justification      *string  `json:"justification,omitempty"`
}

// The properties that a deployment may leave unpublished.
const (
	runInBackground    = "run_in_background"
	interactive        = "interactive"
	sandboxPermissions = "sandbox_permissions"
	justification      = "justification"
)

// description is the tool's text for the model.
func (b *bash) description() string {
	text := b.prose["tool"]
	if b.config.EnableRunInBackground {
		text += "\n\n" + b.prose["background"]
	}
	if b.promotes() {
		text += "\n\n" + b.prose["promotion"]
	}
	return text
}

// hidden lists the properties that this deployment does not publish. They are
// still seen when they are sent: to be refused, not to be ignored.
func (b *bash) hidden() []string {
	var names []string
	if !b.config.EnableRunInBackground {
		names = append(names, runInBackground, interactive)
	}
	if !b.confines {
		names = append(names, sandboxPermissions, justification)
	}
	return names
}

// refine completes the generated schema. The modes to escalate to are the same
// whatever the standing mode is: a session may have been narrowed.
func (b *bash) refine(schema *jsonschema.Schema) {
	for name, property := range schema.Properties {
		property.Description = b.prose[name]
	}
	schema.Properties[sandboxPermissions].Enum = []any{string(sandbox.WorkspaceWrite), string(sandbox.DangerFullAccess)}
}

// validate refuses values that the schema allows, in a fixed order.
func (in Input) validate() error {
	switch {
	case blank(in.Command):
		return refused("invalid command: expected a non-empty string")
	case blank(in.Description):
		return refused("invalid description: expected a non-empty string")
	case in.TimeoutMs != nil && !(*in.TimeoutMs > 0):
		return refused("invalid timeoutMs: expected a positive number, got %s", jsonNumber(*in.TimeoutMs))
	case in.SandboxPermissions != nil && in.Justification == nil:
		return refused("invalid escalation: sandbox_permissions requires a justification")
	case in.SandboxPermissions == nil && in.Justification != nil:
		return refused("invalid escalation: justification is only valid together with sandbox_permissions")
	case in.Justification != nil && blank(*in.Justification):
		return refused("invalid justification: expected a non-empty sentence")
	}
	return nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func jsonNumber(n float64) string {
	text, err := json.Marshal(n)
	if err != nil { // no JSON number
		return fmt.Sprint(n)
	}
	return string(text)
}

// refused is an argument that is well formed and cannot be honoured.
func refused(format string, args ...any) error {
	return fault.New(fault.InvalidArgs, format, args...)
}
