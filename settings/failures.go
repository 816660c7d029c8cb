package settings

import (
	"errors"
	"fmt"
	"strings"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/settings/schema"
)

// ErrClosed is returned for whatever asks something of a closed Service.
var ErrClosed error = fault.New(fault.Aborted, "the settings are closed: open them again")

// ErrInListener is returned for a write with the context of a listener's own
// call. The listener is what the write would wait for.
var ErrInListener error = fault.New(fault.InvalidArgument,
	"a settings listener cannot write while it is called: write from a goroutine of its own with a context of its own, or from a watcher")

// ConflictError refuses a write that was derived from another revision of the
// section than the one that stands. Its code is SETTINGS_CONFLICT.
type ConflictError struct {
	NS               Namespace
	Expected, Actual uint64
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the settings of %q have changed: expected revision %d, now %d; read them again, then repeat the change", e.NS, e.Expected, e.Actual)
}

// Unwrap returns the code.
func (e *ConflictError) Unwrap() error { return fault.SettingsConflict }

// InvalidError refuses a section that does not fit its schema or its owner. Its
// code is SETTINGS_INVALID.
type InvalidError struct {
	NS Namespace
	// Problems has at least one element. No message contains a value.
	Problems []schema.Problem
}

func (e *InvalidError) Error() string {
	const shown = 5
	var b strings.Builder
	fmt.Fprintf(&b, "invalid settings of %q", e.NS)
	for i, problem := range e.Problems {
		if i == shown {
			fmt.Fprintf(&b, "; and %d more", len(e.Problems)-shown)
			break
		}
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		fmt.Fprintf(&b, "%s%s: %s", separator, problem.Path, problem.Message)
	}
	return b.String()
}

// Unwrap returns the code.
func (e *InvalidError) Unwrap() error { return fault.SettingsInvalid }

// notJSON is the refusal of data that From refused. Root takes the place of "$"
// in the path.
func notJSON(ns Namespace, root string, err error) error {
	problem := schema.Problem{Path: root, Keyword: "json", Message: "the data is not JSON-compatible"}
	var not *jsontree.NotJSON
	if errors.As(err, &not) {
		problem.Path = root + strings.TrimPrefix(not.Path, "$")
		problem.Message = "the data is not JSON-compatible: " + not.Kind
	}
	return &InvalidError{NS: ns, Problems: []schema.Problem{problem}}
}

func errNotRegistered(ns Namespace) error {
	return fault.New(fault.SettingsUnknown, "%q is not registered as a settings namespace: see the list of namespaces", string(ns))
}

func errGone(ns Namespace) error {
	return fault.New(fault.SettingsUnknown, "the registration of %q has ended before the queued write had its turn: nothing was written", string(ns))
}

func errClosedBefore(ns Namespace) error {
	return fault.New(fault.Aborted, "the settings were closed before the queued write of %q had its turn: nothing was written: %w", string(ns), ErrClosed)
}
