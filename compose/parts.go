package compose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"hardshell/internal/state"
	"hardshell/jobs"
	"hardshell/jobs/durable"
	"hardshell/plugin"
	"hardshell/sandbox"
	"hardshell/sandbox/native"
	"hardshell/settings"
	"hardshell/shell"
	"hardshell/shell/bash"
	"hardshell/shell/confined"
	"hardshell/shellenv"
	"hardshell/subprocess"
	"hardshell/subprocess/host"
	"hardshell/subprocess/local"
	toolbash "hardshell/tool/bash"
)

// The services of a composition.
var (
	settingsKey    = plugin.NewKey[*settings.Service]("settings")
	runtimeKey     = plugin.NewKey[spawning]("subprocess")
	sandboxKey     = plugin.NewKey[sandbox.Provider]("sandbox")
	policiesKey    = plugin.NewKey[confined.Policies]("sandbox-policy")
	environmentKey = plugin.NewKey[*shellenv.Registry]("shell-env")
	shellKey       = plugin.NewKey[shell.Executor]("shell")
	jobsKey        = plugin.NewKey[keeping]("jobs")
)

// plugins are what rows can be made of, for one composition.
func (c *Composition) plugins() []plugin.Plugin {
	keys := func(keys ...plugin.AnyKey) []plugin.AnyKey { return keys }
	return []plugin.Plugin{
		{Name: PluginSettingsFile, Provides: keys(settingsKey), Apply: c.applySettingsFile},
		{Name: PluginSubprocess, Provides: keys(runtimeKey), Apply: c.applyRuntime},
		{Name: PluginSandbox, Needs: keys(runtimeKey), Provides: keys(sandboxKey), Apply: c.applySandbox},
		{Name: PluginSandboxPolicy, Optional: keys(settingsKey), Provides: keys(policiesKey), Apply: c.applySandboxPolicy},
		{Name: PluginShellEnv, Provides: keys(environmentKey), Apply: c.applyShellEnv},
		{Name: PluginSession, Needs: keys(environmentKey), Apply: c.applySession},
		{
			Name: PluginShell, Needs: keys(runtimeKey, sandboxKey, policiesKey), Optional: keys(settingsKey),
			Provides: keys(shellKey), Apply: c.applyShell,
		},
		{Name: PluginShellPlain, Needs: keys(runtimeKey), Optional: keys(settingsKey), Provides: keys(shellKey), Apply: c.applyShellPlain},
		{Name: PluginJobs, Needs: keys(runtimeKey), Optional: keys(settingsKey), Provides: keys(jobsKey), Apply: c.applyJobs},
		{Name: PluginToolBash, Needs: keys(shellKey, environmentKey), Optional: keys(jobsKey), Apply: c.applyToolBash},
		{Name: PluginToolJobs, Needs: keys(jobsKey), Apply: c.applyToolJobs},
	}
}

// Runtime is the runtime of a composition.
type Runtime interface {
	subprocess.Runtime
	// Spilled reports whether any spill file was made.
	Spilled() bool
}

// spawning is the service of the row "subprocess".
type spawning struct {
	Runtime
	host *host.Runtime // the runtime, when that is a session host's
	// sandboxes are closed when no command runs in them any more: also one whose
	// row was reloaded is left to its commands.
	sandboxes *closers
}

// closers are what is closed later.
type closers struct {
	mu  sync.Mutex
	all []io.Closer
}

func (c *closers) add(one io.Closer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, one)
}

func (c *closers) close() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		err = errors.Join(err, one.Close())
	}
	c.all = nil
	return err
}

// spillRetention is how long the file of a stream that outgrew its window stays
// readable.
const spillRetention = 7 * 24 * time.Hour

// applyRuntime has commands spawned in this process, or by the host of a session
// that outlives it.
func (c *Composition) applyRuntime(_ context.Context, a *plugin.Activation) error {
	s := spawning{sandboxes: &closers{}}
	if in := c.in; in.Durable && len(in.Host) > 0 {
		s.host = host.New(host.Config{
			Home: in.Home, SessionID: in.SessionID, Keep: true,
			SpillDir: in.Home.Spill(in.SessionID), Command: in.Host,
		})
		s.Runtime = s.host
	} else {
		s.Runtime = local.New(local.Config{SpillDir: in.Home.Spill(in.SessionID)})
	}
	err := a.Scope.Defer(func(ctx context.Context) error {
		err := errors.Join(s.Close(ctx), s.sandboxes.close())
		if s.Spilled() {
			// Those who leave files behind sweep what is old.
			if _, err := state.Sweep(c.in.Home.Spills(), spillRetention); err != nil {
				c.in.Log.Debug("old spill files were not all removed", "error", err)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return plugin.Provide(a.Scope, runtimeKey, s)
}

func (c *Composition) applySandbox(_ context.Context, a *plugin.Activation) error {
	config := a.Config.(SandboxConfig)
	tiers, err := config.Tiers()
	if err != nil {
		return err
	}
	if host := plugin.Get(a, runtimeKey).host; host != nil {
		if tiers != nil {
			return fmt.Errorf("a session host uses every backend: backend is %q, and not %s", config.Backend, BackendAuto)
		}
		return plugin.Provide(a.Scope, sandboxKey, host.Sandbox())
	}
	provider, err := native.New(native.Config{
		Home: c.in.Home.Root(), Tiers: tiers, Ephemeral: !c.in.Durable, Log: c.in.Log,
	})
	if err != nil {
		return err
	}
	plugin.Get(a, runtimeKey).sandboxes.add(provider)
	return plugin.Provide(a.Scope, sandboxKey, sandbox.Provider(provider))
}

func (c *Composition) applyShellEnv(_ context.Context, a *plugin.Activation) error {
	return plugin.Provide(a.Scope, environmentKey, shellenv.New(c.in.Home.Root()))
}

// applySession has commands learn where the log of their session is.
func (c *Composition) applySession(_ context.Context, a *plugin.Activation) error {
	remove, err := plugin.Get(a, environmentKey).Register(shellenv.Contributor{
		Name: "session-persistence",
		Keys: map[string]string{"DSH_SESSION_JSONL": "The log of this session: one JSON event a line. It may not exist yet."},
		Resolve: func(e shellenv.Execution) (map[string]string, error) {
			if e.SessionLog == "" {
				return nil, nil
			}
			return map[string]string{"DSH_SESSION_JSONL": e.SessionLog}, nil
		},
	})
	return undo(a, remove, err)
}

// undo has remove called when the row ends, unless there was an error.
func undo(a *plugin.Activation, remove func(), err error) error {
	if err != nil {
		return err
	}
	return a.Scope.Defer(func(context.Context) error {
		remove()
		return nil
	})
}

// configurable is an executor whose limits can be changed while it runs commands.
type configurable interface {
	shell.Executor
	Configure(bash.Config) error
}

func (c *Composition) applyShell(_ context.Context, a *plugin.Activation) error {
	return c.provideShell(a, func(config bash.Config) (configurable, error) {
		return confined.New(plugin.Get(a, runtimeKey).Runtime, plugin.Get(a, sandboxKey), plugin.Get(a, policiesKey), config)
	})
}

// applyShellPlain adds an executor that does not confine.
func (c *Composition) applyShellPlain(_ context.Context, a *plugin.Activation) error {
	return c.provideShell(a, func(config bash.Config) (configurable, error) {
		return bash.New(plugin.Get(a, runtimeKey).Runtime, config)
	})
}

func (c *Composition) provideShell(a *plugin.Activation, construct func(bash.Config) (configurable, error)) error {
	config, err := follow(c, a, shellSettings())
	if err != nil {
		return err
	}
	executor, err := construct(config.get().bash())
	if err != nil {
		return err
	}
	err = config.live(a, func(config ShellConfig) error {
		c.shellSettings.Store(&config)
		return executor.Configure(config.bash())
	})
	if err != nil {
		return err
	}
	return plugin.Provide(a.Scope, shellKey, shell.Executor(executor))
}

func (c *Composition) applyToolBash(_ context.Context, a *plugin.Activation) error {
	config := a.Config.(ToolBashConfig)
	options := toolbash.Config{
		EnableRunInBackground: config.EnableRunInBackground,
		YieldAfter:            milliseconds(config.YieldMs),
		Workdir:               c.Workdir,
		Log:                   c.in.Log,
	}
	if k, kept := plugin.Lookup(a, jobsKey); kept {
		options.Jobs = &commandJobs{parts: c, keeping: k, oneShot: c.in.OneShot}
	}
	t, err := toolbash.New(plugin.Get(a, shellKey), plugin.Get(a, environmentKey), options)
	if err != nil {
		return err
	}
	remove, err := c.Tools.Register(t)
	return undo(a, remove, err)
}

// Workdir is where a command runs that names dir: a relative one is taken from
// the workspace, and "" is what the settings of the shell say. They are joined as
// text: the kernel follows links before it takes dots away.
func (c *Composition) Workdir(dir string) string {
	if dir == "" {
		dir = c.shellConfig().Cwd
	}
	switch {
	case dir == "":
		return c.in.Workspace
	case dir[0] == '/':
		return dir
	default:
		return c.in.Workspace + "/" + dir
	}
}

// shellConfig is the configuration of the shell as it stands.
func (c *Composition) shellConfig() ShellConfig {
	if config := c.shellSettings.Load(); config != nil {
		return *config
	}
	return defaultShell()
}

// keeping is the service of the row "jobs", zero without one.
func (c *Composition) keeping() keeping { return service(c, jobsKey) }

// Owner is the owner of the session's jobs, Jobs their registry, and Records what
// keeps them beyond this process, nil when nothing does.
func (c *Composition) Owner() *jobs.Owner { return c.keeping().owner }

// Jobs is the registry of jobs.
func (c *Composition) Jobs() *jobs.Registry { return c.keeping().registry }

// Records is what keeps jobs beyond this process, nil when nothing does.
func (c *Composition) Records() *durable.Store { return c.keeping().records }

// Runtime spawns the commands.
func (c *Composition) Runtime() Runtime { return service(c, runtimeKey).Runtime }

// Policies says what confines the commands.
func (c *Composition) Policies() confined.Policies { return service(c, policiesKey) }

// Environment is the registry of managed facts.
func (c *Composition) Environment() *shellenv.Registry { return service(c, environmentKey) }

// Shell is the executor.
func (c *Composition) Shell() shell.Executor { return service(c, shellKey) }

// Settings are the user's.
func (c *Composition) Settings() *settings.Service { return service(c, settingsKey) }

// service is what a row provides at the moment, zero when none does. From Close on
// it is what was provided last: that refuses work by itself.
func service[T any](c *Composition, k plugin.Key[T]) T {
	v, ok := plugin.Service(c.host, k)
	if ended := c.ended.Load(); !ok && ended != nil {
		v, _ = (*ended)[k].(T)
	}
	return v
}

// services are what the rows provide at the moment.
func (c *Composition) services() map[plugin.AnyKey]any {
	return map[plugin.AnyKey]any{
		settingsKey: service(c, settingsKey), runtimeKey: service(c, runtimeKey), sandboxKey: service(c, sandboxKey),
		policiesKey: service(c, policiesKey), environmentKey: service(c, environmentKey),
		shellKey: service(c, shellKey), jobsKey: service(c, jobsKey),
	}
}
