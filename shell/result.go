package shell

import (
	"time"

	"hardshell/internal/plainjson"
	"hardshell/internal/signame"
	"hardshell/sandbox"
	"hardshell/subprocess"
)

// Result is the outcome of one foreground run. Every outcome is a field of its
// own.
type Result struct {
	// ExitCode is nil when the command died from a signal, or could not be
	// killed.
	ExitCode *int
	// Signal is the name of the signal that ended it, "SIGKILL" for instance,
	// or "" when it exited.
	Signal string
	// TimedOut is true when the timeout was the first cause to cut the command
	// short, Aborted when the caller's context was.
	TimedOut bool
	Aborted  bool
	// Timeout is the effective one; NoTimeout when there was none.
	Timeout time.Duration
	// Duration is the time from the spawn to the command's end.
	Duration time.Duration
	// Usage is what the command used, nil when that is not known.
	Usage  *subprocess.Usage
	Stdout CollectedOutput
	Stderr CollectedOutput
	// Survivors lists processes of a terminated tree that could not be proven
	// dead, nil when there are none.
	Survivors []int
	// Sandbox is nil when no sandboxing executor handled the command.
	Sandbox *sandbox.Info
	// Process is the command when it was not waited for any longer: see
	// Spec.Yield. The outcomes are then its, and the outputs what it has written
	// so far.
	Process Process
}

// Status is the exit status that a shell would report: the command's own, or 128
// and the number of the signal that ended it.
func (r *Result) Status() int {
	if r.ExitCode != nil {
		return *r.ExitCode
	}
	return 128 + signame.Number(r.Signal)
}

// resultJSON is the wire form of a Result: docs, "JSON of a foreground run".
type resultJSON struct {
	Kind       string            `json:"kind"`
	ExitCode   *int              `json:"exitCode"`
	Signal     *string           `json:"signal"`
	TimedOut   bool              `json:"timedOut"`
	Aborted    bool              `json:"aborted"`
	TimeoutMs  *float64          `json:"timeoutMs"`
	DurationMs int64             `json:"durationMs"`
	Usage      *subprocess.Usage `json:"usage,omitempty"`
	Stdout     CollectedOutput   `json:"stdout"`
	Stderr     CollectedOutput   `json:"stderr"`
	Survivors  []int             `json:"survivors,omitempty"`
	Sandbox    *sandbox.Info     `json:"sandbox,omitempty"`
}

// MarshalJSON gives the wire form, kind "foreground". TimeoutMs is null when
// there was no timeout.
func (r Result) MarshalJSON() ([]byte, error) {
	wire := resultJSON{
		Kind: "foreground", ExitCode: r.ExitCode,
		TimedOut: r.TimedOut, Aborted: r.Aborted,
		DurationMs: r.Duration.Milliseconds(), Usage: r.Usage,
		Stdout: r.Stdout, Stderr: r.Stderr,
		Survivors: r.Survivors, Sandbox: r.Sandbox,
	}
	if r.Signal != "" {
		wire.Signal = &r.Signal
	}
	if r.Timeout != NoTimeout {
		ms := Milliseconds(r.Timeout)
		wire.TimeoutMs = &ms
	}
	return plainjson.Marshal(wire)
}

// Milliseconds is d in milliseconds, fractions included: the unit of every
// interface.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
