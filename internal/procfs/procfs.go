//go:build linux

// Package procfs reads the small files of /proc/PID without allocating for
// each: a walk over all processes reads thousands.
package procfs

import (
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Gone reports whether an error of Read means that there is no such process.
func Gone(err error) bool { return err == unix.ENOENT || err == unix.ESRCH }

// Read fills buf from /proc/PID/name and returns what was read. A file longer
// than buf is cut.
func Read(pid int, name string, buf []byte) ([]byte, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n := 0
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m == 0 {
			break
		}
		n += m
	}
	return buf[:n], nil
}

// Ours reports whether /proc shows the processes of this process's own pid
// namespace: it may be absent, or mounted by another one, whose numbers mean
// other processes here.
var Ours = sync.OnceValue(func() bool {
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
})
