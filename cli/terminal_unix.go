//go:build unix

package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// terminalSize is how many characters a terminal has, 0 for what is none. One
// that does not say, as a serial line, has 80 by 24.
func terminalSize(w io.Writer) (width, height int) {
	file, ok := w.(*os.File)
	if !ok {
		return 0, 0
	}
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	if size.Col == 0 || size.Row == 0 {
		return 80, 24
	}
	return int(size.Col), int(size.Row)
}

// readerGone reports whether the reader of a pipe has gone away: poll(2) tells
// it without a write.
func readerGone(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	poll := []unix.PollFd{{Fd: int32(file.Fd())}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n == 1 && poll[0].Revents&unix.POLLERR != 0
}
