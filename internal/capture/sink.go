//go:build unix

package capture

import (
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// Log keeps a stream in a file.
type Log interface {
	// Splice moves what a non-blocking pipe holds now into the file, as much as
	// one call takes: 0 at the pipe's end, EAGAIN when it is empty.
	Splice(pipe int) (int64, error)
	// Seal completes the file. It is idempotent.
	Seal()
}

// logSink moves a pipe into a log.
type logSink struct{ log Log }

func (s logSink) take(pipe, _ int) (int, error) {
	n, err := s.log.Splice(pipe)
	return int(n), err
}

func (s logSink) seal() { s.log.Seal() }

// windowSink moves a pipe into a window, and the same bytes to a tee.
type windowSink struct {
	window *Window
	tee    io.Writer // nil without
}

func (s windowSink) take(pipe, max int) (int, error) {
	chunk := chunks.Get().(*[chunkSize]byte)
	defer chunks.Put(chunk)
	n, err := unix.Read(pipe, chunk[:min(max, chunkSize)])
	if n <= 0 || err != nil {
		return 0, err
	}
	s.window.push(chunk[:n])
	if s.tee != nil {
		return n, writeTee(s.tee, chunk[:n])
	}
	return n, nil
}

func (s windowSink) seal() { s.window.seal() }

// writeTee writes to a caller's tee, whose panic is a failed write like another.
func writeTee(tee io.Writer, data []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the tee panicked: %v", r)
		}
	}()
	_, err = tee.Write(data)
	return err
}
