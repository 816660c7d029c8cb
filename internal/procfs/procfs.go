//go:build linux

// Package procfs reads the small files of /proc/PID without allocating for
// each: a walk over all processes reads thousands.
package procfs

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// Read fills buf from /proc/PID/name and returns what was read; false when the
// process is gone or hidden. A file longer than buf is cut.
func Read(pid int, name string, buf []byte) ([]byte, bool) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	n := 0
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, false
		}
		if m == 0 {
			break
		}
		n += m
	}
	return buf[:n], true
}
