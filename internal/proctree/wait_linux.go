package proctree

import (
	"os"

	"golang.org/x/sys/unix"
)

// waitGone returns true when the process behind pid has ended, or is another one
// by now: its number may have been given again between the look that found it
// and this call. It returns false when the process cannot be waited for, and
// when stop is closed first.
func waitGone(pid int, still func(int) bool, stop <-chan struct{}) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err == unix.ESRCH
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return false
	}
	pidfd := os.NewFile(uintptr(fd), "pidfd")
	if !still(pid) {
		pidfd.Close()
		return true
	}
	ended := make(chan bool, 1)
	go func() { ended <- waitReadable(pidfd) }()
	select {
	case ok := <-ended:
		pidfd.Close()
		return ok
	case <-stop:
		pidfd.Close() // wakes the poller's wait
		<-ended
		return false
	}
}

// waitReadable returns true once the process of a pidfd has ended, which makes
// it readable (pidfd_open(2)), and false when the poller cannot tell.
func waitReadable(pidfd *os.File) bool {
	conn, err := pidfd.SyscallConn()
	if err != nil {
		return false
	}
	return conn.Read(func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		return err == nil && n > 0
	}) == nil
}
