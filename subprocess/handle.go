package subprocess

import (
	"context"
	"io"
	"time"
)

// Runtime spawns children and owns their trees until they are gone. It is safe
// for concurrent use.
type Runtime interface {
	// Spawn starts the child that spec states. When ctx ends while the leader
	// runs, the tree is terminated; the context's cause is then in Exit.Cause.
	// An error means that nothing was spawned and nothing is left behind:
	// INVALID_ARGUMENT, ABORTED, WORKDIR_NOT_FOUND, WORKDIR_NOT_DIRECTORY or
	// SPAWN_FAILED.
	Spawn(ctx context.Context, spec Spec) (Handle, error)

	// ResolveExecutable returns the absolute path of a program as a child with
	// these environment entries would find it. Name is a bare word or an
	// absolute path.
	ResolveExecutable(ctx context.Context, name string, env map[string]string) (string, error)

	// Close terminates every live tree and returns when all are gone and all
	// files sealed; later spawns are refused. When ctx ends, the grace is cut
	// short and the rest is killed. Its error names what could not be proven
	// dead. A second Close waits for the first.
	Close(ctx context.Context) error
}

// Handle is one spawned tree. It is safe for concurrent use, and what was
// collected stays readable after the end.
type Handle interface {
	// PID is the leader's process id; it is also the id of the tree's group
	// and session.
	PID() int

	// Stdin is the write end of StdinPipe, else nil. The caller closes it.
	Stdin() io.WriteCloser
	// Output is the read end of an OutputPipe stream, else nil. The caller
	// closes it.
	Output(Stream) io.ReadCloser
	// Reader reads an OutputCollect or OutputRecord stream, else nil.
	Reader(Stream) Reader

	// Exited is closed when the leader has ended, before Done.
	Exited() <-chan struct{}
	// Done is closed when the leader was reaped and the collected streams are
	// final: ended, or cut at the drain window (the smaller of the grace and
	// 500 ms after the leader's end). After a termination it waits for the end
	// of the tree, bounded by the grace and one second.
	Done() <-chan struct{}
	// Exit is how the leader ended; the zero Exit before Done.
	Exit() Exit

	// Terminate begins the end of the tree: SIGTERM, the grace, SIGKILL. It
	// returns at once; a second call changes nothing. Nothing is signalled
	// once the tree was seen gone.
	Terminate()
	// Kill ends the tree without a grace, also one that Terminate has begun
	// to end.
	Kill()
	// WaitTree returns nil when the whole tree is gone, or the context's
	// error when that ends first.
	WaitTree(ctx context.Context) error
	// Survivors lists, after Done, the processes of the tree that resisted a
	// termination, in ascending order. It is nil for a tree that was not
	// terminated: what it left running in the background is meant to run.
	Survivors() []int
}

// Exit is how a leader ended. Code and Signal exclude each other; neither is
// known of a leader that outlived its termination.
type Exit struct {
	// Code is the exit status, -1 when the leader did not exit.
	Code int
	// Signal is the name of the signal that ended the leader, "SIGTERM" for
	// instance, or "" when it exited.
	Signal string
	// Cause is the cause of the Spawn context when that ended before the
	// leader was reaped, else nil.
	Cause error
	// Duration is the time from the spawn to the leader's end.
	Duration time.Duration
	// Usage is what the leader used, with those of its descendants that were
	// waited for; the zero Usage when that is not known.
	Usage Usage
	// Limit is the limit of the child's record that ended it, else "".
	Limit Limit
}

// Reader gives any number of readers the window of a collected stream. No read
// consumes anything, and all methods may be called before and after the end.
type Reader interface {
	// ReadFrom returns the text from a byte offset of the whole stream to its
	// current end. While the stream is open, a last character of which bytes
	// are missing is held back.
	ReadFrom(offset int64) Chunk
	// Collected summarises the stream so far.
	Collected() CollectedOutput
	// SpillPath is the file that holds the complete stream so far, "" while
	// there is none.
	SpillPath() string
}

// Chunk is what one ReadFrom saw.
type Chunk struct {
	// Text is valid UTF-8: each maximal invalid part is one U+FFFD.
	Text string
	// Next is the offset to read from next.
	Next int64
	// Lossy is true when bytes after the offset have left the window. Text is
	// then the whole window.
	Lossy bool
}

// CollectedOutput is a stream as it is reported: the tail when it outgrew its
// window.
type CollectedOutput struct {
	// Text is valid UTF-8, the tail of the stream when Truncated.
	Text string `json:"text"`
	// Truncated is true when bytes are missing from the head of Text.
	Truncated bool `json:"truncated"`
	// Bytes is the size of the whole stream.
	Bytes int64 `json:"bytes"`
	// SpillPath is the file that holds the complete stream, or "".
	SpillPath string `json:"spillPath,omitempty"`
	// Next is the offset of the byte after Text, of a stream that may go on; 0
	// where that is not told.
	Next int64 `json:"-"`
}
