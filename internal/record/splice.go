//go:build unix

package record

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// copyChunk is read at once where bytes are copied.
	copyChunk = 256 << 10
)

// chunks are lent for the time of one copy.
var chunks = sync.Pool{New: func() any { return new([copyChunk]byte) }}

// Splice moves what a pipe that does not block holds now, as much as one call
// takes, and returns how many bytes came; they are kept or, when the log is
// frozen, thrown away. 0 and nil is the end of the stream, unix.EAGAIN means
// that there is nothing now. Any other error is the pipe's: no failure of the
// disk is returned.
func (w *Writer) Splice(pipe int) (n int64, err error) {
	for {
		room := w.room()
		switch {
		case room == 0:
			n, err = discard(pipe)
		case w.copying:
			return w.copy(pipe, room)
		default:
			n, err = splice(pipe, int(w.file.Fd()), w.total.Load(), room)
		}
		switch {
		case err == nil:
			if n > 0 {
				w.count(int(n))
			}
			return n, nil
		case err == unix.EINTR:
		case err == unix.EAGAIN, err == unix.EBADF, room == 0:
			return 0, err
		case err == unix.EINVAL: // this file system, or no pipe
			w.copying = true
		default:
			// Nothing of what is left in the pipe was lost: splice(2) takes from it
			// only what the file has taken.
			w.freeze(err.(syscall.Errno))
		}
	}
}

// copy does with read(2) and write(2) what splice(2) would.
func (w *Writer) copy(pipe int, room int64) (int64, error) {
	chunk := chunks.Get().(*[copyChunk]byte)
	defer chunks.Put(chunk)
	n, err := readRetry(pipe, chunk[:min(room, copyChunk)])
	if err != nil {
		return 0, err
	}
	w.Write(chunk[:n])
	return int64(n), nil
}

// discard reads a pipe to nowhere.
func discard(pipe int) (int64, error) {
	if n, err := spliceAway(pipe); err != unix.EINVAL {
		return n, err
	}
	chunk := chunks.Get().(*[copyChunk]byte)
	defer chunks.Put(chunk)
	n, err := readRetry(pipe, chunk[:])
	return int64(n), err
}

// readRetry returns 0 bytes with every error.
func readRetry(fd int, p []byte) (int, error) {
	for {
		n, err := unix.Read(fd, p)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}
