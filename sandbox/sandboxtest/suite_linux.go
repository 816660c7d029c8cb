package sandboxtest

import (
	"os/exec"
	"sync"
	"testing"
)

// check is one promise of the seam, named by the sentence that it is.
type check struct {
	name string
	run  func(f *fixture)
	// rare marks checks that may pass when nothing is confined, because the
	// kernel or the host refuses what they attempt to everybody.
	rare bool
}

// group is the checks of one theme.
type group struct {
	name   string
	checks []check
	// alone marks checks that change the state of this process: nothing else
	// may run beside them.
	alone bool
	// escapes marks checks that must fail when nothing is confined.
	escapes bool
}

func groups() []group {
	return []group{
		{name: "process", checks: processChecks(), alone: true},
		{name: "inheritance", checks: inheritanceChecks(), alone: true, escapes: true},
		{name: "reports", checks: reportChecks()},
		{name: "refusals", checks: refusalChecks()},
		{name: "denials", checks: denialChecks()},
		{name: "work", checks: workChecks()},
		{name: "writes", checks: writeChecks(), escapes: true},
		{name: "metadata", checks: metadataChecks(), escapes: true},
		{name: "more metadata", checks: attemptChecks(metadataAttempts), escapes: true},
		{name: "links", checks: linkChecks(), escapes: true},
		{name: "workspaces", checks: workspaceChecks()},
		{name: "submounts", checks: submountChecks(), escapes: true},
		{name: "home", checks: homeChecks(), escapes: true},
		{name: "own files", checks: ownFileChecks()},
		{name: "hidden", checks: hiddenChecks(), escapes: true},
		{name: "granted", checks: grantChecks()},
		{name: "protected", checks: protectedChecks(), escapes: true},
		{name: "closed directories", checks: closedChecks(), escapes: true},
		{name: "closed workspaces", checks: closedWorkspaceChecks()},
		{name: "git", checks: gitChecks()},
		{name: "temp", checks: tempChecks()},
		{name: "mounts", checks: attemptChecks(mountAttempts), escapes: true},
		{name: "namespaces", checks: attemptChecks(namespaceAttempts), escapes: true},
		{name: "kernel", checks: attemptChecks(kernelAttempts), escapes: true},
		{name: "leases", checks: attemptChecks(leaseAttempts), escapes: true},
		{name: "scheduling", checks: attemptChecks(schedulingAttempts), escapes: true},
		{name: "devices", checks: attemptChecks(deviceAttempts), escapes: true},
		{name: "processes", checks: attemptChecks(processAttempts), escapes: true},
		{name: "terminals", checks: attemptChecks(terminalAttempts), escapes: true},
		{name: "socket families", checks: attemptChecks(familyAttempts), escapes: true},
		{name: "permitted", checks: attemptChecks(permittedAttempts)},
		{name: "foreign code", checks: foreignChecks(), escapes: true},
		{name: "privileges", checks: privilegeChecks(), escapes: true},
		{name: "unix sockets", checks: unixChecks(), escapes: true},
		{name: "network", checks: networkChecks()},
		{name: "daemons", checks: daemonChecks()},
		{name: "limits", checks: limitChecks(), escapes: true},
		{name: "life", checks: lifeChecks()},
	}
}

// shared is what the checks of one run share, because it is slow to make.
type shared struct {
	// binary is a copy of the test binary.
	binary string
	// repository is where newRepository makes its model, once.
	repository string
	once       sync.Once
	// release ends what memory made.
	memory  sync.Once
	release func()
}

func runSuite(t *testing.T, open func(*testing.T, string) Fixture) {
	for _, program := range []string{"bash", "sleep", "cat", "setsid", "git", "ls", "touch", "mkfifo", "truncate"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("skipped: the suite's children need %s: %v", program, err)
		}
	}
	world := &shared{binary: probeBinary(t), repository: directory(t, shown())}
	t.Cleanup(func() {
		if world.release != nil {
			world.release()
		}
	})
	for _, g := range groups() {
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.checks {
				t.Run(c.name, func(t *testing.T) {
					if !g.alone {
						t.Parallel()
					}
					c.run(newFixture(t, open, world))
				})
			}
		})
	}
}
