package shell

import (
	"context"
	"io"
	"math"
	"time"

	"hardshell/sandbox"
	"hardshell/subprocess"
)

// The managed environment is owned by the subprocess seam; these are its names
// for users of this one.
type (
	CollectedOutput = subprocess.CollectedOutput
	DshEnvironment  = subprocess.DshEnvironment
)

// NoTimeout, as the timeout of a trusted request, means no deadline.
const NoTimeout = time.Duration(math.MaxInt64)

// Executor runs commands. It is safe for concurrent use.
type Executor interface {
	// Resolve fills a request's defaults and applies the caps. It touches
	// nothing: no file, no process. INVALID_ARGUMENT for values out of range.
	Resolve(Request) (Spec, error)
	// Run runs a spec in the foreground until it ends, its timeout passes or
	// ctx ends. After a timeout or an abort it returns when the whole tree is
	// dead, bounded by the grace and one second; what resisted is in
	// Result.Survivors. Errors are infrastructure failures, and then nothing
	// was run. A run that yields returns with Result.Process, which ctx does not
	// end any more.
	Run(ctx context.Context, spec Spec) (*Result, error)
	// Start begins a spec in the background. When ctx ends, the process is
	// killed. The error is SANDBOX_UNAVAILABLE, before anything is spawned;
	// any other failure settles as killed.
	Start(ctx context.Context, spec Spec) (Process, error)
	// SandboxMode is the default mode of an executor that confines; false
	// when it does not.
	SandboxMode() (sandbox.Mode, bool)
}

// Request is what a caller asks for. Zero fields take the executor's defaults.
type Request struct {
	// Command is a script of the executor's shell. Argv is a program and its
	// arguments that no shell reads. A request has one of them, never both.
	Command string
	Argv    []string
	// Workdir is the working directory; "" takes the executor's.
	Workdir string
	// Timeout bounds a foreground run; 0 takes the executor's default. It is
	// capped unless TimeoutUncapped says that a person chose it.
	Timeout         time.Duration
	TimeoutUncapped bool
	// StdoutMaxBytes is the foreground budget of captured standard output; 0
	// takes the executor's. Standard error always has the executor's.
	StdoutMaxBytes int64
	// Stdin is copied to the command and then closed; nil gives it none.
	Stdin io.Reader
	// Env is merged over the scrubbed environment, DshEnv last.
	Env    map[string]string
	DshEnv DshEnvironment
	// Stdout and Stderr, when set, receive a foreground run's bytes as they
	// arrive, besides the capture.
	Stdout, Stderr io.Writer
	// NoSpill keeps a foreground run's long streams out of files: the caller has
	// them from Stdout and Stderr, or does not want them.
	NoSpill bool
	// SandboxPolicy confines this call; sandboxing executors default it, and
	// executors that do not confine carry it without effect.
	SandboxPolicy *sandbox.Policy
	// Record, when set, is the directory of the command's record, as in
	// subprocess.Spec: its output and its end are kept there, and its input comes
	// from there. Only a process that was started, and a run that may yield, have
	// one.
	Record string
	// Yield, with a Record, is how long a foreground run is waited for; what
	// still runs then goes on as a process. 0 waits for the end.
	Yield time.Duration
}

// Spec is a resolved request: workdir, timeout and budget are filled.
type Spec struct {
	Command        string
	Argv           []string
	Workdir        string
	Timeout        time.Duration
	StdoutMaxBytes int64
	Stdin          io.Reader
	Env            map[string]string
	DshEnv         DshEnvironment
	Stdout, Stderr io.Writer
	NoSpill        bool
	// SandboxPolicy is nil for executors that do not confine.
	SandboxPolicy *sandbox.Policy
	Record        string
	Yield         time.Duration
}
