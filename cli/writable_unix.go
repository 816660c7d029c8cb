//go:build unix

package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// waitWritable waits until a file can be written to, and reports whether it
// could wait.
func waitWritable(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	poll := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLOUT}}
	_, err := unix.Poll(poll, -1)
	return err == nil || err == unix.EINTR
}
