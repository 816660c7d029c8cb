package spawn

import "golang.org/x/sys/unix"

// SealDescriptors marks every descriptor above 2 of this process close-on-exec,
// so that what its parent left open reaches no child. Only a program's own main
// may do that: in a library the descriptors are somebody else's.
func SealDescriptors() {
	// Kernels before 5.11 refuse; each spawn then looks for itself.
	_ = unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
}
