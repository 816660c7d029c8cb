package shelltest

import (
	"os"
	"strings"
	"testing"

	"hardshell/internal/fault"
	"hardshell/shell"
)

// wantExit checks that a command exited by itself with a status.
func wantExit(t *testing.T, res *shell.Result, code int) {
	t.Helper()
	switch {
	case res.ExitCode == nil:
		t.Errorf("the command died from %q, want exit status %d\nstderr: %s", res.Signal, code, res.Stderr.Text)
	case *res.ExitCode != code || res.Signal != "":
		t.Errorf("exit status %d, signal %q; want %d and no signal\nstderr: %s", *res.ExitCode, res.Signal, code, res.Stderr.Text)
	}
}

// wantSignal checks that a command died from a signal.
func wantSignal(t *testing.T, res *shell.Result, signal string) {
	t.Helper()
	if res.ExitCode != nil {
		t.Errorf("exit status %d (signal %q); want none and signal %s", *res.ExitCode, res.Signal, signal)
	} else if res.Signal != signal {
		t.Errorf("signal %q, want %s", res.Signal, signal)
	}
}

// cut is what ended a command before its time.
type cut struct{ timedOut, aborted bool }

var (
	uncut    = cut{}
	timedOut = cut{timedOut: true}
	aborted  = cut{aborted: true}
)

func wantCut(t *testing.T, res *shell.Result, want cut) {
	t.Helper()
	if got := (cut{res.TimedOut, res.Aborted}); got != want {
		t.Errorf("timedOut %v, aborted %v; want %v, %v", got.timedOut, got.aborted, want.timedOut, want.aborted)
	}
	if res.Survivors != nil {
		t.Errorf("survivors %v, want none", res.Survivors)
	}
}

// wantStdout checks the captured standard output of a command that kept within
// its window.
func wantStdout(t *testing.T, res *shell.Result, text string) {
	t.Helper()
	wantWhole(t, "stdout", res.Stdout, text)
}

func wantStderr(t *testing.T, res *shell.Result, text string) {
	t.Helper()
	wantWhole(t, "stderr", res.Stderr, text)
}

func wantWhole(t *testing.T, name string, out shell.CollectedOutput, text string) {
	t.Helper()
	if out.Text != text {
		t.Errorf("%s is %q, want %q", name, clip(out.Text), clip(text))
	}
	if out.Truncated || out.SpillPath != "" {
		t.Errorf("%s is marked as cut (truncated %v, spill %q)", name, out.Truncated, out.SpillPath)
	}
}

// wantFile checks that a file holds exactly these bytes.
func wantFile(t *testing.T, path, content string) {
	t.Helper()
	if path == "" {
		t.Error("no spill file is named")
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("the spill file: %v", err)
	} else if string(got) != content {
		t.Errorf("the spill file holds %d bytes (%q), want %d (%q)", len(got), clip(string(got)), len(content), clip(content))
	}
}

// wantFault checks the code of an error and that its text has all these parts.
func wantFault(t *testing.T, err error, code fault.Code, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %s", code)
		return
	}
	if got := fault.CodeOf(err); got != code {
		t.Errorf("error %q has the code %q, want %s", clip(err.Error()), got, code)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", clip(err.Error()), part)
		}
	}
}

// wantState checks how a background process ended. A negative code stands for
// none.
func wantState(t *testing.T, got shell.ProcessState, status shell.Status, code int, signal string) {
	t.Helper()
	gotCode := -1
	if got.ExitCode != nil {
		gotCode = *got.ExitCode
	}
	if got.Status != status || gotCode != code || got.Signal != signal {
		t.Errorf("state %s, exit status %d, signal %q; want %s, %d, %q", got.Status, gotCode, got.Signal, status, code, signal)
	}
}

func clip(text string) string {
	const longest = 300
	if len(text) > longest {
		return text[:longest/2] + " … " + text[len(text)-longest/2:]
	}
	return text
}
