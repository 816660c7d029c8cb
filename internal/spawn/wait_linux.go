package spawn

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// sysProcAttr asks for a session of its own and for a descriptor of the child:
// *pidfd stays -1 on kernels without (before 5.4).
func sysProcAttr(pidfd *int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, PidFD: pidfd}
}

// intoCgroup has the child born into a control group. It reports whether there
// is such a thing.
func intoCgroup(attr *syscall.SysProcAttr, fd int) bool {
	attr.UseCgroupFD, attr.CgroupFD = true, fd
	return true
}

// waiter waits for the end of a process: through its pidfd in the poller, else
// with a thread.
type waiter struct {
	pid   int
	pidfd *os.File
}

func newChild(pid, pidfd int) *Child {
	return &Child{pid: pid, exit: waiter{pid: pid, pidfd: pollable(pidfd)}}
}

// pollable hands a pidfd to the poller; nil when there is none.
func pollable(pidfd int) *os.File {
	if pidfd < 0 {
		return nil
	}
	// pidfd_open(2): a pidfd becomes readable when its process ends.
	if err := unix.SetNonblock(pidfd, true); err != nil {
		unix.Close(pidfd)
		return nil
	}
	return os.NewFile(uintptr(pidfd), "pidfd")
}

func (w *waiter) wait() {
	if w.pidfd == nil || !waitReadable(w.pidfd) {
		waitid(w.pid)
	}
}

func (w *waiter) close() {
	if w.pidfd != nil {
		w.pidfd.Close()
	}
}

// waitReadable returns true once f is readable, and false when the poller
// cannot tell or f was closed.
func waitReadable(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	readable := func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		return err == nil && n > 0
	}
	return conn.Read(readable) == nil
}

func maxRSSBytes(usage *syscall.Rusage) int64 { return usage.Maxrss << 10 }
