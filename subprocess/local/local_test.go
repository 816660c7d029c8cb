package local_test

import (
	"testing"

	"hardshell/subprocess"
	"hardshell/subprocess/local"
	"hardshell/subprocess/subprocesstest"
)

func TestConformance(t *testing.T) {
	subprocesstest.Run(t, func(t *testing.T, o subprocesstest.Options) subprocess.Runtime {
		return local.New(local.Config{SpillDir: o.SpillDir, Ambient: o.Ambient})
	})
}
