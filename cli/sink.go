package cli

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
)

// sink is one of our output streams. What cannot be written to it is dropped and
// remembered, so that a full disk neither ends the command nor looks like
// success. A reader who went away ends the command's stream. It is safe for
// concurrent use as far as its writer is.
type sink struct {
	name string
	w    io.Writer
	lost atomic.Pointer[error]
}

func (s *sink) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n, err := s.w.Write(rest)
		rest = rest[n:]
		switch {
		case err == nil:
		case errors.Is(err, syscall.EAGAIN) && waitWritable(s.w):
			// Somebody else made the stream non-blocking.
		case errors.Is(err, syscall.EPIPE):
			s.lost.CompareAndSwap(nil, &err)
			return len(p) - len(rest), err
		default:
			s.lost.CompareAndSwap(nil, &err)
			return len(p), nil
		}
	}
	return len(p), nil
}

// lost reports whether something that was written to a stream did not arrive.
func lost(w io.Writer) bool {
	s, ok := w.(*sink)
	return ok && s.lost.Load() != nil
}

// failure is why output was lost, nil when none was. A reader who went away
// wanted no more of it.
func (s *sink) failure() error {
	if err := s.lost.Load(); err != nil && !errors.Is(*err, syscall.EPIPE) {
		return fmt.Errorf("%s is incomplete: %w", s.name, *err)
	}
	return nil
}
