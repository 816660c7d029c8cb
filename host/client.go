//go:build unix

package host

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/proctree"
)

// inFlight is how many spawns of one client may be under way at once.
const inFlight = 32

// client is one attached harness with the commands that it asked for.
type client struct {
	server *server
	conn   *hostwire.Conn
	keep   bool
	// orphanAfter is how long the session goes on without anybody, 0 for ever.
	orphanAfter time.Duration
	trees       *proctree.Set

	// attached ends when the client detaches.
	attached context.Context
	detach   context.CancelFunc
	// watching ends the watches over trees that went on in the background.
	watching context.Context
	unwatch  context.CancelFunc
	// haste ends when the grace of the shutdown is to be cut short.
	haste  context.Context
	hasten context.CancelFunc

	mu        sync.Mutex
	held      map[uint64]*held
	following sync.WaitGroup // one for each tree that is followed, and its end
	answering sync.WaitGroup // one for each answer that is being made

	hears     atomic.Bool // what is told to every client
	leaveOnce sync.Once

	shutOnce sync.Once
	shutErr  error
}

// held is a tree of which the client may speak.
type held struct {
	tree   *proctree.Tree
	ending bool // its end is being reported
}

func newClient(s *server, conn *hostwire.Conn, attach *hostwire.Attach) *client {
	c := &client{
		server: s, conn: conn, keep: attach.Keep, orphanAfter: attach.OrphanAfter,
		trees: proctree.NewSet(), held: map[uint64]*held{},
	}
	c.attached, c.detach = context.WithCancel(context.Background())
	c.watching, c.unwatch = context.WithCancel(context.Background())
	c.haste, c.hasten = context.WithCancel(context.Background())
	return c
}

// serve answers until the client detaches, and returns when nothing of it is
// left to look after.
func (c *client) serve() {
	defer c.conn.Close()
	attached := &hostwire.Attached{Version: hostwire.Version, PID: os.Getpid()}
	for range inFlight {
		attached.Tags = append(attached.Tags, c.trees.NextTag())
	}
	c.conn.Send(&hostwire.Message{Attached: attached})
	c.hears.Store(true) // after the answer that comes first
	c.listen()
	c.detach()
	c.conn.Close()
	c.answering.Wait()
	c.leave()
	// What it has started itself ends with it: nobody reads that any more, or
	// minds its deadline. What is recorded is the session's.
	if err := c.shutDown(); err != nil {
		c.server.log.Error("commands could not be ended", "error", err)
	}
}

// leave tells the server, once, that nobody is behind the client any more: its
// connection has ended, or is about to.
func (c *client) leave() { c.leaveOnce.Do(func() { c.server.detached(c) }) }

// shutDown ends all trees, once, and returns when their ends were reported.
func (c *client) shutDown() error {
	c.shutOnce.Do(func() {
		c.shutErr = c.trees.Close(c.haste)
		c.unwatch()
		c.following.Wait()
	})
	return c.shutErr
}

// listen answers messages until the connection ends, or the client says what
// makes no sense.
func (c *client) listen() {
	for {
		m, files, err := c.conn.Receive()
		if err != nil {
			return
		}
		switch {
		case m.Spawn != nil:
			if !c.beginSpawn(m, files) {
				hostwire.CloseFiles(files)
				return
			}
			continue
		case m.End != nil:
			c.end(m.End)
		case m.Tell != nil:
			c.serving(func() { c.tell(m) })
		case m.Confine != nil:
			c.serving(func() { c.confine(m) })
		case m.Denied != nil:
			c.serving(func() { c.denied(m) })
		case m.Close != nil && m.Close.Hurry:
			c.hasten()
		case m.Close != nil:
			c.serving(func() {
				failure := hostwire.NewFailure(c.shutDown(), fault.Invariant)
				c.leave()
				c.conn.Send(&hostwire.Message{Request: m.Request, Closed: &hostwire.Closed{Failure: failure}})
			})
		default:
			hostwire.CloseFiles(files)
			return
		}
		hostwire.CloseFiles(files)
	}
}

// serving answers beside the other answers.
func (c *client) serving(answer func()) {
	c.answering.Add(1)
	go func() {
		defer c.answering.Done()
		defer c.server.guard(c.conn)
		answer()
	}()
}
