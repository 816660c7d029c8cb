//go:build unix

package proctree

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"hardshell/internal/spawn"
)

// killBound is how long a tree may take to die after SIGKILL, and killLooks how
// often it is looked at before it is given up: on a machine that has no time for
// us, the clock alone says nothing. What takes longer is in an uninterruptible
// sleep, or not ours to signal.
const (
	killBound = time.Second
	killLooks = 12
)

// Tree is every process that descends from one leader. It is safe for
// concurrent use, AwaitExit apart.
//
// The leader's process id is also the number of its group and session. The
// kernel does not reuse a number while a process is known by it: not before
// the leader is reaped, and not while its group or session has a member. After
// that the number may mean strangers, so it is never signalled again once the
// tree was seen gone.
type Tree struct {
	pid     int
	tag     uint64
	grace   time.Duration
	proc    *spawn.Child // nil for a tree that was adopted, and for a herd
	started time.Time

	// find calls visit with every living member until it returns false, with
	// some of them twice. still reports whether a process is one now.
	find  func(visit func(process) bool)
	still func(pid int) bool

	mu        sync.Mutex // guards survivors, and reaping against signalling
	survivors []int
	reaped    atomic.Bool
	ungrouped atomic.Bool // the group was seen empty: its number is not ours any more

	begun, killed, ended, gone    chan struct{}
	beginOnce, killOnce, goneOnce sync.Once
}

// Exit is how a leader ended, as subprocess.Exit has it.
type Exit struct {
	Code     int
	Signal   string
	Cause    error
	Duration time.Duration
	// UserTime, SystemTime and MaxRSS (bytes) are the leader's, with those of its
	// descendants that were waited for.
	UserTime, SystemTime time.Duration
	MaxRSS               int64
}

// newTree returns the tree of a leader.
func newTree(proc *spawn.Child, tag uint64, grace time.Duration, started time.Time) *Tree {
	t := newHerd(nil, nil, grace)
	t.pid, t.tag, t.proc, t.started = proc.PID(), tag, proc, started
	t.find, t.still = t.visitMembers, t.isMember
	return t
}

// Adopt returns the tree that another process started and can no longer look
// after. It is found by its tag; with led, which says that nobody reaped the
// leader yet, also by the leader's number. AwaitExit is not for such a tree.
func Adopt(pid int, tag uint64, grace time.Duration, led bool) *Tree {
	t := newHerd(nil, nil, grace)
	t.pid, t.tag = pid, tag
	t.ungrouped.Store(!led || pid <= 0)
	t.find, t.still = t.visitMembers, t.isMember
	return t
}

// newHerd returns a tree without a leader, of the processes that find meets.
func newHerd(find func(visit func(process) bool), still func(pid int) bool, grace time.Duration) *Tree {
	return &Tree{
		find: find, still: still, grace: grace,
		begun: make(chan struct{}), killed: make(chan struct{}),
		ended: make(chan struct{}), gone: make(chan struct{}),
	}
}

// PID is the leader's process id.
func (t *Tree) PID() int { return t.pid }

// Tag is the mark of the tree's processes, 0 for none.
func (t *Tree) Tag() uint64 { return t.tag }

// InCgroup reports whether the leader was born into the control group that its
// spawn.Attr names, and with it everything that descends from it.
func (t *Tree) InCgroup() bool { return t.proc != nil && t.proc.InCgroup() }

// Grace is the time between SIGTERM and SIGKILL.
func (t *Tree) Grace() time.Duration { return t.grace }

// Begun is closed when a termination begins.
func (t *Tree) Begun() <-chan struct{} { return t.begun }

// Ended is closed when a termination is over; Survivors are then known.
func (t *Tree) Ended() <-chan struct{} { return t.ended }

// Gone is closed when the tree was seen to have no member left.
func (t *Tree) Gone() <-chan struct{} { return t.gone }

// AwaitExit waits for the end of the leader, reaps it, and reports whether the
// tree needs watching after that: its group has members left, or nothing would
// find those who left it. A leader that outlives a termination is given up: how
// it ended is not known, and it is reaped whenever it does. It is called once.
func (t *Tree) AwaitExit() (exit Exit, left bool) {
	exited := make(chan struct{})
	go func() {
		t.proc.WaitExit()
		close(exited)
	}()
	select {
	case <-exited:
	case <-t.ended:
		if !isClosed(t.gone) && !isClosed(exited) {
			go func() {
				<-exited
				t.reap(t.proc)
			}()
			return Exit{Code: -1, Duration: time.Since(t.started)}, true
		}
		<-exited
	}
	status, groupAlive := t.reap(t.proc)
	return Exit{
		Code: status.Code, Signal: status.Signal, Duration: time.Since(t.started),
		UserTime: status.UserTime, SystemTime: status.SystemTime, MaxRSS: status.MaxRSS,
	}, groupAlive || t.tag == 0
}

// AwaitEnd waits until no member is left (true) or ctx ends (false). Where the
// kernel has pidfds it does not poll; elsewhere it looks again after pauses
// that grow to maxPause.
func (t *Tree) AwaitEnd(ctx context.Context, maxPause time.Duration) bool {
	if isClosed(t.gone) {
		return true
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a termination may be the first to see it gone
		select {
		case <-t.gone:
			cancel()
		case <-ctx.Done():
		}
	}()
	if t.awaitEnd(ctx, maxPause) {
		t.markGone()
	}
	return isClosed(t.gone)
}

// Terminate begins the end of the tree, once: SIGTERM, the grace, SIGKILL.
// Nothing happens to a tree that was seen gone.
func (t *Tree) Terminate() { t.begin(syscall.SIGTERM) }

// Kill ends the tree without a grace, also one that Terminate has begun to end.
func (t *Tree) Kill() {
	t.killOnce.Do(func() { close(t.killed) })
	t.begin(syscall.SIGKILL)
}

// Survivors lists what a termination left alive, in ascending order.
func (t *Tree) Survivors() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.survivors)
}

// reap collects the leader's status. It reports whether the group has members
// left, before their number can be reused.
func (t *Tree) reap(child *spawn.Child) (status spawn.Status, groupAlive bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	status = child.Reap()
	t.reaped.Store(true)
	groupAlive = syscall.Kill(-t.pid, 0) != syscall.ESRCH
	t.ungrouped.Store(!groupAlive)
	return status, groupAlive
}

func (t *Tree) begin(sig syscall.Signal) {
	if isClosed(t.gone) {
		return
	}
	t.beginOnce.Do(func() {
		close(t.begun)
		t.signalGroup(sig)
		go t.escalate()
	})
}

func (t *Tree) markGone() { t.goneOnce.Do(func() { close(t.gone) }) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// escalate follows a SIGTERM to the group: to those who left the group, then,
// after the grace, SIGKILL to all.
func (t *Tree) escalate() {
	defer close(t.ended)
	t.killTraced()
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
// look meets none, or the deadline has passed and there were enough looks. It
// returns those that the last look met.
func (t *Tree) hunt(deadline time.Time) (left []int) {
	looks := 0
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		looks++
		left = left[:0]
		// A signal to a whole group also reaches the children being forked in it.
		t.signalGroup(syscall.SIGKILL)
		t.find(func(p process) bool {
			left = append(left, p.pid)
			syscall.Kill(p.pid, syscall.SIGKILL)
			return true
		})
		if len(left) == 0 || looks >= killLooks && time.Now().After(deadline) {
			slices.Sort(left)
			return slices.Compact(left)
		}
		t.awaitGone(pause, nil)
	}
}

// visitGroup calls visit with the leader for the group as a whole, while that has
// members, dead ones that nobody has reaped included.
func (t *Tree) visitGroup(visit func(process) bool) {
	if t.ownsNumbers() && syscall.Kill(-t.pid, 0) != syscall.ESRCH {
		visit(process{pid: t.pid, group: t.pid})
	}
}

// signalGroup signals the leader's group while the number is the tree's.
func (t *Tree) signalGroup(sig syscall.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pid > 0 && !isClosed(t.gone) && t.ownsNumbers() {
		syscall.Kill(-t.pid, sig)
	}
}

// killTraced kills a leader that has this process trace it (PTRACE_TRACEME of
// ptrace(2) names the parent, unasked). Any other signal would only stop it, and
// nobody lets it go on.
func (t *Tree) killTraced() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.proc != nil && !t.reaped.Load() && tracedHere(t.pid) {
		syscall.Kill(t.pid, syscall.SIGKILL)
	}
}

// ownsNumbers reports whether the leader's number still means this tree's
// group and session. A reaped leader's number that names a process again was
// reused; a group or session of that number can only be that process's.
func (t *Tree) ownsNumbers() bool {
	return !t.ungrouped.Load() && (!t.reaped.Load() || syscall.Kill(t.pid, 0) == syscall.ESRCH)
}

// awaitGone waits until no member is left, and reports whether that came to
// pass before the bound passed or stop was closed.
func (t *Tree) awaitGone(bound time.Duration, stop <-chan struct{}) bool {
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

// awaitEnd is AwaitEnd without the mark.
func (t *Tree) awaitEnd(ctx context.Context, maxPause time.Duration) bool {
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
			if !waitGone(pid, t.still, ctx.Done()) {
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
