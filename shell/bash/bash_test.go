//go:build unix

package bash_test

import (
	"testing"

	"hardshell/shell/bash"
	"hardshell/shell/shelltest"
	"hardshell/subprocess/local"
)

func TestConformance(t *testing.T) {
	shelltest.Run(t, func(t *testing.T, o shelltest.Options) shelltest.Fixture {
		runtime := local.New(local.Config{SpillDir: o.SpillDir, Ambient: o.Ambient})
		executor, err := bash.New(runtime, config(o))
		if err != nil {
			t.Fatal(err)
		}
		return shelltest.Fixture{
			Executor: executor, Runtime: runtime,
			Reconfigure: func(o shelltest.Options) error { return executor.Configure(config(o)) },
			Close:       runtime.Close,
		}
	})
}

// config is the default configuration with what a check asks for.
func config(o shelltest.Options) bash.Config {
	c := bash.DefaultConfig()
	c.Workdir = o.Workdir
	override(&c.Timeout, o.Timeout)
	override(&c.MaxTimeout, o.MaxTimeout)
	override(&c.MaxOutputBytes, o.MaxOutputBytes)
	override(&c.MaxSpillBytes, o.MaxSpillBytes)
	override(&c.Grace, o.Grace)
	return c
}

func override[T comparable](field *T, value T) {
	var zero T
	if value != zero {
		*field = value
	}
}
