//go:build !unix

package subprocesstest

import (
	"testing"

	"hardshell/subprocess"
)

func runSuite(t *testing.T, _ func(*testing.T, Options) subprocess.Runtime) {
	t.Skip("skipped: the children of this suite are POSIX shell scripts")
}
