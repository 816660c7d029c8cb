package spawn

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// failure is written by a child before it ends: which step failed and why. An
// errno of 0 is none. Its layout is known to fast_amd64.s.
type failure struct {
	step  uintptr
	errno uintptr
}

// cloneArgs is struct clone_args of clone3(2). What comes up to set is its first
// size, which every clone3 knows. Its layout is known to fast_amd64.s.
type cloneArgs struct {
	flags, pidfd uint64
	_, _         uint64 // child_tid, parent_tid
	exitSignal   uint64
	_, _, _      uint64 // stack, stack_size, tls
	set, _       uint64 // set_tid, set_tid_size: since 5.5
	cgroup       uint64 // since 5.7
}

// withoutClone3 is true once clone3 was refused as such: by a kernel before 5.5,
// or by a filter of system calls, this module's own among them, which cannot
// read its flags.
var withoutClone3 atomic.Bool

//go:noescape
func runChild(args *cloneArgs, size uintptr, steps *step, failed *failure) (pid uintptr)

// startFast starts a child through clone3 or clone: errFastRefused when this host
// refuses the way as such, else an *Error. Package syscall's ForkLock is not
// taken: it keeps descriptors that are about to become close-on-exec out of
// children, and the program of this one closes all that it was not given.
func startFast(attr *Attr) (*Child, error) {
	old := withoutClone3.Load()
	p, born, err := compile(attr, old)
	if err != nil {
		return nil, &Error{Stage: StageExec, Path: attr.Path, Errno: asErrno(err)}
	}
	pidfd := int32(-1)
	args := &cloneArgs{
		flags:      unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PIDFD,
		exitSignal: uint64(unix.SIGCHLD),
		pidfd:      uint64(hold(p, &pidfd)),
	}
	size := unsafe.Offsetof(args.set)
	if attr.Confine != nil {
		args.flags |= attr.Confine.Namespaces
	}
	if old {
		size = 0
	} else {
		args.flags |= unix.CLONE_CLEAR_SIGHAND
	}
	// Born there, and not moved: that is one field here, and no lock that every
	// fork of the system waits for (Documentation/admin-guide/cgroup-v2.rst,
	// favordynmods). A second process of the child is born where the first is.
	grouped := attr.Cgroup != 0 && !old
	if grouped {
		args.flags |= unix.CLONE_INTO_CGROUP
		args.cgroup, size = uint64(attr.Cgroup), unsafe.Sizeof(*args)
	}
	failed := &failure{}
	pid := int(runChild(args, size, &p.steps[0], failed))
	runtime.KeepAlive(p)
	if pid < 0 {
		errno := syscall.Errno(-pid)
		switch {
		case grouped:
			// Whatever it is: the group is of no weight against the start.
			without := *attr
			without.Cgroup = 0
			return startFast(&without)
		case !old && (errno == syscall.ENOSYS || refused(errno) && (attr.Confine == nil || attr.Confine.Namespaces == 0)):
			withoutClone3.Store(true)
			return startFast(attr)
		case attr.Confine == nil && refused(errno):
			return nil, errFastRefused
		}
		return nil, &Error{Stage: StageFork, Path: attr.Path, Errno: errno}
	}
	child := newChild(pid, int(pidfd))
	if born != nil && *born > 0 {
		// The first process has ended. The other was born as this process's own
		// child (CLONE_PARENT): until it is reaped, its number is its own.
		first := child.Reap()
		pid = int(*born)
		if first.Signal != "" {
			unix.Kill(pid, unix.SIGKILL)
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			fd = -1
		}
		child = newChild(pid, fd)
		if first.Signal != "" {
			// Killed by its timer: the other was kept from starting.
			child.WaitExit()
			child.Reap()
			return nil, &Error{Stage: StageFork, Path: attr.Path, Errno: syscall.ETIMEDOUT}
		}
	}
	if failed.errno == 0 {
		child.grouped = grouped
		return child, nil
	}
	child.Reap()
	return nil, p.explain(attr, failed)
}

// explain gives the failure of a step its stage.
func (p *Program) explain(attr *Attr, failed *failure) error {
	e := &Error{Stage: p.stages[failed.step], Path: attr.Path, Errno: syscall.Errno(failed.errno)}
	switch {
	case e.Stage == StageFork && attr.Confine == nil && refused(e.Errno):
		return errFastRefused
	case e.Stage == StageChdir:
		e.Path = attr.Dir
	case e.Stage == StageConfine:
		e.Path = p.names[failed.step]
	}
	return e
}
