package sandboxtest

import (
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// namespaceAttempts make or enter namespaces, in which a process would have
// capabilities again.
var namespaceAttempts = []attempt{
	{name: "unshare of the user namespace", do: func(t *target) error {
		return program("unshare", "--user", "true")
	}},
	{name: "a mapped user namespace", do: func(t *target) error {
		return program("unshare", "--user", "--map-root-user", "true")
	}},
	{name: "a user namespace with mounts", do: func(t *target) error {
		return program("unshare", "--user", "--map-root-user", "--mount", "mount", "--bind", t.Outside, t.point())
	}},
	{name: "unshare of the mounts", do: func(t *target) error {
		return program("unshare", "--mount", "mount", "--bind", t.Outside, t.point())
	}},
	{name: "clone with a user namespace", do: func(t *target) error {
		cmd := exec.Command("true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
		return cmd.Run()
	}},
	{name: "clone3 with a user namespace", do: func(t *target) error { return clone3(unix.CLONE_NEWUSER) }},
	{name: "clone3 with a mount namespace", do: func(t *target) error { return clone3(unix.CLONE_NEWNS) }},
	{name: "entering the mounts of pid 1", rare: true, do: func(t *target) error {
		return program("nsenter", "--target", "1", "--mount", "--", "touch", t.Outside+"/entered")
	}},
	{name: "entering the mounts of a process outside", do: func(t *target) error {
		return program("nsenter", "--target", strconv.Itoa(t.PID), "--mount", "--", "touch", t.Outside+"/entered")
	}},
	{name: "entering a namespace of its own again", do: func(t *target) error {
		return program("nsenter", "--uts=/proc/self/ns/uts", "true")
	}},
	{name: "entering namespaces through a pidfd", do: func(t *target) error {
		fd, err := unix.PidfdOpen(t.PID, 0)
		if err != nil {
			return err
		}
		return unix.Setns(fd, unix.CLONE_NEWUTS|unix.CLONE_NEWIPC)
	}},
}

// program runs a program of the system.
func program(name string, arguments ...string) error {
	out, err := exec.Command(name, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// clone3 makes a process that ends at once. A libc falls back to clone where
// clone3 does not exist, so that this is the one way to see what it does.
func clone3(flags uint64) error {
	args := struct {
		flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls uint64
	}{flags: flags, exitSignal: uint64(unix.SIGCHLD)}
	pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		for {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	_, err := unix.Wait4(int(pid), nil, 0, nil)
	return err
}
