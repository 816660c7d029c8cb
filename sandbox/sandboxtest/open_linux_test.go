package sandboxtest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hardshell/internal/spawn"
	"hardshell/sandbox"
	"hardshell/subprocess/local"
)

func TestMain(m *testing.M) { Main(m) }

// open claims everything and confines nothing.
type open struct{ temp string }

func (o open) Confine(_ context.Context, p sandbox.Policy) (sandbox.Confinement, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return o, nil
}

// Start makes it a confinement for the local runtime.
func (o open) Start(attr *spawn.Attr) (*spawn.Child, error) {
	inside := *attr
	inside.Env = append(slices.Clone(attr.Env), "TMPDIR="+o.temp)
	return spawn.Start(&inside)
}

func (open) Close() error                { return nil }
func (o open) Confines() string          { return "open" }
func (open) Denied(sandbox.Outcome) bool { return false }
func (open) Report() sandbox.Report {
	return sandbox.Report{Mode: sandbox.WorkspaceWrite, Backend: "open", Tier: sandbox.TierNamespaces, Network: sandbox.NetworkOpen, Effects: everything}
}

// openVariable is set in the process that runs the suite against open.
const openVariable = "SANDBOXTEST_OPEN"

// What a check finds refused proves nothing unless it would be found open
// without a sandbox. This runs the escapes with a provider that confines
// nothing, in namespaces of their own as far as they could harm the host, and
// expects that every one fails.
func TestEveryEscapeIsFoundWithoutASandbox(t *testing.T) {
	if os.Getenv(openVariable) != "" {
		t.Run("suite", func(t *testing.T) {
			Run(t, func(t *testing.T, home string) Fixture {
				return Fixture{Provider: open{t.TempDir()}, Runtime: local.New(local.Config{}), Tier: sandbox.TierNamespaces}
			})
		})
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can make the namespaces that keep the escapes from the host")
	}
	if testing.Short() {
		t.Skip("skipped: slow")
	}
	expected := map[string]bool{} // whether the check must fail
	for _, g := range groups() {
		for _, c := range g.checks {
			if g.escapes {
				expected[g.name+"/"+rewritten(c.name)] = !c.rare
			}
		}
	}
	var names []string
	for _, g := range groups() {
		if g.escapes {
			names = append(names, regexp.QuoteMeta(strings.ReplaceAll(g.name, " ", "_")))
		}
	}
	cmd := exec.Command(os.Args[0], "-test.v", "-test.timeout=5m",
		"-test.run=^TestEveryEscapeIsFoundWithoutASandbox$/^suite$/^("+strings.Join(names, "|")+")$")
	cmd.Env = append(os.Environ(), openVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("the suite passed without a sandbox")
	}
	passed := regexp.MustCompile(`^\s*--- (PASS|SKIP|FAIL): TestEveryEscapeIsFoundWithoutASandbox/suite/(\S+/\S+) `)
	seen := 0
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		m := passed.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		name := rewritten(m[2])
		seen++
		if m[1] == "PASS" && expected[name] {
			t.Errorf("passed without a sandbox: %s", name)
		}
	}
	if seen < len(expected) {
		t.Errorf("%d checks of %d were run:\n%s", seen, len(expected), out)
	}
}

// rewritten is a name as the output of tests is read back: the testing package
// writes underscores for blanks.
func rewritten(name string) string { return strings.ReplaceAll(name, "_", " ") }
