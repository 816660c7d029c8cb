package compose

import (
	"time"

	"hardshell/plugin"
	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/shell/bash"
)

// Row is one part of a composition: an id, the name of a plugin, and its
// configuration: the type that the plugin's constant names, the same as a map of
// JSON data, or nil for the defaults.
type Row = plugin.Row

// The plugins that a row can be made of.
const (
	PluginSettingsFile  = "settings-file"  // SettingsFileConfig
	PluginSubprocess    = "subprocess"     // no configuration
	PluginSandbox       = "sandbox-native" // SandboxConfig
	PluginSandboxPolicy = "sandbox-policy" // SandboxPolicyConfig
	PluginShellEnv      = "shell-env"      // no configuration
	PluginSession       = "session"        // no configuration
	PluginShell         = "shell-confined" // ShellConfig
	PluginShellPlain    = "shell-bash"     // ShellConfig
	PluginJobs          = "jobs"           // JobsConfig
	PluginToolBash      = "tool-bash"      // ToolBashConfig
	PluginToolJobs      = "tool-jobs"      // ToolJobsConfig
)

// Default returns the rows of the default composition. The caller owns them.
func Default() []Row {
	return []Row{
		{ID: "settings-file", Plugin: PluginSettingsFile, Config: defaultSettingsFile()},
		{ID: "subprocess", Plugin: PluginSubprocess},
		{ID: "sandbox", Plugin: PluginSandbox, Config: defaultSandbox()},
		{ID: "sandbox-policy", Plugin: PluginSandboxPolicy, Config: defaultPolicy()},
		{ID: "shell-env", Plugin: PluginShellEnv},
		{ID: "session", Plugin: PluginSession},
		{ID: "shell", Plugin: PluginShell, Config: defaultShell()},
		{ID: "jobs", Plugin: PluginJobs, Config: defaultJobs()},
		{ID: "tool-bash", Plugin: PluginToolBash, Config: defaultToolBash()},
		{ID: "tool-jobs", Plugin: PluginToolJobs, Config: defaultToolJobs()},
	}
}

// SandboxConfig is the configuration of the row "sandbox".
type SandboxConfig struct {
	// Backend is "auto" for the most complete tier that the host allows, or the
	// name of the only tier that may be used.
	Backend string `json:"backend" default:"auto" doc:"What confines commands: auto takes the most complete tier that the host allows, or the name of the only tier that may be used."`
}

func defaultSandbox() SandboxConfig { return SandboxConfig{Backend: BackendAuto} }

// BackendAuto uses the most complete tier that the host allows.
const BackendAuto = "auto"

// SandboxPolicyConfig is the configuration of the row "sandbox-policy", and the
// settings "sandbox": what commands may do that nobody granted more.
type SandboxPolicyConfig struct {
	Mode          sandbox.Mode    `json:"mode" default:"workspace-write" enum:"read-only=Read only|workspace-write=Write in the workspace|danger-full-access=No confinement" doc:"What commands may do that ask for nothing else."`
	Network       sandbox.Network `json:"network" default:"open" enum:"open=Open|none=None" doc:"What commands may reach: none leaves a loopback of their own."`
	WritableRoots []string        `json:"writableRoots" doc:"Directories that can be written besides the workspace; absolute, or from ~/ on."`
	Protect       []string        `json:"protect" doc:"Paths that stay read-only within what can be written; absolute, or from ~/ on."`
	// Hide is nil for the documented list.
	Hide    []string       `json:"hide,omitempty" doc:"Paths that cannot be read, in place of the documented list; absolute, or from ~/ on."`
	Sockets []string       `json:"sockets" default:"[\"own\"]" doc:"Unix sockets that can be reached: own for those made inside, host for all, or paths."`
	Caches  sandbox.Caches `json:"caches" default:"private" enum:"private=The session's own|shared=The user's own|none=None" doc:"Which caches of tools can be written."`
	PIDs    int            `json:"pids" default:"4096" minimum:"1" doc:"How many processes the commands of a sandbox may be at once."`
	Ptrace  string         `json:"ptrace" default:"allow" enum:"allow=Allow|deny=Deny" doc:"Whether commands may trace each other."`
}

// ShellConfig is the configuration of the row "shell", and the settings "shell".
type ShellConfig struct {
	Cwd            string  `json:"cwd,omitempty" doc:"Where commands run that name no directory, taken from the workspace; absent is the workspace itself."`
	TimeoutMs      float64 `json:"timeoutMs" default:"120000" exclusiveMinimum:"0" maximum:"9000000000000" doc:"How long a foreground command may run that asks for no timeout, in milliseconds."`
	MaxTimeoutMs   float64 `json:"maxTimeoutMs" default:"600000" exclusiveMinimum:"0" maximum:"9000000000000" doc:"The longest timeout that a command may ask for, in milliseconds."`
	MaxOutputBytes int64   `json:"maxOutputBytes" default:"64000" minimum:"1" doc:"How much of each stream is kept in memory: its tail."`
	MaxSpillBytes  int64   `json:"maxSpillBytes" default:"67108864" minimum:"1" doc:"How long the file of a stream may be that outgrew it; a longer stream has none."`
	GraceMs        float64 `json:"graceMs" default:"3000" exclusiveMinimum:"0" maximum:"2147483647" doc:"The time between SIGTERM and SIGKILL, in milliseconds."`
}

// ToolBashConfig is the configuration of the row "tool-bash".
type ToolBashConfig struct {
	// EnableRunInBackground needs a registry of jobs.
	EnableRunInBackground bool    `json:"enableRunInBackground" default:"true" doc:"Whether commands may run in the background."`
	YieldMs               float64 `json:"yieldMs" default:"0" minimum:"0" maximum:"9000000000000" doc:"How long a foreground call is held before its command goes on as a job, in milliseconds; 0 holds it to the end."`
}

func defaultToolBash() ToolBashConfig { return ToolBashConfig{EnableRunInBackground: true} }

func defaultShell() ShellConfig {
	c := bash.DefaultConfig()
	return ShellConfig{
		TimeoutMs:      shell.Milliseconds(c.Timeout),
		MaxTimeoutMs:   shell.Milliseconds(c.MaxTimeout),
		MaxOutputBytes: c.MaxOutputBytes,
		MaxSpillBytes:  c.MaxSpillBytes,
		GraceMs:        shell.Milliseconds(c.Grace),
	}
}

func (c ShellConfig) bash() bash.Config {
	return bash.Config{
		Timeout:        milliseconds(c.TimeoutMs),
		MaxTimeout:     milliseconds(c.MaxTimeoutMs),
		MaxOutputBytes: c.MaxOutputBytes,
		MaxSpillBytes:  c.MaxSpillBytes,
		Grace:          milliseconds(c.GraceMs),
	}
}

// milliseconds is the inverse of shell.Milliseconds. What is no duration at all
// (NaN, or longer than any) becomes one that the executor refuses.
func milliseconds(ms float64) time.Duration {
	d := ms * float64(time.Millisecond)
	if !(d < float64(shell.NoTimeout)) {
		return -1
	}
	return time.Duration(d)
}
