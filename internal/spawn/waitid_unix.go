//go:build unix

package spawn

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// waitid blocks until the child has ended, and leaves it to be reaped.
func waitid(pid int) {
	const idTypePID = 1 // P_PID of waitid(2)
	var siginfo [128]byte
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idTypePID, uintptr(pid),
			uintptr(unsafe.Pointer(&siginfo)), unix.WEXITED|unix.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}
