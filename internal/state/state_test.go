package state

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The test binary is its own second process: with this variable set it plays
// one of the roles instead of running tests.
const roleVariable = "STATE_TEST_ROLE"

var roles = map[string]func(args []string) error{
	"append": func(args []string) error { // path, writer, count
		count, err := strconv.Atoi(args[2])
		for i := 0; i < count && err == nil; i++ {
			err = appendLocked(args[0], record{Writer: args[1], Index: i, Text: longText(i)}, Written)
		}
		return err
	},
	"hold": func(args []string) error { // path; until it is killed
		if _, ok, err := TryLock(args[0]); err != nil || !ok {
			os.Stdout.WriteString("refused\n")
			return err
		}
		os.Stdout.WriteString("held\n")
		select {}
	},
}

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(roleVariable)]; role != nil {
		if err := role(os.Args[1:]); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process returns this binary in a role, not started.
func process(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	return cmd
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func wantMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); runtime.GOOS != "windows" && got != want {
		t.Errorf("%s has the mode %o, want %o", path, got, want)
	}
}

// names lists a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// tree lists everything below a directory, sorted.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir && err == nil {
			rel, _ := filepath.Rel(dir, path)
			paths = append(paths, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// appendLocked appends under a lock beside the log.
func appendLocked(path string, v any, d Durability) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	dir := filepath.Join(os.TempDir(), "hardshell-state-locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := Lock(ctx, filepath.Join(dir, strings.ReplaceAll(path, "/", "_")))
	if err != nil {
		return err
	}
	defer lock.Release()
	return AppendLine(lock, path, v, d)
}
