package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"hardshell/sandbox"
)

func visibility(e sandbox.Effects) sandbox.Enforcement { return e.Visibility }

// processAttempts reach processes outside. Whether a signal arrived is also
// seen from outside.
var processAttempts = []attempt{
	{name: "seeing a process outside", governed: visibility, do: func(t *target) error {
		_, err := os.Stat(fmt.Sprintf("/proc/%d", t.PID))
		return err
	}},
	{name: "probing a process outside with the signal 0", do: func(t *target) error { return unix.Kill(t.PID, 0) }},
	{name: "probing the test with the signal 0", do: func(t *target) error { return unix.Kill(t.Harness, 0) }},
	{name: "killing a process outside", do: func(t *target) error { return unix.Kill(t.PID, unix.SIGKILL) }},
	{name: "stopping a process outside", do: func(t *target) error { return unix.Kill(t.PID, unix.SIGSTOP) }},
	{name: "killing a group outside", do: func(t *target) error { return unix.Kill(-t.PID, unix.SIGKILL) }},
	{name: "killing a thread outside", do: func(t *target) error { return unix.Tgkill(t.PID, t.PID, unix.SIGKILL) }},
	// Threads have numbers of their own, and a signal to one is to all.
	{name: "signalling a thread of the test", do: func(t *target) error {
		return everyThread(t.Harness, func(tid int) error { return unix.Kill(tid, 0) })
	}},
	{name: "signalling exactly a thread of the test", do: func(t *target) error {
		return everyThread(t.Harness, func(tid int) error { return unix.Tgkill(t.Harness, tid, 0) })
	}},
	{name: "signalling a thread of the test through its directory", do: func(t *target) error {
		return everyThread(t.Harness, func(tid int) error {
			fd, err := unix.Open(fmt.Sprintf("/proc/%d", tid), unix.O_RDONLY|unix.O_DIRECTORY, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.PidfdSendSignal(fd, 0, nil, 0)
		})
	}},
	{name: "killing everything that can be", rare: true, do: func(t *target) error {
		own, err := os.Readlink("/proc/self/ns/pid")
		if err != nil || own == t.PIDNamespace || t.PIDNamespace == "" {
			return errors.New("not attempted in the pid namespace of the host")
		}
		unix.Kill(-1, unix.SIGKILL)
		return errors.New("whom it reached is seen from outside")
	}},
	{name: "killing a process outside through a pidfd", do: func(t *target) error {
		fd, err := unix.PidfdOpen(t.PID, 0)
		if err != nil {
			return err
		}
		return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}},
	{name: "killing a process outside by the owner of a pipe", do: func(t *target) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		if _, err := unix.FcntlInt(uintptr(pair[0]), unix.F_SETOWN, t.PID); err != nil {
			return err
		}
		if _, err := unix.FcntlInt(uintptr(pair[0]), unix.F_SETSIG, int(unix.SIGKILL)); err != nil {
			return err
		}
		if _, err := unix.FcntlInt(uintptr(pair[0]), unix.F_SETFL, unix.O_ASYNC); err != nil {
			return err
		}
		if _, err := unix.Write(pair[1], []byte("x")); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond) // the signal is sent, or not, from elsewhere
		return errors.New("whether the signal arrived is seen from outside")
	}},
	{name: "tracing a process outside", do: func(t *target) error { return unix.PtraceSeize(t.PID) }},
	{name: "tracing the test", do: func(t *target) error { return unix.PtraceSeize(t.Harness) }},
	// It may hold more than the processes that it looks after.
	{name: "tracing pid 1", rare: true, do: func(t *target) error { return unix.PtraceSeize(1) }},
	{name: "opening the memory of pid 1", rare: true, do: func(t *target) error { return openToWrite("/proc/1/mem") }},
	{name: "opening the program of pid 1 to write", rare: true, do: func(t *target) error { return openToWrite("/proc/1/exe") }},
	{name: "memory that the host shares", governed: visibility, do: func(t *target) error {
		_, err := unix.SysvShmGet(t.Harness, 1, 0)
		return err
	}},
	{name: "reading the memory of a process outside", do: func(t *target) error {
		return reached(peek(t.PID), unix.EFAULT)
	}},
	{name: "reading the memory of the test", do: func(t *target) error {
		return reached(peek(t.Harness), unix.EFAULT)
	}},
	{name: "opening the memory of a process outside", do: func(t *target) error {
		return openToWrite(fmt.Sprintf("/proc/%d/mem", t.PID))
	}},
	{name: "taking a descriptor of a process outside", do: func(t *target) error {
		fd, err := unix.PidfdOpen(t.PID, 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(fd, 0, 0)
		return err
	}},
	{name: "reading the environment of a process outside", do: func(t *target) error {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", t.PID))
		if err != nil {
			return err
		}
		if !strings.Contains(string(text), secret) {
			return errors.New("it is empty")
		}
		return nil
	}},
	{name: "reading the environment of the test", do: func(t *target) error {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", t.Harness))
		if err == nil && len(text) == 0 {
			err = errors.New("it is empty")
		}
		return err
	}},
	{name: "opening a descriptor of a process outside", do: func(t *target) error {
		_, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", t.PID))
		return err
	}},
	{name: "listing the directory of a process outside", do: func(t *target) error {
		_, err := os.ReadDir(fmt.Sprintf("/proc/%d/cwd/", t.PID))
		return err
	}},
	{name: "changing the limits of a process outside", do: func(t *target) error {
		var limit unix.Rlimit
		if err := unix.Prlimit(0, unix.RLIMIT_CORE, nil, &limit); err != nil {
			return err
		}
		// One of processor time would kill it.
		return unix.Prlimit(t.PID, unix.RLIMIT_CORE, &unix.Rlimit{Cur: 0, Max: limit.Max}, nil)
	}},
	{name: "blaming a process outside for memory", governed: visibility, do: func(t *target) error {
		return openToWrite(fmt.Sprintf("/proc/%d/oom_score_adj", t.PID))
	}},
}

// peek reads a byte at an address that is mapped nowhere: EFAULT tells that
// only the address was wrong.
func peek(pid int) error {
	var b [1]byte
	local := []unix.Iovec{{Base: &b[0], Len: 1}}
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 1, Len: 1}}, 0)
	return err
}

// terminalAttempts put bytes into what a person would have typed.
var terminalAttempts = []attempt{
	{name: "typing into a terminal", rare: true, do: func(t *target) error {
		return typeInto(unix.TIOCSTI)
	}},
	// The kernel reads 32 bits of the request, a filter might read 64.
	{name: "typing into a terminal with high bits", rare: true, do: func(t *target) error {
		return typeInto(1<<32 | unix.TIOCSTI)
	}},
	{name: "the selection of a console", do: func(t *target) error {
		const tiocLinux = 0x541c
		return reached(typeInto(tiocLinux), unix.ENOTTY, unix.EINVAL)
	}},
	{name: "a controlling terminal at the start", rare: true, do: func(t *target) error {
		return openToWrite("/dev/tty")
	}},
}

// typeInto makes a terminal of its own the controlling one and gives it a byte
// with a request.
func typeInto(request uintptr) error {
	slave, err := openTerminal()
	if err != nil {
		return err
	}
	unix.IoctlSetInt(slave, unix.TIOCSCTTY, 0)
	b := [1]byte{'x'}
	return sys(unix.SYS_IOCTL, uintptr(slave), request, uintptr(unsafe.Pointer(&b)))
}

// openTerminal returns the program's side of a new pseudo-terminal.
func openTerminal() (int, error) {
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: "/dev/ptmx", Err: err}
	}
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, err
	}
	number, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return -1, err
	}
	path := fmt.Sprintf("/dev/pts/%d", number)
	slave, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return slave, nil
}

// everyThread tries every thread of a process, and returns nil when one attempt
// succeeds.
func everyThread(pid int, try func(tid int) error) error {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return err
	}
	last := errors.New("the process has no threads")
	for _, entry := range entries {
		tid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if last = try(tid); last == nil {
			return nil
		}
	}
	return last
}
