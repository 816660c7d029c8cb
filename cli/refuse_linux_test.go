package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refuse runs its arguments as on a host that has nothing to confine with:
// namespaces, mounts and Landlock are refused, as a container may do it. It is
// "refuse PROGRAM ARG…".
func refuse() {
	runtime.LockOSThread() // the filter is this thread's
	path, err := exec.LookPath(os.Args[1])
	if err == nil {
		err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	if err == nil {
		program := refusals()
		_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
			uintptr(unsafe.Pointer(&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})))
		if err = nil; errno != 0 {
			err = errno
		}
	}
	if err == nil {
		err = syscall.Exec(path, os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "refuse:", err)
	os.Exit(99)
}

// refusals is a filter of system calls: see seccomp(2). The architecture needs
// no check, for it protects nothing.
func refusals() []unix.SockFilter {
	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	jump := func(test uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	return []unix.SockFilter{
		load(0), // seccomp_data.nr
		jump(unix.BPF_JEQ, unix.SYS_UNSHARE, 7, 0),
		jump(unix.BPF_JEQ, unix.SYS_MOUNT, 6, 0),
		jump(unix.BPF_JEQ, unix.SYS_LANDLOCK_CREATE_RULESET, 5, 0),
		jump(unix.BPF_JEQ, unix.SYS_CLONE3, 5, 0),
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 2),
		load(16), // the low half of args[0]
		jump(unix.BPF_JSET, namespaces, 1, 0),
		answer(unix.SECCOMP_RET_ALLOW),
		answer(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)),
		answer(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)),
	}
}
