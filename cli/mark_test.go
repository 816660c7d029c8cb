//go:build unix

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hardshell/sandbox"
)

// A confined command does not know its processes by the numbers that they have
// here. So a script says its mark as the time that its processes sleep for, and
// whoever has the mark in its arguments belongs to the script.

var marks atomic.Int64

// newMark returns a number of seconds, about ten minutes, that no other test
// sleeps for.
func newMark() string { return fmt.Sprintf("600.0%d%d", os.Getpid(), marks.Add(1)+1e6) }

// marked lists the processes with a mark among their arguments, our own children
// that are hardshell excepted.
func marked(t testing.TB, mark string) []int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return listMarked(t, mark)
	}
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, path := range paths {
		// A zombie has no arguments.
		line, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(line, []byte(mark)) || bytes.HasPrefix(line, []byte("hardshell\x00")) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// listMarked does the same where there is no /proc.
func listMarked(t testing.TB, mark string) []int {
	t.Helper()
	out, err := exec.Command("ps", "-Ao", "pid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for line := range strings.Lines(string(out)) {
		var pid int
		var program string
		if _, err := fmt.Sscan(line, &pid, &program); err == nil && program != "hardshell" && strings.Contains(line, mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// awaitMarked waits for n processes with a mark: there would be nothing to look
// for afterwards. Between two programs a process has no arguments.
func awaitMarked(t *testing.T, mark string, n int) {
	t.Helper()
	var pids []int
	for begun := time.Now(); len(pids) < n; pids = marked(t, mark) {
		if time.Since(begun) > hangs {
			t.Fatalf("the processes with the mark are %v, want %d", pids, n)
		}
	}
}

// wantGone fails for every process that still has a mark.
func wantGone(t *testing.T, mark string) {
	t.Helper()
	for _, pid := range marked(t, mark) {
		t.Errorf("process %d is still there", pid)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
}

// inModes runs a test in every mode that this host has, beside each other.
func inModes(t *testing.T, test func(t *testing.T, mode string), but ...sandbox.Mode) {
	t.Helper()
	for _, mode := range sandbox.Modes() {
		if slices.Contains(but, mode) {
			continue
		}
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS != "linux" && mode != sandbox.DangerFullAccess {
				t.Skip("only Linux confines")
			}
			test(t, string(mode))
		})
	}
}
