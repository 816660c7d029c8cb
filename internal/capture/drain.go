//go:build unix

package capture

import (
	"context"
	"io"
	"os"
	"time"
)

// drainWindow bounds the wait for streams that a background process holds open
// after the leader's end, so that "server & echo ok" answers quickly.
const drainWindow = 500 * time.Millisecond

// Run sets the streams going once the command was spawned.
func (s *Streams) Run() {
	for _, p := range s.pumps {
		if p != nil {
			go p.run()
		}
	}
	if s.data != nil {
		go feed(s.stdin, s.data)
	}
}

// feed copies data into a child's input and closes it. A child that closed its
// input, and the end of the command, are no errors.
func feed(w *os.File, data io.Reader) {
	defer w.Close()
	io.Copy(w, data)
}

// Drain waits, after the end of the leader, until the collected streams are
// complete, and stops feeding the input. The streams end with the last process
// that holds them; while a background process does, they are cut at the drain
// window (the smaller of the grace and 500 ms), or when ctx ends. A
// termination, from the closing of begun to that of ended, is waited for
// instead.
func (s *Streams) Drain(ctx context.Context, grace time.Duration, begun, ended <-chan struct{}) {
	if s.data != nil {
		defer s.stdin.Close() // releases a writer whose reader is a background process
	}
	stdout, stderr := s.pumps[0].sealing(), s.pumps[1].sealing()
	aborted := ctx.Done()
	window := time.NewTimer(min(grace, drainWindow))
	defer window.Stop()
	abandon := false               // the next end of the window does not wait for a tee
	over := (<-chan struct{})(nil) // ended, once a termination has begun

	select {
	case <-begun:
		begun, over, aborted = nil, ended, nil
		window.Stop()
	default:
	}
	for stdout != nil || stderr != nil || over != nil {
		select {
		case <-stdout:
			stdout = nil
		case <-stderr:
			stderr = nil
		case <-begun:
			begun, over, aborted = nil, ended, nil
			window.Stop()
		case <-over:
			over, abandon = nil, true
			s.cut()
			window.Reset(drainWindow)
		case <-window.C:
			s.cut()
			if abandon {
				s.abandon()
				return
			}
		case <-aborted:
			aborted, abandon = nil, true
			s.cut()
			window.Reset(drainWindow)
		}
	}
}

// Ended reports whether no process holds a collected stream any more.
func (s *Streams) Ended() bool {
	for _, p := range s.pumps {
		if p != nil && !p.eof.Load() {
			return false
		}
	}
	return true
}

// Stop ends the reading to nowhere that follows a cut. It waits for the pumps,
// but for those with a tee, which may be stuck for as long as it likes.
func (s *Streams) Stop() {
	for _, p := range s.pumps {
		if p == nil {
			continue
		}
		p.stop()
		if !p.patient {
			<-p.done
		}
	}
}

// cut ends the collected streams at what their pipes hold.
func (s *Streams) cut() {
	for _, p := range s.pumps {
		if p != nil {
			p.cut()
		}
	}
}

// abandon seals the windows of streams whose tee is stuck.
func (s *Streams) abandon() {
	for _, p := range s.pumps {
		if p != nil {
			p.stop()
			p.sink.seal()
		}
	}
}
