package subprocess

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hardshell/internal/fault"
)

// MaxGrace bounds a Spec's grace: 2^31-1 milliseconds, the seeds' timer limit.
const MaxGrace = math.MaxInt32 * time.Millisecond

// Stream names one of a child's two outputs.
type Stream string

// The output streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// StdinMode says where a child's standard input comes from.
type StdinMode int

// The zero StdinMode is invalid: a Spec states its input.
const (
	// StdinIgnore is /dev/null.
	StdinIgnore StdinMode = iota + 1
	// StdinPipe hands the write end to the caller: Handle.Stdin.
	StdinPipe
	// StdinData is a pipe fed from Stdin.Data, then closed. A child that does
	// not read it is no error.
	StdinData
	// StdinInherit is this process's own standard input.
	StdinInherit
)

// Stdin is the disposition of a child's standard input.
type Stdin struct {
	Mode StdinMode
	// Data is read until its end, or until the child closes its input or the
	// command is over. A Read that is under way then finishes on its own: a
	// reader that may block for ever holds one goroutine for as long.
	Data io.Reader
}

// OutputMode says where an output stream of a child goes.
type OutputMode int

// The zero OutputMode is invalid: a Spec states its outputs.
const (
	// OutputIgnore is /dev/null.
	OutputIgnore OutputMode = iota + 1
	// OutputPipe hands the read end to the caller: Handle.Output.
	OutputPipe
	// OutputInherit is this process's own descriptor.
	OutputInherit
	// OutputCollect keeps the last MaxBytes in memory: Handle.Reader.
	OutputCollect
	// OutputRecord keeps the stream in the files of the Spec's Record; its
	// Reader shows the last MaxBytes of them.
	OutputRecord
)

// Output is the disposition of one output stream.
type Output struct {
	Mode OutputMode
	// MaxBytes is the size of the window that OutputCollect keeps, and that the
	// Reader of OutputRecord shows, in bytes.
	MaxBytes int64
	// Spill, when set, keeps a collected stream that outgrows its window in a
	// private file. Without it the head is lost.
	Spill *Spill
	// Tee, when set, receives every collected byte as it arrives. A Tee that
	// blocks holds the child back as a full pipe would. After a failed Write
	// the child's stream is closed, as if its reader had gone.
	Tee io.Writer
}

// Spill bounds the file that holds a stream which outgrew its window.
type Spill struct {
	// MaxBytes bounds the whole stream: a longer one has no file at all.
	MaxBytes int64
}

// Spec is one child to spawn. It has no defaults: what is not stated is
// refused.
type Spec struct {
	// Argv is the program and its arguments, never read by a shell. A program
	// without a slash is looked up in the PATH of the child's environment; a
	// relative path with one is taken from Dir.
	Argv []string
	// Dir is the child's working directory; "" is this process's own. A
	// relative one is taken from this process's own.
	Dir string
	// Env is merged over the scrubbed environment of this process, from which
	// Unset takes names away.
	Env   map[string]string
	Unset []string
	// Dsh is merged last: nothing displaces a managed fact.
	Dsh DshEnvironment

	Stdin  Stdin
	Stdout Output
	Stderr Output
	// ExtraFiles become the child's descriptors from 3 on. The caller keeps
	// and closes its own.
	ExtraFiles []*os.File

	// Record, when set, is the directory of the child's record: absolute, with
	// what was asked in it already. The runtime keeps the outputs there, which
	// both are OutputRecord, and how the child ended. A child whose record says
	// that it takes input gets it there; Stdin is StdinIgnore. When the runtime is
	// closed or dies, such a child is left to who looks after its record. A runtime that keeps
	// no records refuses the spawn with INVALID_ARGUMENT.
	Record string

	// Grace is the time between SIGTERM and SIGKILL.
	Grace time.Duration

	// Confinement confines the child; nil does not. A runtime that cannot
	// enforce it refuses the spawn with SANDBOX_UNAVAILABLE: nothing that was
	// to be confined ever runs unconfined.
	Confinement Confinement
}

// Confinement is how a child is confined. A sandbox provider makes it for the
// runtimes that it belongs to; to all others it is opaque.
type Confinement interface {
	// Confines describes it for messages, "native namespaces" for instance.
	Confines() string
}

// Validate refuses a spec that no runtime could spawn, before anything is
// spawned. The order of the checks is part of the contract: the grace, the
// context, the argv, then the rest.
func (s *Spec) Validate(ctx context.Context) error {
	if s.Grace <= 0 || s.Grace > MaxGrace {
		return fault.New(fault.InvalidArgument, "subprocess graceMs must be a positive finite number no greater than 2147483647")
	}
	if ctx.Err() != nil {
		return AbortedBeforeSpawn(ctx)
	}
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return fault.New(fault.InvalidArgument, "subprocess argv must begin with a non-empty program name")
	}
	for _, arg := range s.Argv {
		if strings.IndexByte(arg, 0) >= 0 {
			return fault.New(fault.InvalidArgument, "the command contains a NUL byte, which no program can be given: remove it")
		}
	}
	if strings.IndexByte(s.Dir, 0) >= 0 {
		return fault.New(fault.InvalidArgument, "the workdir contains a NUL byte: remove it")
	}
	if err := validateEnv(s.Env); err != nil {
		return err
	}
	if err := s.Stdin.validate(); err != nil {
		return err
	}
	if err := s.Stdout.validate(Stdout); err != nil {
		return err
	}
	if err := s.Stderr.validate(Stderr); err != nil {
		return err
	}
	return s.validateRecord()
}

func (s *Spec) validateRecord() error {
	recorded := s.Record != ""
	switch {
	case (s.Stdout.Mode == OutputRecord) != recorded || (s.Stderr.Mode == OutputRecord) != recorded:
		return fault.New(fault.InvalidArgument, "subprocess outputs are recorded together, and in a record")
	case recorded && s.Stdin.Mode != StdinIgnore:
		return fault.New(fault.InvalidArgument, "subprocess stdin of a recorded child is that of its record: state ignore")
	case recorded && (!filepath.IsAbs(s.Record) || strings.IndexByte(s.Record, 0) >= 0):
		return fault.New(fault.InvalidArgument, "subprocess record must be an absolute path")
	}
	return nil
}

func (s Stdin) validate() error {
	if s.Mode < StdinIgnore || s.Mode > StdinInherit {
		return fault.New(fault.InvalidArgument, "subprocess stdin must be stated: ignore, pipe, data or inherit")
	}
	if (s.Mode == StdinData) != (s.Data != nil) {
		return fault.New(fault.InvalidArgument, "subprocess stdin data goes with the data mode, and with no other")
	}
	return nil
}

func (o Output) validate(stream Stream) error {
	switch {
	case o.Mode < OutputIgnore || o.Mode > OutputRecord:
		return fault.New(fault.InvalidArgument, "subprocess %s must be stated: ignore, pipe, inherit or collect", stream)
	case (o.Mode == OutputCollect || o.Mode == OutputRecord) && o.MaxBytes <= 0:
		return fault.New(fault.InvalidArgument, "subprocess %s maxBytes must be a positive finite number", stream)
	case o.Mode == OutputCollect && o.Spill != nil && o.Spill.MaxBytes <= 0:
		return fault.New(fault.InvalidArgument, "subprocess %s spill maxBytes must be a positive finite number", stream)
	case o.Mode != OutputCollect && (o.Spill != nil || o.Tee != nil || o.MaxBytes != 0 && o.Mode != OutputRecord):
		return fault.New(fault.InvalidArgument, "subprocess %s limits, spill and tee go with the collect mode only", stream)
	}
	return nil
}

// AbortedBeforeSpawn is the error for a context that ended before anything was
// spawned: code ABORTED, wrapping the context's cause.
func AbortedBeforeSpawn(ctx context.Context) error {
	cause := context.Cause(ctx)
	message := "aborted"
	if cause != nil && !errors.Is(cause, context.Canceled) {
		message = "aborted before spawn: " + cause.Error()
	}
	return &fault.Error{Code: fault.Aborted, Message: message, Err: cause}
}
