// Package sandbox is the seam between an executor and whatever confines its
// commands: the modes, the policy of one call, the report of what was enforced,
// and the refusal.
//
// It promises that confinement fails closed: a confined mode that this host
// cannot enforce is an error with the code SANDBOX_UNAVAILABLE, never an
// unconfined run. Modes govern what a command may do to files; network and
// process visibility are facts of a policy and of the tier that enforces it.
package sandbox

import (
	"fmt"

	"hardshell/internal/fault"
)

// Mode is how much of the file system a command may change.
type Mode string

// The closed vocabulary of modes, from the narrowest to the widest.
const (
	// ReadOnly lets a command write to its private temp only.
	ReadOnly Mode = "read-only"
	// WorkspaceWrite adds the workspace and the policy's other writable roots.
	WorkspaceWrite Mode = "workspace-write"
	// DangerFullAccess does not confine at all.
	DangerFullAccess Mode = "danger-full-access"
)

// Modes lists every mode, from the narrowest to the widest.
func Modes() []Mode { return []Mode{ReadOnly, WorkspaceWrite, DangerFullAccess} }

// ParseMode returns the mode that s spells. An unknown word is an
// INVALID_ARGUMENT error, never a default.
func ParseMode(s string) (Mode, error) {
	for _, m := range Modes() {
		if string(m) == s {
			return m, nil
		}
	}
	return "", fault.New(fault.InvalidArgument,
		"unknown sandbox mode %q: use %s, %s or %s", s, ReadOnly, WorkspaceWrite, DangerFullAccess)
}

// Info is what is known about the confinement of one finished command. It is
// present exactly when a sandboxing executor handled the command.
type Info struct {
	// Mode is the mode that the command ran under.
	Mode Mode `json:"mode"`
	// Denied is true when the sandbox refused a file operation, whatever the
	// exit status.
	Denied bool `json:"denied"`
	// Enforcement is "" for DangerFullAccess, which nothing confines, and so
	// are the fields from Backend on.
	Enforcement Enforcement `json:"enforcement,omitempty"`
	// RunnerFailed is true when the sandbox itself failed, so that the command
	// never ran.
	RunnerFailed bool     `json:"runnerFailed"`
	Backend      string   `json:"backend,omitempty"`
	Tier         Tier     `json:"tier,omitempty"`
	Network      Network  `json:"network,omitempty"`
	Effects      *Effects `json:"effects,omitempty"`
}

// ErrUnavailable is the code of every refusal to confine.
const ErrUnavailable = fault.SandboxUnavailable

// Unavailable returns the refusal to run a command in a mode that nothing here
// can enforce. The detail says what failed; "" leaves it out.
func Unavailable(mode Mode, detail string) error {
	message := fmt.Sprintf("no sandbox can enforce %q here, and the command was not run unconfined. "+
		"Install bubblewrap, use a Linux kernel with Landlock or user namespaces, "+
		"or choose %s to run without confinement.", string(mode), DangerFullAccess)
	if detail != "" {
		message += " Runner failure: " + detail
	}
	return &fault.Error{Code: ErrUnavailable, Message: message}
}
