package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A child of the test binary does what may not be done to the test itself.
const childVariable = "RECORD_TEST_CHILD"

// exitSkip says that the child cannot do its task here.
const exitSkip = 77

var errNoMounts = errors.New("nothing can be mounted here")

func TestMain(m *testing.M) {
	if task, ok := os.LookupEnv(childVariable); ok {
		name, argument, _ := strings.Cut(task, "=")
		if err := children[name](argument); err != nil {
			fmt.Fprintln(os.Stderr, err)
			if errors.Is(err, errNoMounts) {
				os.Exit(exitSkip)
			}
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var children = map[string]func(string) error{
	"fsize": fillUpToLimit,
	"tmpfs": fillSmallDisk,
	"write": writeMegabytes,
}

func child(t testing.TB, task, argument string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVariable+"="+task+"="+argument)
	return cmd
}

func TestALogBeyondTheFileSizeLimitIsFrozen(t *testing.T) {
	t.Parallel()
	if out, err := child(t, "fsize", t.TempDir()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestALogOnAFullDiskIsFrozen(t *testing.T) {
	t.Parallel()
	cmd := child(t, "tmpfs", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Skipf("no namespaces here: %v", err)
	}
	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() == exitSkip {
		t.Skip(out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func fillUpToLimit(dir string) error {
	// 1 MiB and a bit: the last move is cut in the middle.
	signal.Ignore(syscall.SIGXFSZ)
	const limit = 1<<20 + 12_345
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	for _, way := range []string{"splice", "copy", "write"} {
		path := filepath.Join(dir, way)
		end, err := overfill(path, way, unix.EFBIG)
		if err != nil {
			return fmt.Errorf("%s: %w", way, err)
		}
		if end != limit {
			return fmt.Errorf("%s: %d bytes are kept, want %d", way, end, limit)
		}
	}
	return nil
}

func fillSmallDisk(dir string) error {
	for _, way := range []string{"splice", "copy", "write"} {
		if err := unix.Mount("none", dir, "tmpfs", 0, "size=1200k"); err != nil {
			return fmt.Errorf("%w: %w", errNoMounts, err)
		}
		end, err := overfill(filepath.Join(dir, way), way, unix.ENOSPC)
		if err != nil {
			return fmt.Errorf("%s: %w", way, err)
		}
		if end < 1<<20 || end > 1200<<10 {
			return fmt.Errorf("%s: %d bytes are kept of a disk of 1200 KiB", way, end)
		}
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			return err
		}
	}
	return nil
}

// overfill writes 5 MiB into a log in a way and returns how many are kept. It
// checks every byte, and that a full disk cannot stop a status.
func overfill(path, way string, want syscall.Errno) (end int64, err error) {
	const total = 5 << 20
	if err := os.Mkdir(path, 0o700); err != nil {
		return 0, err
	}
	d, err := Open(path)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	ask := NewAsk()
	logs, err := d.CreateLogs(ask)
	if err != nil {
		return 0, err
	}
	defer logs.Close()
	w := logs.Stream(Stdout)
	r, err := d.OpenLog(ask, Stdout)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	w.copying = way == "copy"
	if way == "write" {
		for w.Total() < total {
			w.Write(streamBytes(w.Total(), int(min(99_999, total-w.Total()))))
		}
	} else if err := pipeThrough(w, total); err != nil {
		return 0, err
	}
	status := w.Status()
	if status.Bytes != total || status.Error != want.Error() || status.Gap == nil || status.Gap.To != total {
		return 0, fmt.Errorf("the status is %+v %+v", status, status.Gap)
	}
	live, err := r.Status()
	if err != nil || live.Bytes != total || live.Gap == nil || *live.Gap != *status.Gap || live.Error != status.Error {
		return 0, fmt.Errorf("a reader sees %+v, %v", live, err)
	}
	p, err := r.ReadAt(0, total)
	if err != nil || int64(len(p.Data)) != status.Gap.From {
		return 0, fmt.Errorf("%d bytes are read, %v", len(p.Data), err)
	}
	for i, b := range p.Data {
		if b != pattern[i%period] {
			return 0, fmt.Errorf("byte %d is %#x", i, b)
		}
	}
	return status.Gap.From, nil
}

func pipeThrough(w *Writer, total int64) error {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	defer unix.Close(fds[0])
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return err
	}
	go func() {
		defer unix.Close(fds[1])
		for at := int64(0); at < total; {
			n, err := unix.Write(fds[1], streamBytes(at, int(min(99_999, total-at))))
			if err != nil && err != unix.EINTR {
				return
			}
			at += int64(max(n, 0))
		}
	}()
	for {
		n, err := w.Splice(fds[0])
		switch {
		case err == unix.EAGAIN:
			unix.Poll([]unix.PollFd{{Fd: int32(fds[0]), Events: unix.POLLIN}}, 10_000)
		case err != nil:
			return err
		case n == 0:
			return nil
		}
	}
}

// writeMegabytes writes to standard output as a busy command does.
func writeMegabytes(megabytes string) error {
	n, err := strconv.Atoi(megabytes)
	if err != nil {
		return err
	}
	chunk := bytes.Repeat([]byte("0123456789abcde\n"), 4096)
	for range n * (1 << 20) / len(chunk) {
		for p := chunk; len(p) > 0; {
			m, err := unix.Write(1, p)
			if err != nil && err != unix.EINTR {
				return err
			}
			p = p[max(m, 0):]
		}
	}
	return nil
}
