package spawn

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
)

// portable is true once the fast way was found to be closed, or was declined.
var portable atomic.Bool

func init() {
	way := os.Getenv("HARDSHELL_SPAWN")
	portable.Store(way == "portable")
	withoutClone3.Store(way == "clone")
}

// CanConfine reports whether children can be given an Attr.Confine.
func CanConfine() bool { return !portable.Load() }

// Start starts a child. Its error is an *Error.
func Start(attr *Attr) (*Child, error) {
	if attr.Confine != nil {
		if portable.Load() {
			return nil, errCannotConfine
		}
		return startFast(attr)
	}
	if portable.Load() {
		return startPortable(attr)
	}
	child, err := startFast(attr)
	if errors.Is(err, errFastRefused) {
		portable.Store(true)
		return startPortable(attr)
	}
	return child, err
}

// errFastRefused is a preparation of the fast way that this host refuses,
// whatever is to be started.
var errFastRefused = errors.New("the fast way of spawning is refused here")

// refused tells a refusal of a system call as such, by an old kernel or a
// seccomp filter, from a lack of resources.
func refused(errno syscall.Errno) bool {
	return errno == syscall.ENOSYS || errno == syscall.EPERM || errno == syscall.EINVAL
}
