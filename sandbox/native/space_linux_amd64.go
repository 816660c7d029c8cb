package native

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"hardshell/internal/landlock"
	"hardshell/internal/spawn"
	"hardshell/sandbox"
)

// space is a set of namespaces, with the process that holds them as pid 1. When
// that ends, the kernel kills all that is in them.
type space struct {
	*confined
	planned *plan
	layout  *layout
	lock    *lock
	init    *spawn.Child
	stay    *os.File // init ends when this is closed
	pidfd   *os.File // of init: what commands join
	null    *os.File // /dev/null as it is inside: its metadata cannot be changed
	flags   int      // the namespaces to join
	rules   *landlock.Ruleset
	ended   chan struct{} // closed when init is gone
	roots   []fileID
	closed  sync.Once

	// fresh says that Confine has just found it usable: the command that it was
	// asked for need not look again.
	fresh    atomic.Int64 // until when, as time.Time.UnixNano
	covering sync.Mutex
	covered  []fileID // sockets of the host, guarded by covering

	// remake makes it anew when it has ended, with the same report.
	remake func() (*space, error)

	entering sync.RWMutex // guards closing; read-locked while a command begins
	closing  bool
}

// newSpace makes the namespaces of a tier for a plan.
func newSpace(tier sandbox.Tier, pl *plan) (*space, error) {
	if !spawn.CanConfine() {
		return nil, fmt.Errorf("namespaces need the fast way of spawning, which is not available here")
	}
	root := os.Geteuid() == 0
	if tier == sandbox.TierRoot && !root {
		return nil, fmt.Errorf("only root can make namespaces without a user namespace")
	}
	l, err := pl.layout()
	if err != nil {
		return nil, err
	}
	program, err := image()
	if err != nil {
		return nil, err
	}
	s := &space{
		flags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		ended: make(chan struct{}),
		roots: pl.watched(), covered: identify(pl.uncovered), planned: pl, layout: l,
	}
	if pl.policy.Network == sandbox.NetworkNone {
		s.flags |= unix.CLONE_NEWNET
	}
	enter := -1
	if tier == sandbox.TierNamespaces {
		holder, err := newHolder(program)
		if err != nil {
			return nil, err
		}
		defer holder.end()
		enter = holder.pidfd
	}
	s.lock = newLock(pl, true, enter >= 0)
	if err := s.start(program, pl, l, enter); err != nil {
		return nil, err
	}
	if enter >= 0 {
		s.flags |= unix.CLONE_NEWUSER
	}
	abi, err := s.addRules(pl, l)
	if err != nil {
		s.close()
		return nil, err
	}
	s.fresh.Store(time.Now().Add(freshness).UnixNano())
	s.lock.ruleset = s.rules
	s.confined = newConfined(tier, pl, true)
	s.report.Effects = sandbox.Effects{
		Write: sandbox.Full, Metadata: sandbox.Full, ProtectedPaths: sandbox.Full, Read: sandbox.Full,
		Visibility: sandbox.Full, Signal: sandbox.Full, Unix: sandbox.Full, Network: s.report.Network,
	}
	if pl.unseen || pl.exposed {
		s.report.Effects.ProtectedPaths = sandbox.Partial
	}
	if pl.blind || abi < abstractUnixABI && s.scopesSockets(pl) {
		s.report.Effects.Unix = sandbox.Partial
	}
	return s, nil
}

// scopesSockets reports whether abstract Unix sockets of the host have to be kept
// away: those of another network namespace are anyway.
func (s *space) scopesSockets(pl *plan) bool {
	return s.flags&unix.CLONE_NEWNET == 0 && !pl.policy.Sockets.Host
}

// addRules makes the second line of defence: a Landlock ruleset that allows what
// the mounts do. It returns the version of Landlock, 0 without it. The rules are
// made on the files as the sandbox sees them.
func (s *space) addRules(pl *plan, l *layout) (abi int, err error) {
	abi, err = landlock.ABI()
	if err != nil {
		return 0, nil
	}
	rights := landlock.WriteRights(abi)
	rules, err := landlock.New(landlock.Handled{
		Files: rights, AbstractUnix: abi >= abstractUnixABI && s.scopesSockets(pl),
	})
	if err != nil {
		return 0, fmt.Errorf("make a Landlock ruleset: %w", err)
	}
	s.rules = rules
	root, err := unix.Open("/proc/"+strconv.Itoa(s.init.PID())+"/root", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, os.NewSyscallError("open the root of the sandbox", err)
	}
	defer unix.Close(root)
	paths := []string{"/dev", "/proc"}
	if l.rootWritable {
		paths = []string{"/"}
	}
	for _, p := range l.placements {
		if p.kind == tree || p.kind == temp || p.kind == scratch {
			paths = append(paths, p.path)
		}
	}
	for _, path := range paths {
		if err := rules.AllowIn(root, path, rights); err != nil {
			return 0, fmt.Errorf("make a Landlock rule for %s: %w", path, err)
		}
	}
	return abi, nil
}

// start starts pid 1, in namespaces of its own, inside of the user namespace of
// the process behind enter unless that is negative.
func (s *space) start(program *os.File, pl *plan, l *layout, enter int) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	limit := 0
	if enter >= 0 && os.Geteuid() == 0 && mapsNobody() {
		limit = pl.pids()
	}
	s.init, err = spawn.Start(&spawn.Attr{
		Argv: []string{"hardshell-sandbox", "untraceable"}, Dir: "/",
		Files: []int{int(r.Fd()), int(program.Fd())},
		Confine: &spawn.Confine{
			Enter: func(p *spawn.Program) {
				if enter >= 0 {
					p.Call("enter the user namespace", unix.SYS_SETNS, enter, unix.CLONE_NEWUSER)
				}
				p.Call("make namespaces", unix.SYS_UNSHARE, s.flags&^unix.CLONE_NEWUSER)
				newMounter(p).mountAll(l, pl.temp)
			},
			Fork: true,
			Settle: func(p *spawn.Program) {
				s.lock.settle(p)
				m := newMounter(p)
				m.mountProc(limit)
				if s.flags&unix.CLONE_NEWNET != 0 {
					raiseLoopback(p)
				}
			},
			Lock: func(p *spawn.Program) {
				// The kernel reaps what it inherits: wait(2), SIGCHLD ignored.
				ignore := spawn.Hold(p, &[4]uint64{1})
				p.Call("ignore SIGCHLD", unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), ignore, 0, 8)
				s.lock.add(p)
			},
			Image: 1,
		},
	})
	runtime.KeepAlive(program)
	if err != nil {
		w.Close()
		return err
	}
	s.stay = w
	// Taken before anybody may reap it: the number is its own as long.
	pidfd, pidfdErr := unix.PidfdOpen(s.init.PID(), 0)
	go func() {
		s.init.WaitExit()
		s.init.Reap()
		close(s.ended)
	}()
	if pidfdErr != nil {
		s.close()
		return os.NewSyscallError("pidfd_open", pidfdErr)
	}
	s.pidfd = os.NewFile(uintptr(pidfd), "pidfd")
	s.null, err = os.OpenFile("/proc/"+strconv.Itoa(s.init.PID())+"/root/dev/null", os.O_RDWR, 0)
	if err != nil {
		s.close()
	}
	return err
}

// raiseLoopback gives a new network namespace its loopback.
func raiseLoopback(p *spawn.Program) {
	socket := p.Call("open a socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	request := &struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: unix.IFF_UP | unix.IFF_RUNNING}
	copy(request.name[:], "lo")
	p.Call("raise the loopback", unix.SYS_IOCTL, socket, unix.SIOCSIFFLAGS, spawn.Hold(p, request))
}

// Start implements spawn.Starter: the child joins the namespaces.
func (s *space) Start(attr *spawn.Attr) (*spawn.Child, error) {
	if terminal(attr.Files) {
		return nil, errTerminal
	}
	usable := time.Now().UnixNano() < s.fresh.Swap(0) || s.current()
	s.entering.RLock()
	if !usable || s.isClosed() {
		s.entering.RUnlock()
		// What it was made for was replaced since.
		again, err := s.remake()
		if err != nil {
			return nil, err
		}
		return again.startIn(attr)
	}
	s.entering.RUnlock()
	return s.startIn(attr)
}

// startIn starts a child in the space as it is.
func (s *space) startIn(attr *spawn.Attr) (*spawn.Child, error) {
	// Held while a command begins, so that an idle space stays one.
	s.entering.RLock()
	defer s.entering.RUnlock()
	if s.isClosed() {
		return nil, sandbox.Unavailable(s.report.Mode, "the sandbox ended while the command was being started: run it again")
	}
	inside, err := s.inside(attr)
	if err != nil {
		return nil, err
	}
	child, err := spawn.Start(inside)
	return child, s.explain(err)
}

// inside is a child as it joins the namespaces.
func (s *space) inside(attr *spawn.Attr) (*spawn.Attr, error) {
	inside := *attr
	inside.Env = s.environ(attr.Env)
	if !filepath.IsAbs(attr.Dir) {
		// To join a mount namespace is to go to its root directory.
		own, err := os.Getwd()
		if err != nil {
			return nil, &spawn.Error{Stage: spawn.StageChdir, Path: attr.Dir, Errno: unix.ENOENT}
		}
		inside.Dir = own + "/" + attr.Dir
	}
	// A descriptor of the host's null device could change the device itself.
	inside.Files = slices.Clone(attr.Files)
	for i, fd := range inside.Files {
		if isNull(fd) {
			inside.Files[i] = int(s.null.Fd())
		}
	}
	join := int(s.pidfd.Fd())
	inside.Confine = &spawn.Confine{
		Enter: func(p *spawn.Program) {
			p.Call("join the namespaces", unix.SYS_SETNS, join, s.flags)
		},
		Settle: s.lock.settle,
		Lock:   s.lock.add,
		// Those inside see the process from the fork on, and could stop it:
		// almost nothing is left to be done then.
		Fork: true, Late: true, Pass: s.lock.options.Pass,
	}
	return &inside, nil
}

// isNull reports whether a descriptor is the null device.
func isNull(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == unix.Mkdev(1, 3)
}

// isClosed is asked with entering locked.
func (s *space) isClosed() bool {
	select {
	case <-s.ended:
		return true
	default:
		return s.closing
	}
}

// usable implements confinement.
func (s *space) usable() bool {
	usable := s.current()
	if usable {
		s.fresh.Store(time.Now().Add(freshness).UnixNano())
	}
	return usable
}

// freshness is how long a look counts for the command that it was made for.
const freshness = 20 * time.Millisecond

// current reports whether pid 1 lives, what the space was made for is what it
// was, and no socket of the host has come that it does not cover.
func (s *space) current() bool {
	s.entering.RLock()
	closed := s.isClosed()
	s.entering.RUnlock()
	if closed || !same(s.roots) || s.plan.absent.came() {
		return false
	}
	if s.plan.policy.Sockets.Host {
		return true
	}
	return s.coverSockets()
}

// covers reports whether a path of the host cannot be seen.
func (s *space) covers(path string) bool {
	if outer := enclosing(s.layout.placements, path); outer != nil && outer.synthetic() && outer.path != path {
		return true
	}
	info, err := os.Lstat(path)
	return err == nil && slices.ContainsFunc(s.covered, func(f fileID) bool {
		// A number of a file is given again; its time is not.
		return f.path == path && os.SameFile(info, f.info) && info.ModTime().Equal(f.info.ModTime())
	})
}

// coverSockets covers the sockets of the host that have come since the space was
// made, in the space as it is: its processes and its network go on. It reports
// whether none is left.
func (s *space) coverSockets() bool {
	s.covering.Lock()
	defer s.covering.Unlock()
	foreign, known := s.plan.foreignSockets(s.covers)
	if known == s.plan.blind {
		return false
	}
	if len(foreign) == 0 {
		return true
	}
	program, err := image()
	if err != nil {
		return false
	}
	covered := identify(foreign)
	join := s.flags & (unix.CLONE_NEWUSER | unix.CLONE_NEWNS)
	pidfd, null := int(s.pidfd.Fd()), int(s.null.Fd())
	child, err := spawn.Start(&spawn.Attr{
		Argv: []string{"hardshell-cover"}, Dir: "/", Files: []int{null, int(program.Fd())},
		Confine: &spawn.Confine{
			Enter: func(p *spawn.Program) {
				p.Call("join the mount namespace", unix.SYS_SETNS, pidfd, join)
				m := newMounter(p)
				for _, path := range foreign {
					m.attach(m.clone("/dev/null"), path) // nobody listens there
				}
			},
			Image: 1,
		},
	})
	if err != nil {
		return false // a socket that went meanwhile, say: the space is made anew
	}
	child.WaitExit() // its input is at its end
	child.Reap()
	s.covered = append(s.covered, covered...)
	return true
}

// idle implements confinement: the pid namespace holds pid 1 alone. A command
// that was about to begin there is refused from then on.
func (s *space) idle() bool {
	s.entering.Lock()
	defer s.entering.Unlock()
	if s.isClosed() {
		return true
	}
	// Its own /proc lists its processes.
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(s.init.PID()) + "/root/proc")
	if err != nil {
		return false
	}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != 1 {
			return false
		}
	}
	s.closing = true
	return true
}

// close implements confinement.
func (s *space) close() {
	s.closed.Do(func() {
		idle := s.pidfd != nil && s.idle()
		s.entering.Lock()
		s.closing = true
		s.entering.Unlock()
		s.stay.Close()
		if !idle { // else nothing is left but pid 1, which ends by itself
			s.awaitEnd()
		}
		for _, f := range []*os.File{s.pidfd, s.null} {
			if f != nil {
				f.Close()
			}
		}
		if s.rules != nil {
			s.rules.Close()
		}
		s.planned.unplace()
	})
}

// closeBound is how long pid 1 may take to end. It cannot before all that is
// inside has, and what is inside may be in an uninterruptible sleep.
const closeBound = 5 * time.Second

// awaitEnd waits for the end of pid 1, which has been told.
func (s *space) awaitEnd() {
	for range 2 {
		select {
		case <-s.ended:
			return
		case <-time.After(closeBound):
			_ = unix.Kill(s.init.PID(), unix.SIGKILL)
		}
	}
}

// holder is a process that keeps a user namespace in being while pid 1 is made in
// it. The id maps of a namespace that maps more than its maker can only be
// written from outside.
type holder struct {
	child *spawn.Child
	stay  *os.File
	pidfd int
}

func newHolder(program *os.File) (*holder, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	child, err := spawn.Start(&spawn.Attr{
		Argv: []string{"hardshell-sandbox"}, Dir: "/",
		Files:   []int{int(r.Fd()), int(program.Fd())},
		Confine: &spawn.Confine{Namespaces: unix.CLONE_NEWUSER, Image: 1},
	})
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("make a user namespace: %w", err)
	}
	h := &holder{child: child, stay: w, pidfd: -1}
	if err := h.writeMaps(); err != nil {
		h.end()
		return nil, err
	}
	if h.pidfd, err = unix.PidfdOpen(child.PID(), 0); err != nil {
		h.end()
		return nil, os.NewSyscallError("pidfd_open", err)
	}
	return h, nil
}

func (h *holder) end() {
	h.stay.Close()
	h.child.WaitExit()
	h.child.Reap()
	if h.pidfd >= 0 {
		unix.Close(h.pidfd)
	}
}

// writeMaps maps every id to itself: for root those that root has, for another
// user its own alone; see user_namespaces(7).
func (h *holder) writeMaps() error {
	proc := "/proc/" + strconv.Itoa(h.child.PID())
	uids, gids := oneID(os.Geteuid()), oneID(os.Getegid())
	if os.Geteuid() == 0 {
		var err error
		if uids, err = identity("/proc/self/uid_map"); err != nil {
			return err
		}
		if gids, err = identity("/proc/self/gid_map"); err != nil {
			return err
		}
	} else if err := os.WriteFile(proc+"/setgroups", []byte("deny"), 0); err != nil {
		return err
	}
	if err := os.WriteFile(proc+"/uid_map", uids, 0); err != nil {
		return err
	}
	return os.WriteFile(proc+"/gid_map", gids, 0)
}

// mapsNobody reports whether root's user namespace has the id of nobody.
func mapsNobody() bool {
	data, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	for line := range bytes.Lines(data) {
		var inside, outside, count uint64
		if _, err := fmt.Sscan(string(line), &inside, &outside, &count); err == nil && inside <= 65534 && 65534 < inside+count {
			return true
		}
	}
	return false
}

func oneID(id int) []byte { return fmt.Appendf(nil, "%d %d 1\n", id, id) }

// identity turns a map of this process's own namespace into one of the same ids.
func identity(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var lines []byte
	for line := range bytes.Lines(data) {
		var inside, outside, count uint64
		if _, err := fmt.Sscan(string(line), &inside, &outside, &count); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		lines = fmt.Appendf(lines, "%d %d %d\n", inside, inside, count)
	}
	return lines, nil
}
