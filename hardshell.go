// Package hardshell is the shell that an AI agent can be given: it runs the
// agent's commands confined, bounded, cancellable and observable, and says
// exactly what happened.
//
// Open returns a Harness, the default composition of this module's parts, each
// of which is an ordinary Go package of its own:
//
//	h, err := hardshell.Open(ctx, hardshell.Options{})
//	if err != nil { … }
//	defer h.Close(ctx)
//	result, err := h.Run(ctx, shell.Request{Command: "make test"})
//
// A library takes no signals: a program that wants its commands to end with it
// closes the harness when it is told to stop.
package hardshell

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"hardshell/compose"
	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/jobs"
	"hardshell/sandbox"
	"hardshell/settings"
	"hardshell/shell"
	"hardshell/shellenv"
	"hardshell/subprocess"
	"hardshell/tool"
)

// Options say where a harness works. The zero value is ready.
type Options struct {
	// Home is the directory of all state; "" is $DSH_HOME, else ~/.hardshell.
	Home string
	// Session names the session; "" is a throw-away one that ends with the
	// harness.
	Session string
	// Workspace is the directory that commands work in; "" is the current one.
	Workspace string
	// Mode, Network and WritableRoots change what commands may do that say
	// nothing themselves; zero values leave the composition's policy, which is
	// workspace-write with an open network. WritableRoots are added to it.
	Mode          sandbox.Mode
	Network       sandbox.Network
	WritableRoots []string
	// SessionHost is the program that becomes the host of a named session, an
	// absolute path and first arguments; hardshell itself is one with the
	// argument "session-host". The host spawns the session's commands, and holds
	// its sandbox between one harness and the next. Without it this process does.
	SessionHost []string
	// Rows is the composition; nil is DefaultComposition, changed by compose.yaml
	// in the home and by Patches, files of the same kind, in their order.
	Rows    []compose.Row
	Patches []string
	// MaxJobs is how many background jobs may run at once; 0 leaves the
	// composition's 10.
	MaxJobs int
	// OneShot says that the harness is closed after one call. A background job is
	// then refused in a session that ends with it, nobody watches the settings, and
	// only what the document has is registered there.
	OneShot bool
	// Log is told what a person debugging wants to know; nil discards.
	Log *slog.Logger
}

// Harness runs commands and tools for one session. It is safe for concurrent
// use.
type Harness struct {
	parts   *compose.Composition
	home    state.Home
	session session
	log     *slog.Logger

	closeOnce sync.Once
	closeErr  error
}

// Open returns a harness over the default composition. It starts no process.
// Errors: INVALID_ARGUMENT for a bad home or session id, WORKDIR_NOT_FOUND and
// WORKDIR_NOT_DIRECTORY for a bad workspace, ABORTED when ctx has ended.
func Open(ctx context.Context, o Options) (*Harness, error) {
	if ctx.Err() != nil {
		return nil, subprocess.AbortedBeforeSpawn(ctx)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	home, err := state.ResolveHome(o.Home)
	if err != nil {
		return nil, err
	}
	id := o.Session
	if id == "" {
		id = state.NewSessionID()
	} else if err := state.ValidateSessionID(id); err != nil {
		return nil, err
	}
	workspace, err := canonicalWorkspace(o.Workspace)
	if err != nil {
		return nil, err
	}
	// A command needs nothing from the home; what does, says so itself.
	// But nobody else may say there how commands are confined.
	trouble := "the home cannot be created"
	if err = home.Ensure(); err == nil {
		trouble, err = "the home cannot be trusted", home.Check()
	}
	switch {
	case err != nil && o.Rows == nil && compose.Decided(home):
		return nil, fault.New(fault.InvalidArgument, "%s, and its settings would be obeyed: %w", trouble, err)
	case err != nil:
		o.Log.Warn(trouble, "error", err)
	}
	rows := o.Rows
	if rows == nil {
		if rows, err = compose.Rows(home, o.Patches, o.Log); err != nil {
			return nil, err
		}
	}
	parts, err := compose.Build(ctx, rows, compose.Surroundings{
		Home: home, SessionID: id, Workspace: workspace, Durable: o.Session != "", Host: o.SessionHost, OneShot: o.OneShot,
		Overrides: compose.Overrides{Mode: o.Mode, Network: o.Network, WritableRoots: o.WritableRoots, MaxJobs: o.MaxJobs},
		Log:       o.Log,
	})
	if err != nil {
		return nil, err
	}
	return &Harness{
		parts: parts, home: home, log: o.Log,
		session: session{id: id, workspace: workspace, log: home.SessionLog(id)},
	}, nil
}

// Session is the session that this harness works for.
func (h *Harness) Session() tool.Session { return h.session }

// Shell is the executor, for callers that resolve and run themselves. Run and
// Start add the session's facts.
func (h *Harness) Shell() shell.Executor { return h.parts.Shell() }

// Policy is what confines a command that says nothing itself. The caller may
// change its copy and give it to a request.
func (h *Harness) Policy() sandbox.Policy {
	policies := h.parts.Policies()
	switch {
	case policies == nil && h.parts.Confines():
		// The row is being reloaded, or has failed.
		return sandbox.Policy{Mode: sandbox.ReadOnly, Network: sandbox.NetworkNone, WorkspaceRoot: h.session.workspace, SessionID: h.session.id}
	case policies == nil:
		return sandbox.Policy{Mode: sandbox.DangerFullAccess, WorkspaceRoot: h.session.workspace, SessionID: h.session.id}
	}
	return policies.Default()
}

// Environment is the registry of managed DSH_* facts.
func (h *Harness) Environment() *shellenv.Registry { return h.parts.Environment() }

// Tools are the tools that a model is given.
func (h *Harness) Tools() *tool.Registry { return h.parts.Tools }

// Pipeline is what every tool call goes through; listeners are added there.
func (h *Harness) Pipeline() *tool.Pipeline { return h.parts.Pipeline }

// Jobs is the registry of background jobs, and Owner who owns those of this
// session.
func (h *Harness) Jobs() *jobs.Registry { return h.parts.Jobs() }

// Owner is the owner of this session's jobs.
func (h *Harness) Owner() *jobs.Owner { return h.parts.Owner() }

// Notices returns what has not been told yet of jobs that have settled, each
// once: whoever takes them tells them, and then calls Told. What was not told when
// the harness ends, the next one of the session tells.
func (h *Harness) Notices() []jobs.Notice { return h.parts.Notices() }

// Told says that notices have reached whom they are for.
func (h *Harness) Told(notices []jobs.Notice) { h.parts.Told(notices) }

// FollowJob returns the facts and the work of a kept job, for somebody who is not
// the session's agent: whatever they do with it, its end is still news to that.
// UNKNOWN_JOB when it is not there, INVALID_ARGUMENT in a session whose jobs are
// not kept.
func (h *Harness) FollowJob(id string) (jobs.Job, jobs.Producer, error) { return h.parts.Follow(id) }

// PruneJobs takes settled jobs away that are old or too many, or with everything
// all of them, and returns their ids. It does nothing in a session whose jobs
// are not kept.
func (h *Harness) PruneJobs(everything bool) ([]string, error) {
	records := h.parts.Records()
	if records == nil {
		return nil, nil
	}
	return records.Prune(everything)
}

// Settings are the user's, nil in a composition without them. A change applies to
// the next command, unless its namespace says otherwise.
func (h *Harness) Settings() *settings.Service { return h.parts.Settings() }

// Rows are the rows of the composition as they stand.
func (h *Harness) Rows() []compose.Row { return h.parts.Rows() }

// Reload gives a row of the composition another configuration while the rest runs
// on: see compose.Composition.Reload.
func (h *Harness) Reload(ctx context.Context, row compose.Row) error { return h.parts.Reload(ctx, row) }

// Check names every row of the composition that is not at work, and why.
func (h *Harness) Check() error { return h.parts.Check() }

// Run runs one request in the foreground, in the workspace unless it names a
// directory; a relative one is taken from the workspace. A policy that confines
// is refused with SANDBOX_UNAVAILABLE when the executor does not. See
// shell.Executor for what else it promises.
func (h *Harness) Run(ctx context.Context, request shell.Request) (*shell.Result, error) {
	executor, spec, err := h.resolve(request)
	if err != nil {
		return nil, err
	}
	return executor.Run(ctx, spec)
}

// Start begins one request in the background. The process ends with the
// harness.
func (h *Harness) Start(ctx context.Context, request shell.Request) (shell.Process, error) {
	executor, spec, err := h.resolve(request)
	if err != nil {
		return nil, err
	}
	return executor.Start(ctx, spec)
}

// Call calls a tool exactly as a model would, through the whole pipeline. Args
// is a JSON object.
func (h *Harness) Call(ctx context.Context, name string, args json.RawMessage) tool.Result {
	return h.parts.Pipeline.Execute(ctx, tool.Call{Tool: name, Args: args, Session: h.session})
}

// Close ends every command that still runs, but for the jobs that a session host
// keeps, and returns when all are gone. When ctx ends, the grace is cut short. The error names what resisted. Later calls
// return the same.
func (h *Harness) Close(ctx context.Context) error {
	h.closeOnce.Do(func() { h.closeErr = h.parts.Close(ctx) })
	return h.closeErr
}

// resolve completes a request with the session's facts, for the executor that is
// to run it.
func (h *Harness) resolve(request shell.Request) (executor shell.Executor, spec shell.Spec, err error) {
	executor = h.parts.Shell()
	environment := h.parts.Environment()
	if executor == nil || environment == nil {
		return nil, spec, fault.New(fault.SandboxUnavailable, "the composition has no shell at work: %w", cmp.Or(h.parts.Check(), errReloading))
	}
	if policy := request.SandboxPolicy; policy != nil && policy.Mode != sandbox.DangerFullAccess {
		if _, confines := executor.SandboxMode(); !confines {
			return nil, spec, sandbox.Unavailable(policy.Mode, "this composition does not confine")
		}
	}
	request.Workdir = h.parts.Workdir(request.Workdir)
	facts, err := environment.Collect(shellenv.Execution{
		SessionID: h.session.id, SessionLog: h.session.log,
	})
	if err != nil {
		h.log.Warn("some managed variables are missing", "error", err)
	}
	request.DshEnv = request.DshEnv.Merge(facts)
	spec, err = executor.Resolve(request)
	return executor, spec, err
}

var errReloading = errors.New("a row is being reloaded, or there is none: try again")

// session is the live handle of a harness's session.
type session struct {
	id, workspace, log string
}

func (s session) ID() string        { return s.id }
func (s session) Workspace() string { return s.workspace }
func (s session) LogPath() string   { return s.log }

// canonicalWorkspace is the physical path of a directory, the current one for
// "".
func canonicalWorkspace(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	// Links are followed before dots are taken away: link/.. is the parent of
	// what the link names.
	physical, err := filepath.EvalSymlinks(dir)
	if err == nil {
		physical, err = filepath.Abs(physical)
	}
	if err == nil {
		physical, err = filepath.EvalSymlinks(physical)
	}
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(physical)
	}
	switch {
	case errors.Is(err, syscall.ENOTDIR) || err == nil && !info.IsDir():
		return "", fault.New(fault.WorkdirNotDirectory, "the workspace %q is not a directory (ENOTDIR): name a directory", dir)
	case errors.Is(err, fs.ErrNotExist):
		return "", fault.New(fault.WorkdirNotFound, "the workspace %q does not exist (ENOENT): create it or name another", dir)
	case err != nil:
		return "", fault.New(fault.WorkdirNotFound, "the workspace %q cannot be examined: change its permissions or name another: %w", dir, err)
	}
	return physical, nil
}

// DefaultComposition returns the rows that Open makes a harness of.
func DefaultComposition() []compose.Row { return compose.Default() }

// Code names a kind of failure: see docs/interfaces.md.
type Code = fault.Code

// The codes that Open, Run and Start return. Each is also a sentinel for
// errors.Is.
const (
	ErrInvalidArgument     = fault.InvalidArgument
	ErrWorkdirNotFound     = fault.WorkdirNotFound
	ErrWorkdirNotDirectory = fault.WorkdirNotDirectory
	ErrShellNotFound       = fault.ShellNotFound
	ErrSpawnFailed         = fault.SpawnFailed
	ErrSandboxUnavailable  = fault.SandboxUnavailable
	ErrAborted             = fault.Aborted
)

// CodeOf returns the code that an error of this module carries, or "".
func CodeOf(err error) Code { return fault.CodeOf(err) }
