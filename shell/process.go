package shell

import (
	"hardshell/sandbox"
	"hardshell/subprocess"
)

// Status is the state of a background process.
type Status string

// A process settles exactly once, as completed or killed. Kill moves it to
// killed before the process is gone.
const (
	Running   Status = "running"
	Completed Status = "completed"
	Killed    Status = "killed"
)

// Process is a command running in the background. It has no id and no owner:
// those belong to the job registry. It is safe for concurrent use.
type Process interface {
	// State is the status and, once settled, the exit facts.
	State() ProcessState
	// Done is closed when the process has settled. It always comes.
	Done() <-chan struct{}
	// ReadOutput returns what was produced since the last read, and consumes
	// it. It stays valid after the end.
	ReadOutput() ProcessRead
	// Kill ends the whole tree. It is true once, while the process runs, and
	// false after it settled or was killed.
	Kill() bool
}

// ProcessState is a copy of a process's facts.
type ProcessState struct {
	Status Status
	// ExitCode is nil while running and after death by a signal.
	ExitCode *int
	// Signal is the name of the signal that ended the process, or "".
	Signal string
	// Limit is the limit of the process's record that ended it, else "".
	Limit subprocess.Limit
	// Usage is what the process used, nil until it has settled.
	Usage *subprocess.Usage
	// Failure is why the command never started, nil when it did. Its status
	// is killed.
	Failure error
	// Survivors lists processes of the tree that could not be proven dead.
	Survivors []int
	// Sandbox is set before Done by an executor that confines.
	Sandbox *sandbox.Info
}

// ProcessRead is one consuming read.
type ProcessRead struct {
	// Delta is the new standard output, then the new standard error under the
	// line "[stderr]".
	Delta string
	// Lossy is true when unread bytes left the window before this read.
	Lossy bool
	// The spill paths name complete streams, while there are such files.
	StdoutSpillPath string
	StderrSpillPath string
}
