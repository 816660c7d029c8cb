//go:build unix

package spawn

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// waitid blocks until the child has ended, and leaves it to be reaped.
func waitid(pid int) {
	const (
		idTypePID = 1 // P_PID of waitid(2)
		trapped   = 4 // CLD_TRAPPED
	)
	var siginfo struct {
		signal, errno, code int32 // the order is Linux's
		_                   [116]byte
	}
	wait := func(options uintptr) syscall.Errno {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idTypePID, uintptr(pid),
			uintptr(unsafe.Pointer(&siginfo)), options, 0, 0)
		return errno
	}
	for {
		switch errno := wait(unix.WEXITED | unix.WNOWAIT); {
		case errno == syscall.EINTR:
		case errno == 0 && runtime.GOOS == "linux" && siginfo.code == trapped:
			// A child that has itself traced is reported when it stops, too.
			wait(unix.WSTOPPED | unix.WNOHANG)
		default:
			return
		}
	}
}
