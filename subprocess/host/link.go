//go:build unix

package host

import (
	"sync"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
)

// link is one connection to a host.
type link struct {
	conn *hostwire.Conn
	pid  int         // of the host
	tags chan uint64 // for spawns

	mu      sync.Mutex
	last    uint64 // number given
	waiting map[uint64]chan *hostwire.Message
	trees   map[uint64]*tree
	records map[string]*Recorded // by key
	dead    chan struct{}        // closed when nothing comes any more
	over    chan struct{}        // closed when the losses were dealt with
}

// newLink returns the link over a connection that was answered.
func newLink(conn *hostwire.Conn, attached *hostwire.Attached) *link {
	l := &link{
		conn: conn, pid: attached.PID,
		tags:    make(chan uint64, len(attached.Tags)),
		waiting: map[uint64]chan *hostwire.Message{},
		trees:   map[uint64]*tree{},
		records: map[string]*Recorded{},
		dead:    make(chan struct{}), over: make(chan struct{}),
	}
	for _, tag := range attached.Tags {
		l.tags <- tag
	}
	go l.receive()
	return l
}

// alive reports whether the link still serves.
func (l *link) alive() bool {
	select {
	case <-l.dead:
		return false
	default:
		return true
	}
}

// lost is the error of everything that the end of the link cuts short.
func (l *link) lost() error {
	return fault.New(fault.SpawnFailed, "the session host (process %d) is gone: how its commands ended is not known; the next command starts another host", l.pid)
}

// errAnswer is an answer that is none.
var errAnswer = fault.New(fault.Invariant, "the session host gave no proper answer: end the session")

// begin sends a request and returns where its answer will come.
func (l *link) begin(m *hostwire.Message, files ...int) (chan *hostwire.Message, error) {
	answer := make(chan *hostwire.Message, 1)
	l.mu.Lock()
	l.last++
	m.Request = l.last
	l.waiting[m.Request] = answer
	l.mu.Unlock()
	err := l.conn.Send(m, files...)
	if err != nil {
		l.mu.Lock()
		delete(l.waiting, m.Request)
		l.mu.Unlock()
	}
	return answer, err
}

// call sends a request and waits for its answer.
func (l *link) call(m *hostwire.Message) (*hostwire.Message, error) {
	answer, err := l.begin(m)
	if err != nil {
		return nil, l.lost()
	}
	select {
	case m := <-answer:
		return m, nil
	case <-l.dead:
		return nil, l.lost()
	}
}

// add makes a tree known, before the host speaks of it.
func (l *link) add(t *tree) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	t.id = l.last
	t.request.ID = t.id
	l.trees[t.id] = t
}

// forget lets go of a tree. The host's last word about it may be still to come.
func (l *link) forget(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.trees, id)
}

func (l *link) tree(id uint64) *tree {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trees[id]
}

// watch has a recorded command hear what the host tells about it.
func (l *link) watch(w *Recorded) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records[w.ask.Key] = w
}

func (l *link) unwatch(w *Recorded) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.records[w.ask.Key] == w {
		delete(l.records, w.ask.Key)
	}
}

func (l *link) record(key string) *Recorded {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.records[key]
}

// receive deals with what comes until nothing does.
func (l *link) receive() {
	defer close(l.over)
	for {
		m, files, err := l.conn.Receive()
		if err != nil {
			break
		}
		hostwire.CloseFiles(files)
		l.dispatch(m)
	}
	l.conn.Close()
	close(l.dead)
	l.mu.Lock()
	trees := make([]*tree, 0, len(l.trees))
	for _, t := range l.trees {
		trees = append(trees, t)
	}
	l.mu.Unlock()
	for _, t := range trees {
		t.lose(l.lost())
	}
}

func (l *link) dispatch(m *hostwire.Message) {
	switch {
	case m.Exited != nil:
		if t := l.tree(m.Exited.ID); t != nil {
			t.hasExited(m.Exited)
		}
	case m.Ended != nil:
		if t := l.tree(m.Ended.ID); t != nil {
			t.hasEnded(m.Ended.Survivors)
		}
	case m.Gone != nil:
		if t := l.tree(m.Gone.ID); t != nil {
			t.isGone()
		}
	case m.Recorded != nil:
		if w := l.record(m.Recorded.Key); w != nil {
			w.heard(m)
		}
	case m.Cleared != nil:
		if w := l.record(m.Cleared.Key); w != nil {
			w.heard(m)
			if !m.Cleared.Unstarted {
				l.unwatch(w)
			}
		}
	default:
		l.mu.Lock()
		answer := l.waiting[m.Request]
		delete(l.waiting, m.Request)
		l.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}
