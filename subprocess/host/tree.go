//go:build unix

package host

import (
	"context"
	"slices"
	"sync"
	"time"

	"hardshell/internal/command"
	"hardshell/internal/hostwire"
	"hardshell/internal/proctree"
)

// tree is a tree that the host holds. Once the host has let go of it, because
// nothing seemed left or because it died, what its tag finds is looked after
// from here.
type tree struct {
	link    *link
	id      uint64
	request *hostwire.Spawn // without its strings, once it was sent
	pid     int

	exits chan exited // receives one

	mu                  sync.Mutex // guards what follows, and the closing of channels
	survivors           []int
	exit, kill, isEnded bool
	own                 *proctree.Tree // once it is looked after from here

	begun, ended, gone chan struct{}
	handed             chan struct{} // closed when own is set
}

// exited is what AwaitExit returns.
type exited struct {
	exit proctree.Exit
	left bool
}

var _ command.Tree = (*tree)(nil)

func newTree(l *link, s *hostwire.Spawn) *tree {
	return &tree{
		link: l, request: s, exits: make(chan exited, 1),
		begun: make(chan struct{}), ended: make(chan struct{}), gone: make(chan struct{}),
		handed: make(chan struct{}),
	}
}

// born tells the tree its leader. Nothing but the grace and the tag of the
// request is needed any more.
func (t *tree) born(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pid = pid
	t.request = &hostwire.Spawn{ID: t.id, Tag: t.request.Tag, Grace: t.request.Grace}
}

// PID implements command.Tree.
func (t *tree) PID() int { return t.pid }

// Grace implements command.Tree.
func (t *tree) Grace() time.Duration { return t.request.Grace }

// Begun implements command.Tree.
func (t *tree) Begun() <-chan struct{} { return t.begun }

// Ended implements command.Tree.
func (t *tree) Ended() <-chan struct{} { return t.ended }

// Gone implements command.Tree.
func (t *tree) Gone() <-chan struct{} { return t.gone }

// AwaitExit implements command.Tree.
func (t *tree) AwaitExit() (proctree.Exit, bool) {
	e := <-t.exits
	return e.exit, e.left
}

// Terminate implements command.Tree.
func (t *tree) Terminate() { t.end(false) }

// Kill implements command.Tree.
func (t *tree) Kill() { t.end(true) }

func (t *tree) end(kill bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if isClosed(t.gone) || t.kill || isClosed(t.begun) && !kill {
		return
	}
	t.kill = kill
	if !isClosed(t.begun) {
		close(t.begun)
	}
	if t.own != nil {
		t.endOwn()
		return
	}
	t.link.conn.Send(&hostwire.Message{End: &hostwire.End{ID: t.id, Kill: kill}})
	bound := patience
	if !kill {
		bound += t.request.Grace
	}
	go t.insist(bound)
}

// insist takes a host for dead that has not ended the tree, or said what it
// could not end, by the bound.
func (t *tree) insist(bound time.Duration) {
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case <-t.ended:
	case <-t.gone:
	case <-t.handed:
	case <-t.link.dead:
	case <-timer.C:
		t.link.conn.Close()
	}
}

// AwaitEnd implements command.Tree.
func (t *tree) AwaitEnd(ctx context.Context, maxPause time.Duration) bool {
	select {
	case <-t.gone:
		return true
	case <-ctx.Done():
		return false
	case <-t.handed:
	}
	if !t.own.AwaitEnd(ctx, maxPause) {
		return false
	}
	t.isGone()
	return true
}

// Survivors implements command.Tree.
func (t *tree) Survivors() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.survivors)
}

// hasExited hears how the leader ended. The host may let go of the tree then,
// also of one whose end was asked for in that moment.
func (t *tree) hasExited(e *hostwire.Exited) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exit {
		return
	}
	t.exit = true
	t.exits <- exited{proctree.Exit{
		Code: e.Code, Signal: e.Signal, Duration: e.Duration,
		UserTime: e.User, SystemTime: e.System, MaxRSS: e.MaxRSS,
	}, e.Left}
	if !e.Left && t.own == nil {
		t.adopt(false)
		if isClosed(t.begun) {
			t.endOwn()
		}
	}
}

// hasEnded hears that a termination is over.
func (t *tree) hasEnded(survivors []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isEnded {
		return
	}
	t.isEnded = true
	t.survivors = survivors
	close(t.ended)
}

// isGone hears that nothing is left.
func (t *tree) isGone() {
	t.hasEnded(nil)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !isClosed(t.gone) {
		close(t.gone)
	}
}

// lose hears that the host is gone. What it has left is killed, and the leader's
// end is told after that.
func (t *tree) lose(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own == nil {
		t.adopt(!t.exit)
		t.kill = true
		if !isClosed(t.begun) {
			close(t.begun)
		}
		t.endOwn()
	}
	if t.exit {
		return
	}
	t.exit = true
	lost := exited{proctree.Exit{Code: -1, Cause: err}, true}
	if !isClosed(t.begun) {
		t.exits <- lost
		return
	}
	go func() {
		<-t.ended
		t.exits <- lost
	}()
}

// adopt is called with mu held, once. Led says that the leader may be alive.
func (t *tree) adopt(led bool) {
	t.own = proctree.Adopt(t.pid, t.request.Tag, t.request.Grace, led)
	close(t.handed)
}

// endOwn is called with mu held.
func (t *tree) endOwn() {
	if t.kill {
		t.own.Kill()
	} else {
		t.own.Terminate()
	}
	go func() {
		select {
		case <-t.own.Ended():
			t.hasEnded(t.own.Survivors())
		case <-t.own.Gone():
		}
		if isClosed(t.own.Gone()) {
			t.isGone()
		}
	}()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
