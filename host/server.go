//go:build unix

package host

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/state"
	"hardshell/sandbox"
)

// server is one session host.
type server struct {
	session  string
	files    hostwire.Files
	lock     *state.HeldLock
	key      []byte
	listener *os.File
	provider sandbox.Provider
	log      *slog.Logger
	records  *records

	// ending ends when everything is to be ended.
	ending context.Context
	end    context.CancelFunc

	mu       sync.Mutex
	clients  map[*client]struct{} // attached, or gone with something left to do
	present  int                  // how many are attached
	orphans  *time.Timer          // ends everything when nobody comes, nil without
	patience time.Duration        // how long that takes, 0 for ever
	unknown  []*hostwire.Conn     // have not said who they are, the oldest first
	greeted  bool                 // the first client has been dealt with
	full     bool                 // nobody is let in any more
	idle     chan struct{}        // closed when nobody and nothing is left
}

// serve serves the first client and everyone who connects, until nobody is
// attached and nothing is left, or stop ends; then everything is ended.
func (s *server) serve(stop context.Context, first *hostwire.Conn) error {
	go s.attend(first, true)
	go s.accept()
	select {
	case <-s.idle:
	case <-stop.Done():
		s.stop()
		<-s.idle
	}
	s.end()
	s.endRecords()
	// Whoever connects from here on finds nobody and starts another host, which
	// waits for the lock.
	os.Remove(s.files.Socket)
	err := s.provider.Close()
	if err != nil {
		s.log.Error("the sandboxes could not be ended", "error", err)
	}
	s.release()
	return err
}

// orphaned ends everything when nobody has come.
func (s *server) orphaned() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.present == 0 {
		s.stopLocked()
	}
}

// stop ends everything, also what was to be kept.
func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopLocked()
}

// stopLocked is called with mu held.
func (s *server) stopLocked() {
	for c := range s.clients {
		c.conn.Close()
	}
	s.greeted, s.full = true, true
	go s.endRecords()
	s.checkIdle()
}

// endRecords ends the recorded commands, with their grace, and what they left.
func (s *server) endRecords() {
	if err := s.records.close(); err != nil {
		s.log.Error("recorded commands could not be ended", "error", err)
	}
}

// accept lets clients in until the listener is closed.
func (s *server) accept() {
	raw, err := s.listener.SyscallConn()
	if err != nil {
		return
	}
	for {
		fd := -1
		var failure error
		err := raw.Read(func(listener uintptr) bool {
			fd, _, failure = unix.Accept(int(listener))
			return failure != unix.EAGAIN
		})
		if err != nil {
			return
		}
		if failure != nil {
			if failure == unix.EMFILE || failure == unix.ENFILE {
				time.Sleep(10 * time.Millisecond) // one will be closed
			}
			continue
		}
		if conn, err := hostwire.NewConn(fd); err == nil {
			s.meet(conn)
			go s.attend(conn, false)
		}
	}
}

// maxUnknown is how many may be connected that have not said who they are. A
// command that Landlock alone confines can connect, and knows no key.
const maxUnknown = 64

// meet remembers who is still to say who it is, and hangs up on the oldest of
// too many.
func (s *server) meet(conn *hostwire.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown = append(s.unknown, conn)
	if len(s.unknown) > maxUnknown {
		s.unknown[0].Close()
		s.unknown = slices.Delete(s.unknown, 0, 1)
	}
}

// met forgets who has said who it is, or gone.
func (s *server) met(conn *hostwire.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.unknown, conn); i >= 0 {
		s.unknown = slices.Delete(s.unknown, i, i+1)
	}
}

// attend speaks with one client until it detaches, and then does what it said
// was to be done.
func (s *server) attend(conn *hostwire.Conn, trusted bool) {
	defer s.guard(conn)
	attach, err := s.greet(conn, trusted)
	s.met(conn)
	if err != nil {
		if trusted {
			s.firstIsIn()
		}
		refuse(conn, err)
		return
	}
	c := newClient(s, conn, attach)
	if !s.enter(c) {
		conn.Close() // as if it had come a moment later
		return
	}
	if trusted {
		s.firstIsIn()
	}
	defer s.leave(c)
	c.serve()
}

// guard contains a panic: it costs the one connection, if there is one.
func (s *server) guard(conn *hostwire.Conn) {
	if r := recover(); r != nil {
		s.panicked(r)
		if conn != nil {
			conn.Close()
		}
	}
}

func (s *server) panicked(value any) {
	s.log.Error("panic", "value", value, "stack", string(debug.Stack()))
}

// enter adds a client, unless the host is ending.
func (s *server) enter(c *client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return false
	}
	s.clients[c] = struct{}{}
	s.present++
	if c.orphanAfter > 0 {
		s.patience = c.orphanAfter
	}
	if s.orphans != nil {
		s.orphans.Stop()
		s.orphans = nil
	}
	return true
}

// detached hears that a client is attached no more. What ends with it is ended,
// and with the last one all that is not kept.
func (s *server) detached(c *client) {
	s.records.stop("its harness is gone", func(r *recorded) bool { return r.endsWith(c) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.present--
	switch {
	case s.present > 0:
	case !c.keep:
		s.stopLocked()
	case s.patience > 0:
		s.orphans = time.AfterFunc(s.patience, s.orphaned)
	}
}

// announce tells every client.
func (s *server) announce(m *hostwire.Message) {
	s.mu.Lock()
	conns := make([]*hostwire.Conn, 0, len(s.clients))
	for c := range s.clients {
		if c.hears.Load() {
			conns = append(conns, c.conn)
		}
	}
	s.mu.Unlock()
	for _, conn := range conns {
		each := *m
		conn.Send(&each) // one that has gone hears nothing
	}
}

// recordsAreQuiet lets the host end when nothing else is left.
func (s *server) recordsAreQuiet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkIdle()
}

// leave lets go of a client of which nothing is left.
func (s *server) leave(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c)
	s.checkIdle()
}

// firstIsIn lets the host end when it is idle: before, its first client is
// still on the way.
func (s *server) firstIsIn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.greeted = true
	s.checkIdle()
}

// checkIdle is called with mu held.
func (s *server) checkIdle() {
	if !s.greeted || len(s.clients) > 0 || s.records.busy() {
		return
	}
	select {
	case <-s.idle:
	default:
		s.full = true
		close(s.idle)
	}
}

// refuse sends an error instead of everything else, and hangs up.
func refuse(conn *hostwire.Conn, err error) {
	var closed *hangUp
	if !errors.As(err, &closed) {
		conn.Send(&hostwire.Message{Failure: hostwire.NewFailure(err, fault.SpawnFailed)})
	}
	conn.Finish(time.Second)
}

// hangUp is an error that the peer is not told.
type hangUp struct{ err error }

func (h *hangUp) Error() string { return h.err.Error() }
