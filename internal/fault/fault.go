// Package fault holds the error codes that scripts and clients are written
// against, and the one error type that carries them.
//
// A Code is itself an error, so that it serves as a sentinel:
//
//	if errors.Is(err, fault.WorkdirNotFound) { … }
//
// Every message says what to do. None contains the value of an environment
// variable, of standard input or of a setting.
package fault

import (
	"errors"
	"fmt"
)

// Code names a kind of failure. The strings are an interface: they appear in
// JSON on every face and never change.
type Code string

// Each code is documented where it is returned.
const (
	InvalidArgument       Code = "INVALID_ARGUMENT"
	WorkdirNotFound       Code = "WORKDIR_NOT_FOUND"
	WorkdirNotDirectory   Code = "WORKDIR_NOT_DIRECTORY"
	ShellNotFound         Code = "SHELL_NOT_FOUND"
	SpawnFailed           Code = "SPAWN_FAILED"
	SandboxUnavailable    Code = "SANDBOX_UNAVAILABLE"
	Aborted               Code = "ABORTED"
	AbortedBeforeDispatch Code = "ABORTED_BEFORE_DISPATCH"
	UnknownTool           Code = "UNKNOWN_TOOL"
	InvalidArgs           Code = "INVALID_ARGS"
	InvalidToolOutput     Code = "INVALID_TOOL_OUTPUT"
	UnknownJob            Code = "UNKNOWN_JOB"
	ForeignJob            Code = "FOREIGN_JOB"
	JobLimit              Code = "JOB_LIMIT"
	LockTimeout           Code = "LOCK_TIMEOUT"
	SettingsConflict      Code = "SETTINGS_CONFLICT"
	SettingsInvalid       Code = "SETTINGS_INVALID"
	SettingsUnknown       Code = "SETTINGS_UNKNOWN_NAMESPACE"
	SettingsReadOnly      Code = "SETTINGS_READ_ONLY"
	PathNotContainer      Code = "PATH_NOT_CONTAINER"
	DocumentInvalid       Code = "DOCUMENT_INVALID"
	Invariant             Code = "INVARIANT"
)

// Error makes a Code usable as a sentinel with errors.Is.
func (c Code) Error() string { return string(c) }

// Error is a failure with a stable code and a message for a person.
type Error struct {
	Code    Code
	Message string
	// Err is the cause, a system call error for instance; nil when there is none.
	Err error
}

// New returns an Error with a formatted message. What the verb %w formats is
// the cause.
func New(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	cause := errors.Unwrap(err)
	if _, several := err.(interface{ Unwrap() []error }); several {
		cause = err
	}
	return &Error{Code: code, Message: err.Error(), Err: cause}
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is this error's code.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// CodeOf returns the code that err carries, or "" when it carries none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	var c Code
	if errors.As(err, &c) {
		return c
	}
	return ""
}
