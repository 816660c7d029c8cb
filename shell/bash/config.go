package bash

import (
	"time"

	"hardshell/internal/fault"
	"hardshell/subprocess"
)

// Config bounds what commands may take. DefaultConfig has the defaults; every
// limit must be positive.
type Config struct {
	// Workdir is where commands run that name no directory; "" is the working
	// directory of this process.
	Workdir string
	// Timeout bounds a foreground run that asks for none, MaxTimeout one that
	// does.
	Timeout    time.Duration
	MaxTimeout time.Duration
	// MaxOutputBytes is how much of each stream is kept in memory: its tail.
	MaxOutputBytes int64
	// MaxSpillBytes bounds the file of a stream that outgrew it. A longer
	// stream has no file.
	MaxSpillBytes int64
	// Grace is the time between SIGTERM and SIGKILL.
	Grace time.Duration
}

// DefaultConfig returns the documented defaults.
func DefaultConfig() Config {
	return Config{
		Timeout:        120 * time.Second,
		MaxTimeout:     600 * time.Second,
		MaxOutputBytes: 64000,
		MaxSpillBytes:  64 << 20,
		Grace:          3 * time.Second,
	}
}

// validate names the first field that is out of range, as it is spelled in the
// settings.
func (c *Config) validate() error {
	positive := []struct {
		field string
		value int64
	}{
		{"timeoutMs", int64(c.Timeout)},
		{"maxTimeoutMs", int64(c.MaxTimeout)},
		{"maxOutputBytes", c.MaxOutputBytes},
		{"maxSpillBytes", c.MaxSpillBytes},
		{"graceMs", int64(c.Grace)},
	}
	for _, p := range positive {
		if p.value <= 0 {
			return fault.New(fault.InvalidArgument, "bash-local: %s must be a positive finite number", p.field)
		}
	}
	if c.Grace > subprocess.MaxGrace {
		return fault.New(fault.InvalidArgument, "bash-local: graceMs must be no greater than 2147483647")
	}
	return nil
}
