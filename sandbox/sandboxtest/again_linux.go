package sandboxtest

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user of whom nothing is expected.
const nobody = 65534

// nobodyVariable is set in the process of AsNobody.
const nobodyVariable = "SANDBOXTEST_AS_NOBODY"

func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Getenv(nobodyVariable) != "" {
		return false
	}
	if os.Geteuid() != 0 {
		t.Skip("skipped: this user is not root, so the suite ran as an ordinary user already")
	}
	dir := directory(t, shown())
	home, temp := dir+"/home", dir+"/temp"
	for _, d := range []string{home, temp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(d, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	runAgain(t, probeBinary(t), home, []string{nobodyVariable + "=1", baseVariable + "=" + home, "HOME=" + home, "TMPDIR=" + temp},
		&syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}})
	return true
}

// again runs this check in a process of its own with other attributes, and
// returns false in that process: the caller goes on.
func (f *fixture) again(variable string, attributes *syscall.SysProcAttr) bool {
	f.Helper()
	if os.Getenv(variable) != "" {
		return false
	}
	directory, err := os.Getwd()
	if err != nil {
		f.Fatal(err)
	}
	runAgain(f.T, f.binary, directory, []string{variable + "=1"}, attributes)
	return true
}

// runAgain runs the calling test, and no other, in another process.
func runAgain(t *testing.T, binary, dir string, env []string, attributes *syscall.SysProcAttr) {
	t.Helper()
	var pattern []string
	for name := range strings.SplitSeq(t.Name(), "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(name)+"$")
	}
	cmd := exec.Command(binary, "-test.run="+strings.Join(pattern, "/"), "-test.v", "-test.timeout=10m")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = attributes
	out, err := cmd.CombinedOutput()
	switch text := string(out); {
	case err != nil:
		t.Errorf("%v:\n%s", err, failures(text))
	case strings.Contains(text, "no tests to run"):
		t.Errorf("the other process found no test:\n%s", text)
	case strings.Contains(text, "--- SKIP: "+t.Name()+" "):
		t.Skipf("skipped in the other process:\n%s", text)
	}
}

// failures leaves the checks that passed out of verbose output.
func failures(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(trimmed, "=== "), strings.HasPrefix(trimmed, "--- PASS"):
		default:
			kept.WriteString(line)
		}
	}
	return kept.String()
}
