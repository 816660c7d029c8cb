//go:build unix

package subprocesstest

import (
	"strings"
	"time"

	"hardshell/subprocess"
)

// collect is an output that keeps its last bytes in memory.
func collect(maxBytes int64) subprocess.Output {
	return subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: maxBytes}
}

// collectSpilling is collect with a file for what outgrows it.
func collectSpilling(maxBytes, maxSpill int64) subprocess.Output {
	o := collect(maxBytes)
	o.Spill = &subprocess.Spill{MaxBytes: maxSpill}
	return o
}

// data is a standard input of these bytes.
func data(text string) subprocess.Stdin {
	return subprocess.Stdin{Mode: subprocess.StdinData, Data: strings.NewReader(text)}
}

func stdout(h subprocess.Handle) string { return text(h, subprocess.Stdout) }
func stderr(h subprocess.Handle) string { return text(h, subprocess.Stderr) }

// text is what was collected of a stream, "" when nothing is.
func text(h subprocess.Handle, stream subprocess.Stream) string {
	if r := h.Reader(stream); r != nil {
		return r.Collected().Text
	}
	return ""
}

// collected is the summary of the standard output.
func collected(h subprocess.Handle) subprocess.CollectedOutput {
	return h.Reader(subprocess.Stdout).Collected()
}

// expectStdout expects the collected standard output.
func (f *fixture) expectStdout(h subprocess.Handle, want string) {
	f.Helper()
	if got := stdout(h); got != want {
		f.Errorf("stdout is %.300q, want %.300q (stderr: %.300q)", got, want, stderr(h))
	}
}

// expectStderr expects the collected standard error.
func (f *fixture) expectStderr(h subprocess.Handle, want string) {
	f.Helper()
	if got := stderr(h); got != want {
		f.Errorf("stderr is %.300q, want %.300q", got, want)
	}
}

// expectCode expects that the leader exited by itself with a status.
func (f *fixture) expectCode(h subprocess.Handle, code int) {
	f.Helper()
	f.expectExit(h, code, "")
}

// expectSignal expects that the leader died from a signal.
func (f *fixture) expectSignal(h subprocess.Handle, signal string) {
	f.Helper()
	f.expectExit(h, -1, signal)
}

func (f *fixture) expectExit(h subprocess.Handle, code int, signal string) {
	f.Helper()
	if e := h.Exit(); e.Code != code || e.Signal != signal {
		f.Errorf("Exit is code %d, signal %q; want %d, %q (stderr: %.300q)", e.Code, e.Signal, code, signal, stderr(h))
	}
}

// expectCause expects the cause of the spawn context in the exit.
func (f *fixture) expectCause(h subprocess.Handle, cause error) {
	f.Helper()
	if got := h.Exit().Cause; got != cause {
		f.Errorf("Exit.Cause is %v, want %v", got, cause)
	}
}

// expectDead expects that the tree was ended without a rest: nothing carries
// the marker and nothing is listed.
func (f *fixture) expectDead(h subprocess.Handle) {
	f.Helper()
	f.expectGone()
	if s := h.Survivors(); len(s) != 0 {
		f.Errorf("Survivors = %v, want none", s)
	}
}

// expectRunning expects that Done is still to come.
func (f *fixture) expectRunning(h subprocess.Handle) {
	f.Helper()
	select {
	case <-h.Done():
		f.Errorf("Done has come: %+v, stdout %.300q, stderr %.300q", h.Exit(), stdout(h), stderr(h))
	default:
	}
}

// expectAtLeast expects that something took its time. There is no expectation
// of the opposite kind, except against hangs: machines are slow.
func (f *fixture) expectAtLeast(what string, took, atLeast time.Duration) {
	f.Helper()
	if took < atLeast {
		f.Errorf("%s took %v, want at least %v", what, took, atLeast)
	}
}
