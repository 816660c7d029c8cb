package hostwire

import (
	"bytes"
	"encoding/json"
	"errors"
	"syscall"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/spawn"
)

// Argument is the first argument of the program that makes it a session host;
// the home and the session's id follow.
const Argument = "session-host"

// FirstDescriptor is the connection that a session host is started with.
const FirstDescriptor = 3

// Magic and Version begin every connection. Version changes with every change
// that an older or a newer process would misread.
const (
	Magic   = "hardshell-host"
	Version = 2
)

// Message is everything that is ever said: exactly one of the pointers is set.
type Message struct {
	// Request numbers what is answered, and the answer. It is chosen by the
	// client, unique while unanswered, 0 for what has no answer.
	Request uint64 `json:"request,omitempty"`
	// Files is how many of the descriptors belong to this message.
	Files int `json:"files,omitempty"`

	// From the client.
	Attach  *Attach  `json:"attach,omitempty"`
	Confine *Confine `json:"confine,omitempty"`
	Denied  *Denied  `json:"denied,omitempty"`
	Spawn   *Spawn   `json:"spawn,omitempty"`
	End     *End     `json:"end,omitempty"`
	Tell    *Tell    `json:"tell,omitempty"`
	Close   *Close   `json:"close,omitempty"`

	// From the host: Failure instead of an answer, or alone before the host
	// ends the connection.
	Attached  *Attached  `json:"attached,omitempty"`
	Confined  *Confined  `json:"confined,omitempty"`
	WasDenied *WasDenied `json:"wasDenied,omitempty"`
	Spawned   *Spawned   `json:"spawned,omitempty"`
	Exited    *Exited    `json:"exited,omitempty"`
	Ended     *Ended     `json:"ended,omitempty"`
	Gone      *Gone      `json:"gone,omitempty"`
	Told      *Told      `json:"told,omitempty"`
	Recorded  *Recorded  `json:"recorded,omitempty"`
	Cleared   *Cleared   `json:"cleared,omitempty"`
	Closed    *Closed    `json:"closed,omitempty"`
	Failure   *Failure   `json:"failure,omitempty"`
}

// Attach is a client's first message.
type Attach struct {
	Magic   string `json:"magic"`
	Version int    `json:"version"`
	Session string `json:"session"`
	// Key is the content of the key file. A connection that the host was
	// started with needs none.
	Key []byte `json:"key,omitempty"`
	// Keep, of the last client that detaches, leaves the recorded commands of the
	// session running; without it they are ended. Others end with their client.
	Keep bool `json:"keep,omitempty"`
	// OrphanAfter is how long recorded commands run on with nobody attached; 0
	// is for ever. The last client that says it counts.
	OrphanAfter time.Duration `json:"orphanAfter,omitempty"`
	PID         int           `json:"pid"`
}

// Attached answers Attach.
type Attached struct {
	Version int `json:"version"`
	PID     int `json:"pid"`
	// Tags are the marks for the first spawns. Each spawn uses one up and brings
	// another, so that a client knows how to find also what a host that died
	// had just begun to spawn. They bound how many spawns are under way at once.
	Tags []uint64 `json:"tags"`
}

// Confine asks for the report of a policy, a sandbox.Policy.
type Confine struct {
	Policy json.RawMessage `json:"policy"`
}

// Confined answers Confine with a sandbox.Report.
type Confined struct {
	Report json.RawMessage `json:"report"`
	// Name is what the confinement is called in messages.
	Name string `json:"name"`
}

// Denied asks whether a policy refused something to a command, of which the
// outcome, a sandbox.Outcome, is known.
type Denied struct {
	Policy  json.RawMessage `json:"policy"`
	Outcome json.RawMessage `json:"outcome"`
}

// WasDenied answers Denied.
type WasDenied struct {
	Denied bool `json:"denied"`
}

// Spawn starts a command. Its descriptors, from 0 on, are beside the message.
type Spawn struct {
	// ID names the command from now on. It is chosen by the client.
	ID   uint64 `json:"id"`
	Path []byte `json:"path"`
	Dir  []byte `json:"dir"`
	Argv List   `json:"argv"`
	Env  List   `json:"env"`
	Tag  uint64 `json:"tag"`
	// Grace is in nanoseconds.
	Grace time.Duration `json:"grace"`
	// Policy is a sandbox.Policy; absent, nothing confines the command.
	Policy json.RawMessage `json:"policy,omitempty"`
	// Report is the report that Confined announced for it.
	Report json.RawMessage `json:"report,omitempty"`
	// Record is the directory of the command's record. The host then makes the
	// descriptors 0 to 2, keeps what is written, and tells of the command by the
	// record's key; the descriptors beside the message follow from 3 on. ID, Tag
	// and Grace say nothing.
	Record []byte `json:"record,omitempty"`
}

// Spawned answers Spawn, also when nothing was spawned.
type Spawned struct {
	PID int `json:"pid,omitempty"`
	// Tag is for another spawn.
	Tag uint64 `json:"tag"`
	// Failure, when set, says why nothing was spawned.
	Failure *Failure `json:"failure,omitempty"`
}

// End ends a command: SIGTERM, the grace, SIGKILL, or with Kill at once.
type End struct {
	ID   uint64 `json:"id"`
	Kill bool   `json:"kill,omitempty"`
}

// Close ends all commands of this client. With Hurry it is no request, but cuts
// the grace of the Close before it short.
type Close struct {
	Hurry bool `json:"hurry,omitempty"`
}

// Closed answers Close when all is quiet. It is the host's last message.
type Closed struct {
	// Failure names what could not be ended.
	Failure *Failure `json:"failure,omitempty"`
}

// Exited says how a leader ended.
type Exited struct {
	ID       uint64        `json:"id"`
	Code     int           `json:"code"`
	Signal   string        `json:"signal,omitempty"`
	Duration time.Duration `json:"duration"`
	// User, System and MaxRSS are those of proctree.Exit.
	User   time.Duration `json:"user,omitempty"`
	System time.Duration `json:"system,omitempty"`
	MaxRSS int64         `json:"maxRss,omitempty"`
	// Left is false when the host lets go of the command with this message:
	// nothing suggests that anything is left of it.
	Left bool `json:"left,omitempty"`
}

// Ended says that a termination is over.
type Ended struct {
	ID        uint64 `json:"id"`
	Survivors []int  `json:"survivors,omitempty"`
}

// Gone says that nothing is left of a command. The host lets go of it.
type Gone struct {
	ID uint64 `json:"id"`
}

// Tell says something to the recorded command of a key: at most one of the rest
// is set. With none it asks whether there is such a command.
type Tell struct {
	Key string `json:"key"`
	// Stop ends it.
	Stop *Stop `json:"stop,omitempty"`
	// Input is for its standard input.
	Input *Input `json:"input,omitempty"`
	// Promote makes a command that would end with its client one of the session.
	Promote bool `json:"promote,omitempty"`
}

// Stop ends a recorded command, with Kill at once.
type Stop struct {
	Reason string `json:"reason,omitempty"`
	Kill   bool   `json:"kill,omitempty"`
}

// Input is bytes for a command, and perhaps their end.
type Input struct {
	Data []byte `json:"data,omitempty"`
	EOF  bool   `json:"eof,omitempty"`
}

// Told answers Tell. Found is false when no such command runs.
type Told struct {
	Found bool `json:"found,omitempty"`
}

// Recorded tells every client that a recorded command has settled. Status is a
// record.Status, which its record has by now if that could be written.
type Recorded struct {
	Key    string          `json:"key"`
	Status json.RawMessage `json:"status"`
}

// Cleared tells every client that nothing is left of a recorded command, or that
// its start came to nothing: whoever took it for one that runs looks again.
type Cleared struct {
	Key       string `json:"key"`
	Unstarted bool   `json:"unstarted,omitempty"`
}

// Failure is an error that crosses.
type Failure struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
	// Stage, Path and Errno are those of a spawn.Error that was the cause.
	Stage spawn.Stage   `json:"stage,omitempty"`
	Path  []byte        `json:"path,omitempty"`
	Errno syscall.Errno `json:"errno,omitempty"`
}

// NewFailure returns what crosses of an error; nil for nil. An error without a
// code gets the given one.
func NewFailure(err error, code fault.Code) *Failure {
	if err == nil {
		return nil
	}
	if own := fault.CodeOf(err); own != "" {
		code = own
	}
	f := &Failure{Code: code, Message: err.Error()}
	var cause *spawn.Error
	if errors.As(err, &cause) {
		f.Stage, f.Path, f.Errno = cause.Stage, []byte(cause.Path), cause.Errno
	}
	return f
}

// Err is the error on the other side, nil for nil.
func (f *Failure) Err() error {
	if f == nil {
		return nil
	}
	err := &fault.Error{Code: f.Code, Message: f.Message}
	if f.Stage != "" {
		err.Err = &spawn.Error{Stage: f.Stage, Path: string(f.Path), Errno: f.Errno}
	}
	return err
}

// List is strings that need not be UTF-8 and hold no NUL byte: arguments and
// environments. They cross as one block, each closed by a NUL byte.
type List []string

// MarshalJSON implements json.Marshaler.
func (l List) MarshalJSON() ([]byte, error) {
	size := 0
	for _, s := range l {
		size += len(s) + 1
	}
	block := make([]byte, 0, size)
	for _, s := range l {
		block = append(append(block, s...), 0)
	}
	return json.Marshal(block)
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *List) UnmarshalJSON(data []byte) error {
	var block []byte
	if err := json.Unmarshal(data, &block); err != nil {
		return err
	}
	*l = nil
	for len(block) > 0 {
		one, rest, closed := bytes.Cut(block, []byte{0})
		if !closed {
			return errUnclosed
		}
		*l = append(*l, string(one))
		block = rest
	}
	return nil
}

var errUnclosed = fault.New(fault.Invariant, "a list of strings ends in the middle of one")
