package compose

import (
	"time"

	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/shell/bash"
)

// Row is one part of a composition.
type Row struct {
	// ID names the row.
	ID string `json:"id"`
	// Plugin names what the row is made of.
	Plugin string `json:"plugin"`
	// Config is the plugin's configuration: the type that the plugin's constant
	// names, nil for a plugin that has none.
	Config any `json:"config,omitempty"`
}

// The plugins that a row can be made of.
const (
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

// Default returns the rows of the default composition, in the order in which
// they are made. The caller owns them.
func Default() []Row {
	return []Row{
		{ID: "subprocess", Plugin: PluginSubprocess},
		{ID: "sandbox", Plugin: PluginSandbox, Config: SandboxConfig{Backend: BackendAuto}},
		{ID: "sandbox-policy", Plugin: PluginSandboxPolicy, Config: defaultPolicy()},
		{ID: "shell-env", Plugin: PluginShellEnv},
		{ID: "session", Plugin: PluginSession},
		{ID: "shell", Plugin: PluginShell, Config: shellConfig(bash.DefaultConfig())},
		{ID: "jobs", Plugin: PluginJobs, Config: defaultJobs()},
		{ID: "tool-bash", Plugin: PluginToolBash, Config: ToolBashConfig{EnableRunInBackground: true}},
		{ID: "tool-jobs", Plugin: PluginToolJobs, Config: ToolJobsConfig{WaitTimeoutMs: 30_000, MaxWaitTimeoutMs: 600_000}},
	}
}

// SandboxConfig is the configuration of the row "sandbox".
type SandboxConfig struct {
	// Backend is "auto" for the most complete tier that the host allows, or the
	// name of the only tier that may be used.
	Backend string `json:"backend"`
}

// BackendAuto uses the most complete tier that the host allows.
const BackendAuto = "auto"

// SandboxPolicyConfig is the configuration of the row "sandbox-policy": what
// commands may do that nobody granted more.
type SandboxPolicyConfig struct {
	Mode sandbox.Mode `json:"mode"`
	// Network is "open" or "none".
	Network sandbox.Network `json:"network"`
	// WritableRoots are directories that can be written besides the workspace,
	// Protect what stays read-only in it, Hide what cannot be read; absolute, or
	// from "~/" on. Without Hide it is the documented list.
	WritableRoots []string `json:"writableRoots"`
	Protect       []string `json:"protect"`
	Hide          []string `json:"hide"`
	// Sockets is "own", "host", or paths of sockets that may be reached.
	Sockets []string       `json:"sockets"`
	Caches  sandbox.Caches `json:"caches"`
	PIDs    int            `json:"pids"`
	// Ptrace is "allow" or "deny".
	Ptrace string `json:"ptrace"`
}

// ShellConfig is the configuration of the row "shell". Every limit is positive.
type ShellConfig struct {
	// TimeoutMs bounds a foreground command that asks for no timeout,
	// MaxTimeoutMs one that does, in milliseconds.
	TimeoutMs    float64 `json:"timeoutMs"`
	MaxTimeoutMs float64 `json:"maxTimeoutMs"`
	// MaxOutputBytes is how much of each stream is kept in memory: its tail.
	MaxOutputBytes int64 `json:"maxOutputBytes"`
	// MaxSpillBytes bounds the file of a stream that outgrew it.
	MaxSpillBytes int64 `json:"maxSpillBytes"`
	// GraceMs is the time between SIGTERM and SIGKILL, in milliseconds.
	GraceMs float64 `json:"graceMs"`
}

// ToolBashConfig is the configuration of the row "tool-bash".
type ToolBashConfig struct {
	// EnableRunInBackground publishes run_in_background. It needs a registry of
	// jobs.
	EnableRunInBackground bool `json:"enableRunInBackground"`
	// YieldMs is how long a foreground call is held before its command goes on as
	// a job; 0 holds it to the end.
	YieldMs float64 `json:"yieldMs"`
}

func shellConfig(c bash.Config) ShellConfig {
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
