package host

import (
	"os"

	"hardshell/internal/state"
)

// Config says what a Runtime gets from its surroundings.
type Config struct {
	// Home is where the host is found, SessionID a valid id.
	Home      state.Home
	SessionID string
	// Keep has the host leave the session's recorded commands running when this
	// runtime is the last that detaches. Others end with their runtime.
	Keep bool
	// SpillDir and Ambient are those of local.Config.
	SpillDir string
	Ambient  []string
	// Command is the absolute path of the program that becomes the host, and its
	// first arguments; the home and the session's id follow. Empty is this very
	// program with the argument "session-host": its main hands that over to
	// host.Main.
	Command []string
}

func (c *Config) ambient() []string {
	if c.Ambient != nil {
		return c.Ambient
	}
	return os.Environ()
}
