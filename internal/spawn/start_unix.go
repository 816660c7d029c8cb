//go:build unix

package spawn

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// errCannotConfine refuses an Attr.Confine where children run no Program.
var errCannotConfine = &Error{Stage: StageConfine, Path: "a child that confines itself", Errno: syscall.ENOSYS}

// startPortable starts a child through the syscall package.
func startPortable(attr *Attr) (*Child, error) {
	pidfd := -1
	start := &syscall.ProcAttr{
		Dir:   attr.Dir,
		Env:   attr.Env,
		Files: childFiles(attr.Files),
		Sys:   sysProcAttr(&pidfd),
	}
	grouped := attr.Cgroup != 0 && intoCgroup(start.Sys, attr.Cgroup)
	pid, _, err := syscall.StartProcess(attr.Path, attr.Argv, start)
	if err != nil && grouped {
		// Whatever it is: the group is of no weight against the start.
		grouped, start.Sys = false, sysProcAttr(&pidfd)
		pid, _, err = syscall.StartProcess(attr.Path, attr.Argv, start)
	}
	if err != nil {
		return nil, explain(attr, err)
	}
	if attr.Tag != 0 {
		// Set from outside, a moment after the start: a child that forks and
		// leaves its session before this call has unmarked descendants.
		SetTag(pid, attr.Tag)
	}
	child := newChild(pid, pidfd)
	child.grouped = grouped
	return child, nil
}

// childFiles completes the table of the child's descriptors with a closing
// entry for every descriptor of this process that would survive the exec.
// os.File sets close-on-exec; what a parent or a C library left open does not.
func childFiles(files []int) []uintptr {
	const closed = ^uintptr(0)
	table := make([]uintptr, len(files), len(files)+8)
	for i, fd := range files {
		table[i] = uintptr(fd)
	}
	for _, fd := range inheritableDescriptors() {
		for len(table) <= fd {
			table = append(table, closed)
		}
	}
	return table
}

// inheritableDescriptors lists the descriptors above 2 that lack close-on-exec.
func inheritableDescriptors() []int {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var fds []int
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}

// explain finds the stage of a failure: fork and exec report one bare error
// number, also for a bad working directory.
func explain(attr *Attr, err error) *Error {
	errno := syscall.EINVAL
	errors.As(err, &errno)
	switch errno {
	case syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE:
		return &Error{Stage: StageFork, Path: attr.Path, Errno: errno}
	}
	if attr.Dir != "" {
		if dirErrno := enter(attr.Dir); dirErrno != 0 {
			return &Error{Stage: StageChdir, Path: attr.Dir, Errno: dirErrno}
		}
	}
	return &Error{Stage: StageExec, Path: attr.Path, Errno: errno}
}

// enter reports why a process could not change to dir, or 0.
func enter(dir string) syscall.Errno {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return asErrno(err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return syscall.ENOTDIR
	}
	if err := unix.Access(dir, unix.X_OK); err != nil {
		return asErrno(err)
	}
	return 0
}

func asErrno(err error) syscall.Errno {
	errno := syscall.EINVAL
	errors.As(err, &errno)
	return errno
}
