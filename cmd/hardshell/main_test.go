package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestMain makes this binary the program itself for the processes that the tests
// start.
func TestMain(m *testing.M) {
	if os.Getenv("HARDSHELL_TEST_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}

// as runs the program under a name.
func as(t *testing.T, name string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	cmd := exec.Cmd{
		Path: self, Args: append([]string{name}, args...), Dir: t.TempDir(),
		Env:    append(os.Environ(), "HARDSHELL_TEST_MAIN=1", "DSH_HOME="+t.TempDir()),
		Stdout: &out, Stderr: &errs,
	}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestItsNameMakesItAShell(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux confines")
	}
	for _, name := range []string{"hsh", "/opt/bin/hsh", "bash", "sh", "-hsh"} {
		if status, out, errs := as(t, name, "-s", "one"); status != 0 || out != "" || errs != "" {
			t.Errorf("%s -s, with nothing to read: status %d, %q, %q", name, status, out, errs)
		}
		if status, out, errs := as(t, name, "-c", `echo "$1"; exit 3`, "x", "one"); status != 3 || out != "one\n" || errs != "" {
			t.Errorf("%s -c: status %d, %q, %q", name, status, out, errs)
		}
	}
	for _, name := range []string{"hardshell", "/opt/hsh/hardshell", "hardshell.sh.bak"} {
		if status, _, errs := as(t, name, "-s", "one"); status != 2 || !strings.Contains(errs, "unknown shorthand flag: 's' in -s") {
			t.Errorf("%s -s: status %d, %q", name, status, errs)
		}
		if status, out, _ := as(t, name, "-c", `echo "$1"; exit 3`, "x", "one"); status != 3 || out != "one\n" {
			t.Errorf("%s -c: status %d, %q", name, status, out)
		}
	}
}
