//go:build unix

package native

import (
	"os"

	"golang.org/x/sys/unix"
)

// noFollow opens no link, and waits for no other end of a pipe.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

func lockShared(f *os.File) bool    { return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil }
func lockExclusive(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }
