package hostsockets

import (
	"slices"
	"strings"
)

// variables lead to sockets of the host. A star stands for any text.
var variables = []string{
	// Keys and passwords.
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO",
	"GNOME_KEYRING_CONTROL", "GNOME_KEYRING_PID", "SSH_AGENT_LAUNCHER", "PAM_KWALLET*_LOGIN",

	// The desktop: what draws, types and plays for the user.
	"DBUS_SESSION_BUS_ADDRESS", "DBUS_SESSION_BUS_PID", "DBUS_SYSTEM_BUS_ADDRESS", "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE",
	"AT_SPI_BUS_ADDRESS", "IBUS_ADDRESS", "IBUS_DAEMON_PID",
	"DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET",
	"SESSION_MANAGER", "ICEAUTHORITY",
	"PULSE_SERVER", "PULSE_COOKIE", "PULSE_RUNTIME_PATH", "PIPEWIRE_REMOTE", "PIPEWIRE_RUNTIME_DIR",
	"SWAYSOCK", "I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE", "NIRI_SOCKET", "BSPWM_SOCKET",
	// The directory of all of these. It is hidden, and a program that is told of
	// it fails where one that is not does without.
	"XDG_RUNTIME_DIR",

	// Daemons that run what they are told to, often as root.
	"DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST", "CONTAINERD_ADDRESS", "BUILDKIT_HOST", "NIX_REMOTE", "LIBVIRT_DEFAULT_URI",

	// Terminals and editors that run commands outside.
	"TMUX", "TMUX_PANE", "STY", "ZELLIJ*", "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "ALACRITTY_SOCKET",
	"NVIM", "NVIM_LISTEN_ADDRESS", "EMACS_SOCKET_NAME", "EMACS_SERVER_FILE",
	"VSCODE_IPC_HOOK*", "VSCODE_GIT_IPC_HANDLE", "VSCODE_GIT_ASKPASS_*", "REMOTE_CONTAINERS_IPC", "REMOTE_CONTAINERS_SOCKETS",
	// Starts programs of Windows.
	"WSL_INTEROP",

	// What a service manager passed to this process, for it alone:
	// sd_listen_fds(3), sd_notify(3).
	"NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC",
}

// Variables returns the names of environment variables that lead to sockets of
// the host, sorted. A star stands for any text. Dropping them closes nothing;
// it lets programs do without what they could not reach.
func Variables() []string {
	names := slices.Clone(variables)
	slices.Sort(names)
	return names
}

// IsVariable reports whether Variables names the variable.
func IsVariable(name string) bool {
	return slices.ContainsFunc(variables, func(pattern string) bool {
		before, after, star := strings.Cut(pattern, "*")
		if !star {
			return name == pattern
		}
		return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
	})
}
