//go:build unix

package subprocesstest

import (
	"os/exec"
	"testing"

	"hardshell/subprocess"
)

// check is one promise of the seam, named by the sentence that it is.
type check struct {
	name string
	run  func(f *fixture)
}

// group is the checks of one theme.
type group struct {
	name   string
	checks []check
	// alone marks checks that look at, or change, the state of this process:
	// nothing else may run beside them.
	alone bool
}

func groups() []group {
	return []group{
		{"process", processChecks(), true},
		{"leaks", leakChecks(), true},
		{"spawn", spawnChecks(), false},
		{"refusals", refusalChecks(), false},
		{"executables", executableChecks(), false},
		{"exit", exitChecks(), false},
		{"stdin", stdinChecks(), false},
		{"environment", environmentChecks(), false},
		{"streams", streamChecks(), false},
		{"text", textChecks(), false},
		{"tee", teeChecks(), false},
		{"spill", spillChecks(), false},
		{"drain", drainChecks(), false},
		{"kill", killChecks(), false},
		{"tree", treeChecks(), false},
		{"escape", escapeChecks(), false},
		{"context", contextChecks(), false},
		{"close", closeChecks(), false},
	}
}

func runSuite(t *testing.T, newRuntime func(*testing.T, Options) subprocess.Runtime) {
	for _, program := range []string{"bash", "sleep", "cat", "head", "env"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("skipped: the suite's children need %s: %v", program, err)
		}
	}
	for _, g := range groups() {
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.checks {
				t.Run(c.name, func(t *testing.T) {
					if !g.alone {
						t.Parallel()
					}
					c.run(newFixture(t, newRuntime))
				})
			}
		})
	}
}
