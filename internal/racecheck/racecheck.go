// Package racecheck makes the race detector heard in the processes that a test
// starts of its own program: their reports go nowhere otherwise.
package racecheck

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Main runs the tests, and fails when a process that they started, or one that
// such a process started, has reported a race. Programs without the race detector
// report none.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "racecheck-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Chmod(dir, 0o777) // for those that run as another user
	os.Setenv("GORACE", "log_path="+filepath.Join(dir, "race"))
	status := m.Run()
	reports, _ := filepath.Glob(filepath.Join(dir, "race.*"))
	for _, path := range reports {
		text, _ := os.ReadFile(path)
		fmt.Fprintf(os.Stderr, "a process that was started by these tests has a race:\n%s\n", text)
		status = 1
	}
	return status
}
