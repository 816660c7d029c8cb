package native

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"hardshell/internal/landlock"
	"hardshell/internal/spawn"
	"hardshell/sandbox"
)

// fence is Landlock and seccomp without namespaces. One thread of this process
// is restricted, and all commands are born from it: they share its domain, so
// that they can signal each other and nothing else. The thread is in that domain
// too, and whoever signals it signals this process: so it is not the leader, and
// the filter keeps signals from it.
type fence struct {
	*confined
	lock  *lock
	roots []fileID

	// filtered says that the thread has the filter itself; else each child puts
	// it on.
	filtered bool
	requests chan func()
	stop     sync.Once
	stopped  chan struct{}
}

// signalABI is the version of Landlock that keeps signals in, truncateABI the
// one that knows truncation: without it files could be emptied.
const (
	signalABI   = 6
	truncateABI = 3
)

// newFence restricts a thread for a plan.
func newFence(pl *plan) (*fence, error) {
	abi, err := landlock.ABI()
	if err != nil {
		return nil, fmt.Errorf("the kernel has no Landlock: %w", err)
	}
	pl.unplace() // nothing inside of a root can be protected here
	rules, err := pl.rules(abi)
	if err != nil {
		return nil, err
	}
	defer rules.Close()
	f := &fence{
		confined: newConfined(sandbox.TierLandlock, pl, false),
		lock:     newLock(pl, false, false),
		roots:    pl.watched(),
		requests: make(chan func()),
		stopped:  make(chan struct{}),
	}
	f.report.Effects = sandbox.Effects{
		Write: sandbox.Full, Metadata: sandbox.Partial, ProtectedPaths: sandbox.Partial, Read: sandbox.Full,
		Visibility: sandbox.Partial, Signal: sandbox.Full, Unix: sandbox.Partial, Network: f.report.Network,
	}
	if abi < truncateABI {
		f.report.Effects.Write = sandbox.Partial
	}
	if abi < signalABI {
		f.report.Effects.Signal = sandbox.Partial
	}
	// A child shares this process's memory until it starts its program, and may
	// be traced by its siblings: see ptrace(2), access mode checking.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, os.NewSyscallError("prctl", err)
	}
	restricted := make(chan error, 1)
	go asideOfLeader(func() { f.thread(rules, restricted) })
	if err := <-restricted; err != nil {
		return nil, err
	}
	return f, nil
}

// asideOfLeader runs f on a thread of its own that does not lead this process:
// what signals the leader signals the process.
func asideOfLeader(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f() // and the thread ends with the goroutine
		return
	}
	// While this goroutine holds the leader, another is on another thread.
	aside := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(aside)
		f()
	}()
	<-aside
	runtime.UnlockOSThread()
}

// thread restricts itself and then starts children. It ends with its goroutine,
// which stays locked to it.
func (f *fence) thread(rules *landlock.Ruleset, restricted chan<- error) {
	err := f.restrictThread(rules)
	restricted <- err
	if err != nil {
		return
	}
	for {
		select {
		case do := <-f.requests:
			do()
		case <-f.stopped:
			return
		}
	}
}

func (f *fence) restrictThread(rules *landlock.Ruleset) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl no_new_privs", err)
	}
	if err := rules.RestrictThread(); err != nil {
		if errors.Is(err, unix.E2BIG) {
			return fmt.Errorf("landlock_restrict_self: %w: sixteen sandboxes are nested already", err)
		}
		return os.NewSyscallError("landlock_restrict_self", err)
	}
	f.lock.shield(unix.Gettid())
	if os.Geteuid() == 0 {
		if err := f.lock.dropCapabilities(); err != nil {
			return err
		}
	}
	if f.filtered = !spawn.CanConfine(); f.filtered {
		return f.lock.filterThread()
	}
	return nil
}

// dropCapabilities takes from the programs that this thread starts what root may
// do beyond files and processes.
func (l *lock) dropCapabilities() error {
	for c := 0; c <= lastCapability(); c++ {
		has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(c), 0, 0, 0)
		if l.keep&(1<<c) == 0 && (err != nil || has != 0) {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil {
				return os.NewSyscallError("drop a capability", err)
			}
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(header, &data[0]); err != nil {
		return os.NewSyscallError("capget", err)
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	return os.NewSyscallError("capset", unix.Capset(header, &data[0]))
}

// filterThread applies the filter to this thread: its children inherit it.
func (l *lock) filterThread() error {
	program := &unix.SockFprog{Len: uint16(len(l.filter)), Filter: &l.filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(program)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}

// errEnded refuses a spawn of a confinement that was closed.
var errEnded = errors.New("the sandbox has ended")

// Start implements spawn.Starter.
func (f *fence) Start(attr *spawn.Attr) (*spawn.Child, error) {
	inside := *attr
	inside.Env = f.environ(attr.Env)
	if terminal(attr.Files) {
		return nil, errTerminal
	}
	if f.filtered {
		inside.Tag = 0 // the thread's filter keeps it from being set there
	} else {
		inside.Confine = f.confine() // refused where children cannot do that
	}
	var child *spawn.Child
	err := errEnded
	started := make(chan struct{})
	select {
	case f.requests <- func() {
		defer close(started)
		child, err = spawn.Start(&inside)
	}:
		<-started
	case <-f.stopped:
	}
	if err == nil && inside.Tag != attr.Tag {
		spawn.SetTag(child.PID(), attr.Tag)
	}
	if errors.Is(err, errEnded) {
		return nil, sandbox.Unavailable(f.report.Mode, err.Error())
	}
	return child, f.explain(err)
}

// usable implements confinement.
func (f *fence) usable() bool { return same(f.roots) && !f.plan.absent.came() }

// idle implements confinement. A thread that waits costs little, and commands
// that were told of it may still begin.
func (f *fence) idle() bool { return false }

// close implements confinement. The commands are their runtime's to end.
func (f *fence) close() { f.stop.Do(func() { close(f.stopped) }) }
