package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"hardshell/internal/fault"
)

func TestCodesNeverChange(t *testing.T) {
	for code, want := range map[fault.Code]string{
		fault.InvalidArgument:       "INVALID_ARGUMENT",
		fault.WorkdirNotFound:       "WORKDIR_NOT_FOUND",
		fault.WorkdirNotDirectory:   "WORKDIR_NOT_DIRECTORY",
		fault.ShellNotFound:         "SHELL_NOT_FOUND",
		fault.SpawnFailed:           "SPAWN_FAILED",
		fault.SandboxUnavailable:    "SANDBOX_UNAVAILABLE",
		fault.Aborted:               "ABORTED",
		fault.AbortedBeforeDispatch: "ABORTED_BEFORE_DISPATCH",
		fault.UnknownTool:           "UNKNOWN_TOOL",
		fault.InvalidArgs:           "INVALID_ARGS",
		fault.InvalidToolOutput:     "INVALID_TOOL_OUTPUT",
		fault.LockTimeout:           "LOCK_TIMEOUT",
		fault.Invariant:             "INVARIANT",
	} {
		if string(code) != want || code.Error() != want {
			t.Errorf("%q reads as %q, want %q", string(code), code.Error(), want)
		}
	}
}

func TestAnErrorIsItsCodeAndItsCause(t *testing.T) {
	cause := &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}
	err := fault.New(fault.WorkdirNotFound, "no %q: %w", "x", cause)
	for name, c := range map[string]struct{ got, want any }{
		"the message":            {err.Error(), `no "x": open x: file does not exist`},
		"the cause":              {err.Unwrap(), error(cause)},
		"is its code":            {errors.Is(err, fault.WorkdirNotFound), true},
		"is no other code":       {errors.Is(err, fault.SpawnFailed), false},
		"is its cause":           {errors.Is(err, fs.ErrNotExist), true},
		"is no other cause":      {errors.Is(err, fs.ErrExist), false},
		"is its code, wrapped":   {errors.Is(fmt.Errorf("more: %w", err), fault.WorkdirNotFound), true},
		"is its code, joined":    {errors.Is(errors.Join(errors.New("x"), err), fault.WorkdirNotFound), true},
		"without a cause is one": {errors.Is(fault.New(fault.Invariant, "x"), fs.ErrNotExist), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if cause := fault.New(fault.Invariant, "100%%").Unwrap(); cause != nil {
		t.Errorf("an error without a cause has %v", cause)
	}
}

func TestAnErrorHasTheCodesOfItsCauses(t *testing.T) {
	inner := fault.New(fault.SpawnFailed, "inner")
	outer := fault.New(fault.InvalidArgument, "outer: %w", inner)
	if !errors.Is(outer, fault.InvalidArgument) || !errors.Is(outer, fault.SpawnFailed) {
		t.Error("a code of the chain is not found")
	}
	if code := fault.CodeOf(outer); code != fault.InvalidArgument {
		t.Errorf("CodeOf gives %q, want the outermost", code)
	}
}

func TestCodeOf(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want fault.Code
	}{
		{"of nothing", nil, ""},
		{"of another error", errors.New("x"), ""},
		{"of a context", context.Canceled, ""},
		{"of an error", fault.New(fault.Aborted, "x"), fault.Aborted},
		{"of a wrapped error", fmt.Errorf("x: %w", fault.New(fault.Aborted, "x")), fault.Aborted},
		{"of a joined error", errors.Join(errors.New("x"), fault.New(fault.Aborted, "x")), fault.Aborted},
		{"of a bare code", fault.Aborted, fault.Aborted},
		{"of a wrapped code", fmt.Errorf("x: %w", fault.Aborted), fault.Aborted},
		{"of an error that wraps a code", fault.New(fault.Invariant, "x: %w", fault.Aborted), fault.Invariant},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fault.CodeOf(c.err); got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}

func TestAnErrorCanBeTakenApart(t *testing.T) {
	var f *fault.Error
	if !errors.As(fmt.Errorf("x: %w", fault.New(fault.LockTimeout, "held by %d", 7)), &f) {
		t.Fatal("it is not found")
	}
	if f.Code != fault.LockTimeout || f.Message != "held by 7" || f.Err != nil {
		t.Errorf("%+v", f)
	}
}
