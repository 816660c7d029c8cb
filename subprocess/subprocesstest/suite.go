package subprocesstest

import (
	"testing"

	"hardshell/subprocess"
)

// Options is what a check needs to choose about the runtime under test.
type Options struct {
	// SpillDir is the directory for spill files; "" is the provider's private
	// directory under the temporary directory.
	SpillDir string
	// Ambient is the environment that children inherit from, in the form of
	// os.Environ; nil is this process's own, read at each spawn.
	Ambient []string
}

// Run checks that the runtimes of newRuntime keep the promises of the seam.
// Each call of newRuntime returns a runtime of its own; the suite closes it.
//
// Run must not be called from a parallel test: its first group counts the
// goroutines, the descriptors and the memory of the whole process, and changes
// its standard streams, its signal dispositions and its working directory for
// a moment.
func Run(t *testing.T, newRuntime func(t *testing.T, o Options) subprocess.Runtime) {
	runSuite(t, newRuntime)
}
