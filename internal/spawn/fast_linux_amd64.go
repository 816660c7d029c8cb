package spawn

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// failure is written by a child before it ends: which step failed and why. An
// errno of 0 is none. Its layout is known to fast_amd64.s.
type failure struct {
	step  uintptr
	errno uintptr
}

//go:noescape
func runChild(flags uintptr, pidfd *int32, steps *step, failed *failure) (pid uintptr)

// startFast starts a child through clone: errFastRefused when this host refuses
// the way as such, else an *Error.
func startFast(attr *Attr) (*Child, error) {
	p, born, err := compile(attr)
	if err != nil {
		return nil, &Error{Stage: StageExec, Path: attr.Path, Errno: asErrno(err)}
	}
	pidfd := int32(-1)
	// clone rather than clone3: filters of system calls, this module's own among
	// them, refuse the latter, whose flags they cannot read.
	flags := unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PIDFD | uintptr(unix.SIGCHLD)
	if attr.Confine != nil {
		flags |= attr.Confine.Namespaces
	}
	failed := &failure{}
	pid := int(runChild(flags, &pidfd, &p.steps[0], failed))
	runtime.KeepAlive(p)
	if pid < 0 {
		errno := syscall.Errno(-pid)
		if attr.Confine == nil && refused(errno) {
			return nil, errFastRefused
		}
		return nil, &Error{Stage: StageFork, Path: attr.Path, Errno: errno}
	}
	child := newChild(pid, int(pidfd))
	if born != nil && *born != ^uintptr(0) {
		// The first process has ended. Its child was born as this process's
		// own (CLONE_PARENT): until it is reaped, its number is its own.
		child.Reap()
		pid = int(*born)
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			fd = -1
		}
		child = newChild(pid, fd)
	}
	if failed.errno == 0 {
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
