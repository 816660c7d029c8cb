package bench

import (
	"os"

	"golang.org/x/sys/unix"
)

// enlarge gives a pipe the largest ordinary size.
func enlarge(pipe *os.File) {
	if conn, err := pipe.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
	}
}
