//go:build unix

package state

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() {
	// A file size limit stands in for a full disk: the kernel writes up to it
	// and refuses the rest.
	roles["append-limited"] = func(args []string) error { // path
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 100, Max: 100}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		err := appendLocked(args[0], map[string]string{"a": strings.Repeat("x", 200)}, Written)
		if !errors.Is(err, syscall.EFBIG) {
			return fmt.Errorf("got %v, want EFBIG", err)
		}
		return nil
	}
	roles["write-limited"] = func(args []string) error { // path
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 100, Max: 100}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		if err := WriteFile(args[0], make([]byte, 200), 0o600); !errors.Is(err, syscall.EFBIG) {
			return fmt.Errorf("got %v, want EFBIG", err)
		}
		return nil
	}
	roles["write-refused"] = func(args []string) error { // path
		if err := leaveRoot(); err != nil {
			return err
		}
		if err := WriteFile(args[0], []byte("new"), 0o600); !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("got %v, want %v", err, fs.ErrPermission)
		}
		return nil
	}
	roles["sweep-refused"] = func(args []string) error { // directory
		if err := leaveRoot(); err != nil {
			return err
		}
		removed, err := Sweep(args[0], time.Hour)
		if removed != 2 || !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "b/f") {
			return fmt.Errorf("%d removed, %v", removed, err)
		}
		return nil
	}
}

// leaveRoot makes root an ordinary user, so that permissions count.
func leaveRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	return syscall.Setuid(65534)
}

func TestAnAppendThatTheDiskRefusesLeavesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "{\"a\":1}\n")
	if out, err := process(t, "append-limited", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := read(t, path); got != "{\"a\":1}\n" {
		t.Errorf("the log is %q", got)
	}
}

func TestAWriteThatTheDiskRefusesLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "old")
	if out, err := process(t, "write-limited", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := read(t, path); got != "old" {
		t.Errorf("it holds %q", got)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("the directory holds %v", got)
	}
}

func TestWriteFileIntoAReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "old")
	chmod(t, path, 0o666)
	chmod(t, dir, 0o555)
	t.Cleanup(func() { chmod(t, dir, 0o700) })
	refused := process(t, "write-refused", "f")
	refused.Dir = dir // nobody may not walk down to it
	if out, err := refused.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := read(t, path); got != "old" || len(names(t, dir)) != 1 {
		t.Errorf("it holds %q, the directory %v", got, names(t, dir))
	}
}

func TestSweepGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	chmod(t, dir, 0o777)
	plant(t, dir, "-a/f", "-b/f", "-c/f")
	for sub, mode := range map[string]os.FileMode{"a": 0o777, "b": 0o555, "c": 0o777} {
		chmod(t, filepath.Join(dir, sub), mode)
	}
	plant(t, dir, "-a/", "-b/", "-c/")
	t.Cleanup(func() { chmod(t, filepath.Join(dir, "b"), 0o700) })
	refused := process(t, "sweep-refused", ".")
	refused.Dir = dir // nobody may not walk down to it
	if out, err := refused.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := tree(t, dir); !slices.Equal(got, []string{"b", "b/f"}) {
		t.Errorf("left: %v", got)
	}
}

func TestTheKernelReleasesTheLockOfAKilledProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	holder := process(t, "hold", path)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "held\n" {
		t.Fatalf("the holder said %q, %v", said, err)
	}
	if _, ok, err := TryLock(path); ok || err != nil {
		t.Errorf("a lock that another process holds: %v, %v", ok, err)
	}
	holder.Process.Kill()
	holder.Wait()
	lock, ok, err := TryLock(path)
	if !ok || err != nil {
		t.Fatalf("after its holder was killed: %v, %v", ok, err)
	}
	lock.Release()
}

func TestLinksAndPipesAreNeitherLocksNorLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	write(t, target, "{}\n")
	link := filepath.Join(dir, "link")
	symlink(t, target, link)
	if _, _, err := TryLock(link); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link as lock: %v", err)
	}
	if err := appendLocked(link, struct{}{}, Written); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link as log: %v", err)
	}
	if err := appendTo(link, []byte("{}\n"), Written); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link as log, lock apart: %v", err)
	}
	if got := read(t, target); got != "{}\n" {
		t.Errorf("the target is %q", got)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := appendLocked(pipe, struct{}{}, Written); err == nil {
		t.Error("a pipe was accepted as a log")
	}
	if err := WriteFile(pipe, nil, 0o600); err == nil {
		t.Error("a pipe was replaced by a file")
	}
}
