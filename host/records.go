//go:build unix

package host

import (
	"context"
	"path/filepath"
	"sync"

	"hardshell/internal/cgroup"
	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/proctree"
)

// records are the recorded commands of the session. They are its own, and no
// client's.
type records struct {
	server *server
	// dir is where records lie.
	dir   string
	trees *proctree.Set
	// groups are what commands with a limit of memory are measured in.
	groups cgroup.Groups

	mu     sync.Mutex
	live   map[string]*recorded // by key, until nothing is left of them
	empty  chan struct{}        // closed when live becomes empty; nil while it is
	awaits bool                 // somebody waits until nothing is left at all
	closed bool

	samples sampler

	closeOnce sync.Once
	closeErr  error
}

func newRecords(s *server, dir string) *records {
	return &records{server: s, dir: dir, trees: proctree.NewSet(), live: map[string]*recorded{}}
}

// enter makes a recorded command known before it is spawned, and keeps the host
// alive for it. Leave is called when nothing is left of it.
func (r *records) enter(c *recorded) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return fault.New(fault.SpawnFailed, "the session is ending: no more commands are run")
	case r.live[c.ask.Key] != nil:
		return fault.New(fault.InvalidArgument, "the record %s is of a command that runs", c.dir.Path())
	}
	if r.live[c.ask.Key] = c; r.empty == nil {
		r.empty = make(chan struct{})
	}
	if !r.awaits {
		r.awaits = true
		go r.awaitQuiet()
	}
	return nil
}

func (r *records) leave(c *recorded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, c.ask.Key)
	if len(r.live) == 0 {
		close(r.empty)
		r.empty = nil
	}
}

// awaitEmpty waits until no command is known.
func (r *records) awaitEmpty() {
	for {
		r.mu.Lock()
		empty := r.empty
		r.mu.Unlock()
		if empty == nil {
			return
		}
		<-empty
	}
}

// awaitQuiet waits until nothing is left of all recorded commands, daemons
// that left their sessions included, and then lets the host end.
func (r *records) awaitQuiet() {
	defer r.server.guard(nil)
	for {
		r.awaitEmpty()
		r.trees.AwaitStrays(r.server.ending)
		r.mu.Lock()
		if len(r.live) == 0 {
			r.awaits = false
			r.mu.Unlock()
			r.server.recordsAreQuiet()
			return
		}
		r.mu.Unlock()
	}
}

// busy reports whether anything may be left.
func (r *records) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.awaits
}

// find returns the command of a key, nil when none runs.
func (r *records) find(key string) *recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live[key]
}

// stop ends those that the condition picks.
func (r *records) stop(reason string, pick func(*recorded) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.live {
		if pick(c) {
			c.stop(stopped, reason, false)
		}
	}
}

// close ends everything, once, and returns when it is gone and recorded.
func (r *records) close() error {
	r.closeOnce.Do(func() {
		r.mu.Lock()
		r.closed = true
		r.mu.Unlock()
		r.stop("the session was ended", func(*recorded) bool { return true })
		r.closeErr = r.trees.Close(context.Background())
		r.server.end() // what resisted is not waited for
		r.awaitEmpty()
		r.groups.Close()
	})
	return r.closeErr
}

// contains reports whether a path is a record of this session.
func (r *records) contains(path string) bool {
	return filepath.Dir(path) == r.dir && filepath.Clean(path) == path
}

// tell does what a client asks of a recorded command.
func (c *client) tell(m *hostwire.Message) {
	t := m.Tell
	command := c.server.records.find(t.Key)
	answer := &hostwire.Message{Request: m.Request, Told: &hostwire.Told{Found: command != nil}}
	var err error
	switch {
	case command == nil:
	case t.Stop != nil:
		command.stop(stopped, t.Stop.Reason, t.Stop.Kill)
	case t.Input != nil:
		err = command.input(t.Input)
	case t.Promote:
		command.promote()
	}
	if err != nil {
		answer.Told, answer.Failure = nil, hostwire.NewFailure(err, fault.InvalidArgument)
	}
	c.conn.Send(answer)
}
