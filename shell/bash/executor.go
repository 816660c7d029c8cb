package bash

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"hardshell/internal/fault"
	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/subprocess"
)

// Executor runs commands with bash, without confining them. It owns no process:
// those belong to its subprocess.Runtime, and outlive an executor.
type Executor struct {
	runtime subprocess.Runtime
	config  *atomic.Pointer[Config]
	stamp   Stamp
}

// Stamp says what is known about the confinement of a command that has ended,
// nil when nothing confined it. The child is done.
type Stamp func(spec *shell.Spec, child subprocess.Handle) *sandbox.Info

var _ shell.Executor = (*Executor)(nil)

// New returns an executor over a runtime. A limit out of range is an
// INVALID_ARGUMENT error that names the field.
func New(runtime subprocess.Runtime, config Config) (*Executor, error) {
	e := &Executor{runtime: runtime, config: &atomic.Pointer[Config]{}}
	if err := e.Configure(config); err != nil {
		return nil, err
	}
	return e, nil
}

// Through returns an executor that shares the configuration of e, spawns through
// another runtime and stamps what it ran: before Run returns, and before a
// process is done.
func (e *Executor) Through(runtime subprocess.Runtime, stamp Stamp) *Executor {
	return &Executor{runtime: runtime, config: e.config, stamp: stamp}
}

// Configure replaces the configuration for the commands resolved from now on.
// After an error the one in force stays.
func (e *Executor) Configure(config Config) error {
	if err := config.validate(); err != nil {
		return err
	}
	e.config.Store(&config)
	return nil
}

// SandboxMode implements shell.Executor: this one does not confine.
func (e *Executor) SandboxMode() (sandbox.Mode, bool) { return "", false }

// Resolve implements shell.Executor.
func (e *Executor) Resolve(r shell.Request) (shell.Spec, error) {
	config := e.config.Load()
	spec := shell.Spec{
		Command: r.Command, Argv: r.Argv,
		Workdir: r.Workdir, Timeout: r.Timeout, StdoutMaxBytes: r.StdoutMaxBytes,
		Stdin: r.Stdin, Env: r.Env, DshEnv: r.DshEnv,
		Stdout: r.Stdout, Stderr: r.Stderr, NoSpill: r.NoSpill,
		SandboxPolicy: r.SandboxPolicy, Record: r.Record, Yield: r.Yield,
	}
	switch {
	case r.Argv != nil && r.Command != "":
		return shell.Spec{}, fault.New(fault.InvalidArgument, "a request has a command or an argv, not both")
	case r.Yield != 0 && (r.Yield < 0 || r.Record == ""):
		return shell.Spec{}, fault.New(fault.InvalidArgument, "a run that yields has a record, and yields after a positive time")
	case r.Record != "" && (r.Stdin != nil || r.Stdout != nil || r.Stderr != nil):
		return shell.Spec{}, fault.New(fault.InvalidArgument, "a command with a record has its input and its outputs there")
	}
	if spec.Workdir == "" {
		spec.Workdir = config.Workdir
	}
	if spec.Workdir == "" {
		own, err := os.Getwd()
		if err != nil {
			return shell.Spec{}, &fault.Error{Code: fault.WorkdirNotFound, Err: err,
				Message: "this process's working directory does not exist any more (ENOENT): name a workdir"}
		}
		spec.Workdir = own
	}
	switch {
	case r.Timeout < 0:
		return shell.Spec{}, fault.New(fault.InvalidArgument, "bash-local: request.timeoutMs must be a positive finite number")
	case r.Timeout == 0:
		spec.Timeout = min(config.Timeout, config.MaxTimeout)
	case !r.TimeoutUncapped:
		spec.Timeout = min(r.Timeout, config.MaxTimeout)
	}
	switch {
	case r.StdoutMaxBytes < 0:
		return shell.Spec{}, fault.New(fault.InvalidArgument, "bash-local: request.stdoutMaxBytes must be a positive finite number")
	case r.StdoutMaxBytes == 0:
		spec.StdoutMaxBytes = config.MaxOutputBytes
	}
	return spec, nil
}

// errTimeout is the cause of a context that a run's own deadline ended.
var errTimeout = errors.New("the command's timeout passed")

// Run implements shell.Executor.
func (e *Executor) Run(ctx context.Context, spec shell.Spec) (*shell.Result, error) {
	if ctx.Err() != nil {
		return nil, subprocess.AbortedBeforeSpawn(ctx)
	}
	config := e.config.Load()
	maxSpill := config.MaxSpillBytes
	if spec.NoSpill {
		maxSpill = 0
	}
	out := outputs{
		stdout: collect(spec.StdoutMaxBytes, maxSpill, spec.Stdout),
		stderr: collect(config.MaxOutputBytes, maxSpill, spec.Stderr),
		grace:  config.Grace,
	}
	if spec.Record != "" {
		out.record(spec.StdoutMaxBytes, config.MaxOutputBytes)
		return e.runRecorded(ctx, spec, out)
	}
	// One context carries both causes, so that only the first one counts.
	run, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := time.Now()
	child, err := e.spawn(run, &spec, out)
	if err != nil {
		return nil, err
	}
	if spec.Timeout != shell.NoTimeout {
		// Armed now, so that a timeout that passes meanwhile is no refusal.
		deadline := time.AfterFunc(time.Until(began.Add(spec.Timeout)), func() { cancel(errTimeout) })
		// Once the command itself has ended there is nothing to cut short.
		<-child.Exited()
		deadline.Stop()
	}
	<-child.Done()
	r := result(child, spec.Timeout)
	r.Sandbox = e.info(&spec, child)
	return r, nil
}

// info is the stamp of a child that is done.
func (e *Executor) info(spec *shell.Spec, child subprocess.Handle) *sandbox.Info {
	if e.stamp == nil {
		return nil
	}
	return e.stamp(spec, child)
}

// result reads a finished child.
func result(child subprocess.Handle, timeout time.Duration) *shell.Result {
	exit := child.Exit()
	r := &shell.Result{
		Signal:    exit.Signal,
		TimedOut:  exit.Cause == errTimeout || exit.Limit == subprocess.LimitRuntime,
		Aborted:   exit.Cause != nil && exit.Cause != errTimeout,
		Timeout:   timeout,
		Duration:  exit.Duration,
		Stdout:    child.Reader(subprocess.Stdout).Collected(),
		Stderr:    child.Reader(subprocess.Stderr).Collected(),
		Survivors: child.Survivors(),
	}
	if exit.Code >= 0 {
		r.ExitCode = &exit.Code
	}
	if exit.Usage != (subprocess.Usage{}) {
		r.Usage = &exit.Usage
	}
	return r
}

// Start implements shell.Executor. Every failure settles the process, but for
// SANDBOX_UNAVAILABLE, which a runtime that does not confine never returns.
func (e *Executor) Start(ctx context.Context, spec shell.Spec) (shell.Process, error) {
	config := e.config.Load()
	out := outputs{
		stdout: collect(config.MaxOutputBytes, config.MaxSpillBytes, nil),
		stderr: collect(config.MaxOutputBytes, config.MaxSpillBytes, nil),
		grace:  config.Grace,
	}
	if spec.Record != "" {
		out.record(config.MaxOutputBytes, config.MaxOutputBytes)
	}
	child, err := e.spawn(ctx, &spec, out)
	switch {
	case fault.CodeOf(err) == fault.SandboxUnavailable:
		return nil, err
	case err != nil:
		return failedProcess(err), nil
	}
	return startedProcess(child, func() *sandbox.Info { return e.info(&spec, child) }), nil
}
