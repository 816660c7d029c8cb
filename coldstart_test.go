package hardshell_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Package initialisation is paid by every command. Bounds on what is allocated
// do not depend on how busy the machine is, and catch a table that is built at
// start, or a dependency that compiles its expressions there.
const (
	maxInitAllocations = 1100
	maxInitBytes       = 256 << 10
)

// heavy are packages that cost a cold start or megabytes. A command that needs
// one must reach it without linking it into every other.
var heavy = []string{
	"crypto/tls", "crypto/x509", "encoding/gob", "go/ast", "html/template", "net/http", "testing",
	"github.com/rogpeppe/*", "github.com/santhosh-tekuri/*", "gopkg.in/*", "golang.org/x/text",
	"hardshell/shell/shelltest", "hardshell/subprocess/subprocesstest",
}

// initLine is a line of GODEBUG=inittrace=1: see package runtime.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, \S+ ms clock, (\d+) bytes, (\d+) allocs$`)

func TestColdStartIsCheap(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "hardshell")
	goTool(t, "build", "-buildvcs=false", "-o", binary, "./cmd/hardshell")
	cmd := exec.Command(binary, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	lines := initLine.FindAllStringSubmatch(trace.String(), -1)
	if len(lines) < 10 {
		t.Fatalf("the trace has only %d packages:\n%s", len(lines), trace.String())
	}
	var bytes, allocations int
	for _, line := range lines {
		b, _ := strconv.Atoi(line[2])
		a, _ := strconv.Atoi(line[3])
		bytes, allocations = bytes+b, allocations+a
	}
	t.Logf("%d packages: %d bytes, %d allocations", len(lines), bytes, allocations)
	if bytes > maxInitBytes || allocations > maxInitAllocations {
		t.Errorf("package initialisation takes %d bytes and %d allocations, more than %d and %d:\n%s",
			bytes, allocations, maxInitBytes, maxInitAllocations, trace.String())
	}
}

func TestHeavyPackagesAreNotLinked(t *testing.T) {
	linked := strings.Fields(goTool(t, "list", "-deps", "./cmd/hardshell"))
	if len(linked) < 50 {
		t.Fatalf("go list names only %d packages", len(linked))
	}
	for _, pkg := range linked {
		for _, pattern := range heavy {
			if isWithin(pkg, pattern) {
				t.Errorf("%s is linked into the command, through\n%s", pkg, importers(t, pkg))
			}
		}
	}
}

// isWithin reports whether a package is one, or below one, that a pattern names.
func isWithin(pkg, pattern string) bool {
	for ; pkg != "."; pkg = path.Dir(pkg) {
		if ok, _ := path.Match(pattern, pkg); ok {
			return true
		}
	}
	return false
}

// importers lists who imports a package.
func importers(t *testing.T, pkg string) string {
	t.Helper()
	var list strings.Builder
	for _, line := range strings.Split(goTool(t, "list", "-deps", "-f", "{{.ImportPath}}: {{.Imports}}", "./cmd/hardshell"), "\n") {
		name, imports, _ := strings.Cut(line, ": ")
		for _, imported := range strings.Fields(strings.Trim(imports, "[]")) {
			if imported == pkg {
				list.WriteString("  " + name + "\n")
			}
		}
	}
	return list.String()
}

// goTool runs the go command, for the tests that are about how this module is
// built.
func goTool(t *testing.T, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the go command and its caches")
	}
	cmd := exec.Command("go", args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}
