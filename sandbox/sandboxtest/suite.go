package sandboxtest

import (
	"os"
	"testing"

	"hardshell/sandbox"
	"hardshell/subprocess"
)

// Fixture is a provider under test with what belongs to it.
type Fixture struct {
	// Provider is closed by the suite.
	Provider sandbox.Provider
	// Runtime spawns under the confinements of Provider. The suite closes it
	// before the provider.
	Runtime subprocess.Runtime
	// Home is the home of hardshell that Provider uses; "" is the one that was
	// given to the function that opens fixtures.
	Home string
	// Tier is what every confinement must report.
	Tier sandbox.Tier
}

// Run checks that the providers of open keep the promises of the seam, and
// that nothing confined by them gets out. Each call of open returns a fixture
// of its own; home exists, with everything that a home has, and belongs to the
// calling check alone. Opening must be cheap: every check opens its own.
//
// Run must not be called from a parallel test: its first group changes the
// environment and the descriptors of this process for a moment. The importing
// package must call Main.
func Run(t *testing.T, open func(t *testing.T, home string) Fixture) {
	runSuite(t, open)
}

// Main runs the tests of the importing package, whose TestMain calls it and
// does nothing before: when the suite has executed the test binary again inside
// of a sandbox, Main makes the attempts that it is asked for, and no test runs.
// It does not return.
func Main(m *testing.M) {
	attemptIfAsked()
	os.Exit(m.Run())
}

// AsNobody runs the calling test once more as the user 65534, in a process of
// its own with a home and a temporary directory of its own, and fails when that
// fails. In that process, and where the user is not root, it returns false: the
// caller goes on. It returns true when the test has been run.
//
//	func TestConformanceAsNobody(t *testing.T) {
//		if sandboxtest.AsNobody(t) {
//			return
//		}
//		sandboxtest.Run(t, open)
//	}
//
// Where the user is not root the test is skipped: it ran as that user already.
func AsNobody(t *testing.T) bool {
	t.Helper()
	return asNobody(t)
}
