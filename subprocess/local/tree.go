//go:build unix

package local

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"hardshell/internal/spawn"
)

// killBound is how long a tree may take to die after SIGKILL. What takes longer
// is in an uninterruptible sleep, or not ours to signal.
const killBound = time.Second

// tree is every process that descends from one leader.
//
// The leader's process id is also the number of its group and session. The
// kernel does not reuse a number while a process is known by it: not before
// the leader is reaped, and not while its group or session has a member. After
// that the number may mean strangers, so it is never signalled again once the
// tree was seen gone.
type tree struct {
	pid   int
	tag   uint64
	grace time.Duration

	// find calls visit with every living member until it returns false, with
	// some of them twice.
	find func(visit func(process) bool)

	mu        sync.Mutex // guards survivors, and reaping against signalling
	survivors []int
	reaped    atomic.Bool
	ungrouped atomic.Bool // the group was seen empty: its number is not ours any more

	// begun is closed when a termination begins, killed to cut its grace
	// short, ended when it is over; gone when no member is left.
	begun, killed, ended, gone    chan struct{}
	beginOnce, killOnce, goneOnce sync.Once
}

// newTree returns the tree of a leader.
func newTree(pid int, tag uint64, grace time.Duration) *tree {
	t := newHerd(nil, grace)
	t.pid, t.tag = pid, tag
	t.find = t.visitMembers
	return t
}

// newHerd returns a tree without a leader, of the processes that find meets.
func newHerd(find func(visit func(process) bool), grace time.Duration) *tree {
	return &tree{
		find: find, grace: grace,
		begun: make(chan struct{}), killed: make(chan struct{}),
		ended: make(chan struct{}), gone: make(chan struct{}),
	}
}

// reap collects the leader's status. It reports whether the group has members
// left, before their number can be reused.
func (t *tree) reap(child *spawn.Child) (status spawn.Status, groupAlive bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	status = child.Reap()
	t.reaped.Store(true)
	groupAlive = syscall.Kill(-t.pid, 0) != syscall.ESRCH
	t.ungrouped.Store(!groupAlive)
	return status, groupAlive
}

// terminate begins the end of the tree, once: SIGTERM, the grace, SIGKILL.
func (t *tree) terminate() { t.begin(syscall.SIGTERM) }

// kill ends the tree without a grace.
func (t *tree) kill() {
	t.killOnce.Do(func() { close(t.killed) })
	t.begin(syscall.SIGKILL)
}

func (t *tree) begin(sig syscall.Signal) {
	if isClosed(t.gone) {
		return
	}
	t.beginOnce.Do(func() {
		close(t.begun)
		t.signalGroup(sig)
		go t.escalate()
	})
}

func (t *tree) markGone() { t.goneOnce.Do(func() { close(t.gone) }) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// resisted lists what a termination left alive.
func (t *tree) resisted() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.survivors)
}

// escalate follows a SIGTERM to the group: to those who left the group, then,
// after the grace, SIGKILL to all.
func (t *tree) escalate() {
	defer close(t.ended)
	if !isClosed(t.killed) {
		t.find(func(p process) bool {
			if p.group != t.pid {
				syscall.Kill(p.pid, syscall.SIGTERM)
			}
			return true
		})
	}
	if !isClosed(t.killed) && t.awaitGone(t.grace, t.killed) {
		t.markGone()
		return
	}
	left := t.hunt(time.Now().Add(killBound))
	if len(left) == 0 {
		t.markGone()
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.survivors = left
}

// hunt sends SIGKILL to the members, each as it is met, again and again until a
// look meets none or the deadline passes, and returns those that the last look
// met.
func (t *tree) hunt(deadline time.Time) (left []int) {
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		left = left[:0]
		// A signal to a whole group also reaches the children being forked in it.
		t.signalGroup(syscall.SIGKILL)
		t.find(func(p process) bool {
			left = append(left, p.pid)
			syscall.Kill(p.pid, syscall.SIGKILL)
			return true
		})
		if len(left) == 0 || time.Now().After(deadline) {
			slices.Sort(left)
			return slices.Compact(left)
		}
		t.awaitGone(pause, nil)
	}
}

// visitGroup calls visit with the leader for the group as a whole, while that has
// members, dead ones that nobody has reaped included.
func (t *tree) visitGroup(visit func(process) bool) {
	if t.ownsNumbers() && syscall.Kill(-t.pid, 0) != syscall.ESRCH {
		visit(process{pid: t.pid, group: t.pid})
	}
}

// signalGroup signals the leader's group while the number is the tree's.
func (t *tree) signalGroup(sig syscall.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pid > 0 && !isClosed(t.gone) && t.ownsNumbers() {
		syscall.Kill(-t.pid, sig)
	}
}

// ownsNumbers reports whether the leader's number still means this tree's
// group and session. A reaped leader's number that names a process again was
// reused; a group or session of that number can only be that process's.
func (t *tree) ownsNumbers() bool {
	return !t.ungrouped.Load() && (!t.reaped.Load() || syscall.Kill(t.pid, 0) == syscall.ESRCH)
}

// awaitGone waits until no member is left, and reports whether that came to
// pass before the bound passed or stop was closed.
func (t *tree) awaitGone(bound time.Duration, stop <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	if stop != nil {
		go func() {
			select {
			case <-stop:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return t.awaitEnd(ctx, 100*time.Millisecond)
}

// awaitEnd waits until no member is left (true) or ctx ends (false). Where the
// kernel has pidfds it does not poll; elsewhere it looks again after pauses
// that grow to maxPause.
func (t *tree) awaitEnd(ctx context.Context, maxPause time.Duration) bool {
	for pause := 5 * time.Millisecond; ctx.Err() == nil; {
		var members []int
		t.find(func(p process) bool {
			members = append(members, p.pid)
			return len(members) < 256
		})
		if len(members) == 0 {
			return true
		}
		// All of them must end, so it does not matter which is waited for first.
		for _, pid := range members {
			if !spawn.WaitGone(pid, ctx.Done()) {
				sleep(ctx, pause)
				pause = min(2*pause, maxPause)
				break
			}
		}
	}
	return false
}

// sleep pauses, or returns early when ctx ends.
func sleep(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
