package spawn

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
)

// portable is true once the fast way was found to be closed, or was declined.
var portable atomic.Bool

func init() { portable.Store(os.Getenv("HARDSHELL_SPAWN") == "portable") }

// Start starts a child. Its error is an *Error.
func Start(attr *Attr) (*Child, error) {
	if portable.Load() {
		return startPortable(attr)
	}
	child, err := startFast(attr)
	if errors.Is(err, errNoClone3) {
		portable.Store(true)
		return startPortable(attr)
	}
	return child, err
}

// errNoClone3 is a clone3 that is refused whatever is asked of it.
var errNoClone3 = errors.New("clone3 is not available")

// refused tells a refusal of clone3 itself, by an old kernel or a seccomp
// filter, from a lack of resources.
func refused(errno syscall.Errno) bool {
	return errno == syscall.ENOSYS || errno == syscall.EPERM || errno == syscall.EINVAL
}
