package local

import "os"

// Config says what a Runtime gets from its surroundings.
type Config struct {
	// SpillDir holds the spill files. It is created with mode 0700, parents
	// too, when the first is needed; "" is a private directory under the
	// system's temporary directory. Spill files are not removed by Close.
	SpillDir string
	// Ambient is the environment that children inherit from, in the form of
	// os.Environ; nil is this process's own at each spawn.
	Ambient []string
}

func (c *Config) ambient() []string {
	if c.Ambient != nil {
		return c.Ambient
	}
	return os.Environ()
}
