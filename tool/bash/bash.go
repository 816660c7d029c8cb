// Package bash is the bash tool that a model is given: arguments to a shell
// request, and the result to the text, the value and the cards.
//
// Only the command, its timeout and its directory come from the model. Standard
// input, environment entries and output budgets are never taken from it.
package bash

import (
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/prose"
	"hardshell/shell"
	"hardshell/shellenv"
	"hardshell/subprocess"
	"hardshell/tool"
)

// Name is the name of the tool.
const Name = "bash"

// Config is what a deployment decides about the tool.
type Config struct {
	// EnableRunInBackground publishes run_in_background.
	EnableRunInBackground bool
	// Jobs starts what a model wants in the background; nil refuses it.
	Jobs Jobs
	// YieldAfter is how long a foreground call is held. A command that still
	// runs then goes on as a job, where Jobs can keep one. 0 holds every call to
	// the command's end.
	YieldAfter time.Duration
	// Workdir is where a command of this session runs that names a directory, or
	// none; nil takes it from the workspace.
	Workdir func(asked string) string
	// Log is told what a model need not know; nil discards.
	Log *slog.Logger
}

// Environment collects the managed facts of one call. The error names the
// contributors that had to be left out; the facts are valid beside it.
type Environment interface {
	Collect(shellenv.Execution) (subprocess.DshEnvironment, error)
}

// New returns the bash tool over an executor. A nil environment has no managed
// facts. Whether the executor confines is read once, here: it decides which
// arguments are published. A negative YieldAfter is an INVALID_ARGUMENT error.
func New(executor shell.Executor, environment Environment, config Config) (*tool.Tool, error) {
	if config.YieldAfter < 0 {
		return nil, fault.New(fault.InvalidArgument, "tool-bash: yieldMs must be 0 or more, got %v",
			shell.Milliseconds(config.YieldAfter))
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	_, confines := executor.SandboxMode()
	b := &bash{
		executor: executor, environment: environment, config: config,
		confines: confines, prose: prose.Parse(source),
	}
	return tool.New(tool.Definition[Input, Output]{
		Name:          Name,
		Description:   b.description(),
		Annotations:   tool.Annotations{Destructive: true, OpenWorld: true},
		Hidden:        b.hidden(),
		Refine:        b.refine,
		OutputSchema:  b.outputSchema,
		Run:           b.run,
		Render:        b.render,
		PresentCall:   presentCall,
		PresentResult: presentResult,
	})
}

// bash is the tool of one deployment.
type bash struct {
	executor    shell.Executor
	environment Environment
	config      Config
	confines    bool
	prose       prose.Sections
}

// run is the body of a call.
func (b *bash) run(ctx context.Context, call tool.Call, in Input) (Output, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	if err := b.checkBackground(in); err != nil {
		return nil, err
	}
	if err := b.checkEscalation(call, in); err != nil {
		return nil, err
	}
	spec, err := b.executor.Resolve(b.request(call, in))
	if err != nil {
		return nil, err
	}
	if in.RunInBackground {
		return b.start(ctx, call, in, spec)
	}
	return b.foreground(ctx, call, in, spec)
}

// request is what the executor is asked for.
func (b *bash) request(call tool.Call, in Input) shell.Request {
	var execution shellenv.Execution
	if call.Session != nil {
		execution = shellenv.Execution{SessionID: call.Session.ID(), SessionLog: call.Session.LogPath()}
	}
	request := shell.Request{
		Command: in.Command,
		Workdir: b.workdir(call.Session, in.Workdir),
		Timeout: timeout(in.TimeoutMs),
	}
	if b.environment != nil {
		facts, err := b.environment.Collect(execution)
		if err != nil {
			b.config.Log.Warn("managed facts were left out of a command's environment", "error", err)
		}
		request.DshEnv = facts
	}
	return request
}

// workdir is where a command runs: the session's workspace, a directory
// relative to it, or an absolute one; "" leaves it to the executor. The join is
// textual, so that the kernel resolves link/.. as it does for an absolute path,
// to the parent of what the link points to.
func (b *bash) workdir(session tool.Session, asked string) string {
	switch {
	case session != nil && b.config.Workdir != nil:
		return b.config.Workdir(asked)
	case session == nil || filepath.IsAbs(asked):
		return asked
	case asked == "":
		return session.Workspace()
	default:
		return strings.TrimSuffix(session.Workspace(), "/") + "/" + asked
	}
}

// timeout converts a validated number of milliseconds; 0 is the executor's
// default. What a duration cannot hold becomes the longest or the shortest
// one, never "no timeout" and never the default.
func timeout(ms *float64) time.Duration {
	const longest = shell.NoTimeout - 1
	switch {
	case ms == nil:
		return 0
	case *ms >= float64(longest/time.Millisecond):
		return longest
	default:
		return max(1, time.Duration(math.Round(*ms*float64(time.Millisecond))))
	}
}
