package hardshell

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// seams are the packages that hold an interface and its vocabulary.
var seams = []string{"shell", "subprocess", "sandbox", "shellenv", "settings", "settings/schema"}

// suites are the conformance suites of seams: they are imported by tests only.
var suites = []string{"shell/shelltest", "subprocess/subprocesstest", "sandbox/sandboxtest", "jobs/jobstest", "settings/settingstest"}

// providers are the packages that implement a seam.
var providers = []string{"shell/bash", "shell/confined", "subprocess/local", "subprocess/host", "sandbox/native", "sandbox/policy", "settings/file"}

// roots put things together, and so may import everything below.
var roots = []string{"", "compose", "host", "bench"}

// mayImport says which of our packages a package may import.
func mayImport(from, to string) bool {
	if within(to, "internal") {
		return true
	}
	switch {
	case within(from, "internal"):
		return false
	case from == "plugin":
		return false
	case from == "settings/schema":
		return false // a schema knows of no service
	case from == "jobs":
		return contains(seams, to)
	case from == "jobs/jobstest", from == "jobs/durable":
		return contains(seams, to) || to == "jobs"
	case contains(seams, from):
		return contains(seams, to)
	case contains(suites, from):
		return contains(seams, to)
	case from == "shell/confined" && to == "shell/bash":
		return true // the same executor, confined: the one exception
	case contains(providers, from):
		return contains(seams, to)
	case within(from, "tool"):
		return contains(seams, to) || within(to, "tool") || to == "jobs"
	case contains(roots, from):
		return !within(to, "cli") && !within(to, "cmd") && !contains(suites, to)
	case within(from, "cli"):
		return contains(seams, to) || within(to, "tool") || to == "jobs" || contains(roots, to)
	case within(from, "cmd"):
		return to == "cli" || to == "host" // and internal/spawn, for what only a main may do
	case within(from, "examples"):
		return !within(to, "internal") && !within(to, "cli") && !within(to, "cmd")
	default:
		return false
	}
}

func within(pkg, root string) bool { return pkg == root || strings.HasPrefix(pkg, root+"/") }

func contains(list []string, pkg string) bool {
	for _, p := range list {
		if p == pkg {
			return true
		}
	}
	return false
}

func TestImportsPointDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	const module = "hardshell"
	local := func(path string) (string, bool) {
		if path == module {
			return "", true
		}
		return strings.CutPrefix(path, module+"/")
	}
	packages := 0
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; packages++ {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		from, ok := local(pkg.ImportPath)
		if !ok {
			t.Fatalf("go list named %s, which is not ours", pkg.ImportPath)
		}
		for _, path := range pkg.Imports {
			if to, ours := local(path); ours && !mayImport(from, to) {
				t.Errorf("%s imports %s, which is not below it: see CONTRIBUTING.md", pkg.ImportPath, path)
			}
		}
	}
	if packages < 10 {
		t.Fatalf("go list named only %d packages", packages)
	}
}

func TestLayerRuleRefusesWhatItShould(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{"internal/state", "subprocess"},
		{"shell", "shell/bash"},
		{"subprocess", "shell/bash"},
		{"shell/bash", "subprocess/local"},
		{"tool/bash", "shell/bash"},
		{"cli", "subprocess/local"},
		{"cmd/hardshell", "shell"},
		{"compose", "cli"},
		{"plugin", "shell"},
		{"settings", "plugin"},
		{"settings/schema", "settings"},
		{"newcomer", "shell"},
	} {
		if mayImport(c.from, c.to) {
			t.Errorf("%s may import %s", c.from, c.to)
		}
	}
}
