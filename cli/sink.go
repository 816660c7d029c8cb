package cli

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
)

// sink is standard output. It remembers that something written to it was lost,
// so that a full disk does not look like success. It is safe for concurrent
// use as far as its writer is.
type sink struct {
	w    io.Writer
	lost atomic.Pointer[error]
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		s.lost.CompareAndSwap(nil, &err)
	}
	return n, err
}

// failure is why output was lost, nil when none was. A reader who went away
// wanted no more of it.
func (s *sink) failure() error {
	if err := s.lost.Load(); err != nil && !errors.Is(*err, syscall.EPIPE) {
		return fmt.Errorf("standard output is incomplete: %w", *err)
	}
	return nil
}
