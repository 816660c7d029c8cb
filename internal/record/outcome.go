package record

import "encoding/json"

// Process is the content of process.json: what finds the command's processes
// again when the process that started them is gone.
type Process struct {
	PID int `json:"pid"`
	// Tag is what internal/spawn marked the tree with; 0 is none.
	Tag   uint64 `json:"tag"`
	Grace Millis `json:"graceMs"`
	// Boot is the BootID under which PID and Tag mean something.
	Boot    string `json:"boot"`
	Started int64  `json:"started"` // milliseconds since the epoch
}

// The values of Status.Status.
const (
	Completed = "completed" // it ended by itself, whatever its exit code
	Killed    = "killed"    // it was ended
	Failed    = "failed"    // it did not start, or nobody knows how it ended
)

// Status is the content of status.json: how a command ended. Times are
// milliseconds since the epoch.
type Status struct {
	Status   string `json:"status"`
	ExitCode *int   `json:"exitCode"` // nil when there is none
	Signal   string `json:"signal,omitempty"`
	Detail   string `json:"detail,omitempty"`
	// Cause says why it was ended, as CauseStopped and the others; "" when it
	// ended by itself.
	Cause string `json:"cause,omitempty"`
	// Reason is what the one gave who stopped it.
	Reason string `json:"reason,omitempty"`

	Started    int64  `json:"started"`
	Finished   int64  `json:"finished"`
	DurationMs int64  `json:"durationMs"`
	Usage      *Usage `json:"usage,omitempty"`

	Stdout StreamStatus `json:"stdout"`
	Stderr StreamStatus `json:"stderr"`

	// Survivors are processes that could not be proven dead.
	Survivors []int `json:"survivors,omitempty"`
	// Sandbox is what the sandbox has to say; this package does not read it.
	Sandbox json.RawMessage `json:"sandbox,omitempty"`
}

// Usage is what the command and its waited-for children used.
type Usage struct {
	UserMs   int64 `json:"userMs"`
	SystemMs int64 `json:"systemMs"`
	MaxRSS   int64 `json:"maxRssBytes"`
}

// StreamStatus is how much of one stream came and was kept.
type StreamStatus struct {
	Bytes int64 `json:"bytes"` // of the whole stream
	// Gap is nil when every byte is in the log.
	Gap *Gap `json:"gap,omitempty"`
	// Error says why the disk took no more; "" when it took all it should.
	Error string `json:"error,omitempty"`
}

// Gap is the part of a stream from offset From up to To, outside which every
// byte is kept. Inside, bytes may be left only when a log whose middle was
// given up was frozen later.
type Gap struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}
