package nofile

import (
	"syscall"
	"unsafe"
)

// Limit is struct rlimit of getrlimit(2).
type Limit struct{ Cur, Max uint64 }

var original, known = read()

// Original returns the limit that this process was started with, and whether it
// is known.
func Original() (Limit, bool) { return original, known }

func read() (limit Limit, ok bool) {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, syscall.RLIMIT_NOFILE, 0, uintptr(unsafe.Pointer(&limit)), 0, 0)
	return limit, errno == 0
}
