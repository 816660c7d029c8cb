package capture

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// fionread asks how many bytes a pipe holds.
const fionread = unix.TIOCINQ

// growPipe enlarges a busy pipe. It may be refused: a user's pipes together are
// limited (pipe(7), pipe-user-pages-soft), and only speed is lost.
func growPipe(conn syscall.RawConn) {
	conn.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, grownPipe) })
}
