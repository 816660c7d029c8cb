package compose

import (
	"errors"
	"fmt"
	"log/slog"

	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/jobs"
	"hardshell/jobs/durable"
	"hardshell/sandbox"
	"hardshell/sandbox/native"
	"hardshell/sandbox/policy"
	"hardshell/shell"
	"hardshell/shell/bash"
	"hardshell/shell/confined"
	"hardshell/shellenv"
	"hardshell/subprocess"
	"hardshell/subprocess/host"
	"hardshell/subprocess/local"
	"hardshell/tool"
	toolbash "hardshell/tool/bash"
)

// Surroundings is what a composition is put into.
type Surroundings struct {
	Home state.Home
	// SessionID is a valid id, Workspace the absolute directory that the session
	// works in.
	SessionID string
	Workspace string
	// Durable says that the session outlives this process.
	Durable bool
	// OneShot says that this process makes one call: what would run on after it
	// is refused in a session that is not durable.
	OneShot bool
	// Host is the absolute path of the program that becomes the session host of a
	// durable session, and its first arguments. Without one this process spawns
	// the commands itself.
	Host []string
	// Overrides change the policy of the row "sandbox-policy".
	Overrides Overrides
	// Log is told what a person debugging wants to know.
	Log *slog.Logger
}

// Composition is the parts that the rows were made into. A part whose row is
// absent is nil.
type Composition struct {
	Runtime     Runtime
	Sandbox     sandbox.Provider
	Policies    confined.Policies
	Environment *shellenv.Registry
	Shell       shell.Executor
	Tools       *tool.Registry
	Pipeline    *tool.Pipeline
	// Owner is the owner of the session's jobs, Records what keeps them beyond
	// this process, nil when nothing does.
	Owner   *jobs.Owner
	Jobs    *jobs.Registry
	Records *durable.Store

	host        *host.Runtime // the runtime, when that is a session host's
	shellConfig ShellConfig
	history     *history // nil without Records
	warn        func(msg string, args ...any)
}

// Runtime is the runtime of a composition.
type Runtime interface {
	subprocess.Runtime
	// Spilled reports whether any spill file was made.
	Spilled() bool
}

// Build makes the parts of rows, in their order. It starts nothing. The error
// names the row at fault.
func Build(rows []Row, in Surroundings) (*Composition, error) {
	if in.Log == nil {
		in.Log = slog.New(slog.DiscardHandler)
	}
	c := &Composition{Tools: &tool.Registry{}, warn: in.Log.Warn}
	c.Pipeline = tool.NewPipeline(c.Tools, tool.Options{Log: in.Log})
	made := map[string]bool{}    // by row id
	parts := map[string]string{} // row id by plugin
	for _, row := range rows {
		if made[row.ID] {
			return nil, fault.New(fault.InvalidArgument, "composition row %q stands twice: remove one", row.ID)
		}
		if other, taken := parts[row.Plugin]; taken {
			return nil, fault.New(fault.InvalidArgument, "composition row %q: plugin %q is row %q already: remove one", row.ID, row.Plugin, other)
		}
		made[row.ID], parts[row.Plugin] = true, row.ID
		if err := c.add(row, in); err != nil {
			return nil, fault.New(codeOr(err, fault.InvalidArgument), "composition row %q: %w", row.ID, err)
		}
	}
	return c, nil
}

// add makes the part of one row.
func (c *Composition) add(row Row, in Surroundings) error {
	switch row.Plugin {
	case PluginSubprocess, PluginShellEnv, PluginSession:
		if row.Config != nil {
			return errConfig(row)
		}
	}
	switch row.Plugin {
	case PluginSubprocess:
		c.addRuntime(in)
		return nil
	case PluginSandbox:
		return c.addSandbox(row, in)
	case PluginSandboxPolicy:
		return c.addSandboxPolicy(row, in)
	case PluginShellEnv:
		c.Environment = shellenv.New(in.Home.Root())
		return nil
	case PluginSession:
		return c.addSession()
	case PluginShell:
		return c.addShell(row)
	case PluginShellPlain:
		return c.addShellPlain(row)
	case PluginJobs:
		return c.addJobs(row, in)
	case PluginToolBash:
		return c.addToolBash(row, in)
	case PluginToolJobs:
		return c.addToolJobs(row)
	default:
		return fmt.Errorf("there is no plugin %q", row.Plugin)
	}
}

// addSession has commands learn where the log of their session is.
func (c *Composition) addSession() error {
	if c.Environment == nil {
		return errNeeds(PluginShellEnv)
	}
	_, err := c.Environment.Register(shellenv.Contributor{
		Name: "session-persistence",
		Keys: map[string]string{"DSH_SESSION_JSONL": "The log of this session: one JSON event a line. It may not exist yet."},
		Resolve: func(e shellenv.Execution) (map[string]string, error) {
			if e.SessionLog == "" {
				return nil, nil
			}
			return map[string]string{"DSH_SESSION_JSONL": e.SessionLog}, nil
		},
	})
	return err
}

// addRuntime has commands spawned in this process, or by the host of a session
// that outlives it.
func (c *Composition) addRuntime(in Surroundings) {
	if in.Durable && len(in.Host) > 0 {
		c.host = host.New(host.Config{
			Home: in.Home, SessionID: in.SessionID, Keep: true,
			SpillDir: in.Home.Spill(in.SessionID), Command: in.Host,
		})
		c.Runtime = c.host
		return
	}
	c.Runtime = local.New(local.Config{SpillDir: in.Home.Spill(in.SessionID)})
}

func (c *Composition) addSandbox(row Row, in Surroundings) error {
	config, ok := row.Config.(SandboxConfig)
	if !ok {
		return errConfig(row)
	}
	tiers, err := config.Tiers()
	if err != nil {
		return err
	}
	if c.host != nil {
		if tiers != nil {
			return fmt.Errorf("a session host uses every backend: backend is %q, and not %s", config.Backend, BackendAuto)
		}
		c.Sandbox = c.host.Sandbox()
		return nil
	}
	c.Sandbox, err = native.New(native.Config{
		Home: in.Home.Root(), Tiers: tiers, Ephemeral: !in.Durable, Log: in.Log,
	})
	return err
}

func (c *Composition) addSandboxPolicy(row Row, in Surroundings) error {
	config, ok := row.Config.(SandboxPolicyConfig)
	if !ok {
		return errConfig(row)
	}
	service, err := config.service(in)
	if err != nil {
		return err
	}
	c.Policies = sessionPolicies{service: service, session: policy.Session{ID: in.SessionID, Workspace: in.Workspace}}
	return nil
}

func (c *Composition) addShell(row Row) error {
	switch {
	case c.Runtime == nil:
		return errNeeds(PluginSubprocess)
	case c.Sandbox == nil:
		return errNeeds(PluginSandbox)
	case c.Policies == nil:
		return errNeeds(PluginSandboxPolicy)
	}
	config, ok := row.Config.(ShellConfig)
	if !ok {
		return errConfig(row)
	}
	executor, err := confined.New(c.Runtime, c.Sandbox, c.Policies, config.bash())
	if err != nil {
		return err
	}
	c.Shell, c.shellConfig = executor, config
	return nil
}

// addShellPlain adds an executor that does not confine.
func (c *Composition) addShellPlain(row Row) error {
	if c.Runtime == nil {
		return errNeeds(PluginSubprocess)
	}
	config, ok := row.Config.(ShellConfig)
	if !ok {
		return errConfig(row)
	}
	executor, err := bash.New(c.Runtime, config.bash())
	if err != nil {
		return err
	}
	c.Shell, c.shellConfig = executor, config
	return nil
}

func (c *Composition) addToolBash(row Row, in Surroundings) error {
	if c.Shell == nil {
		return errNeeds(PluginShell)
	}
	if c.Environment == nil {
		return errNeeds(PluginShellEnv)
	}
	config, ok := row.Config.(ToolBashConfig)
	if !ok {
		return errConfig(row)
	}
	options := toolbash.Config{
		EnableRunInBackground: config.EnableRunInBackground,
		YieldAfter:            milliseconds(config.YieldMs),
		Log:                   in.Log,
	}
	if c.Jobs != nil {
		options.Jobs = &commandJobs{parts: c, oneShot: in.OneShot}
	}
	t, err := toolbash.New(c.Shell, c.Environment, options)
	if err != nil {
		return err
	}
	_, err = c.Tools.Register(t)
	return err
}

func errNeeds(plugin string) error {
	return fmt.Errorf("it needs a row of plugin %q before it", plugin)
}

func errConfig(row Row) error {
	return fmt.Errorf("%T is no configuration of plugin %q", row.Config, row.Plugin)
}

func codeOr(err error, code fault.Code) fault.Code {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Code
	}
	return code
}
