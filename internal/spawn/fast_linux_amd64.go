package spawn

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"hardshell/internal/nofile"
)

// step is one system call of a child. Its layout is known to fast_amd64.s.
type step struct {
	nr   uintptr
	args [6]uintptr
	save *uintptr // receives the result: an argument of a later step
	lax  uintptr  // not 0: its failure does not matter
}

// failure is written by a child before it ends: which step failed and why. An
// errno of 0 is none. Its layout is known to fast_amd64.s.
type failure struct {
	step  uintptr
	errno uintptr
}

// cloneArgs is struct clone_args of clone3(2), in its first size.
type cloneArgs struct {
	flags, pidfd uint64
	_, _         uint64 // child_tid, parent_tid
	exitSignal   uint64
	_, _, _      uint64 // stack, stack_size, tls
}

//go:noescape
func runChild(args *cloneArgs, size uintptr, steps *step, failed *failure) (pid uintptr)

// program is the table of system calls that a child runs, with the stages that
// they belong to. The steps hold addresses as numbers; keep holds what is at
// them.
type program struct {
	steps  []step
	stages []Stage
	keep   []any
}

func (p *program) add(stage Stage, nr uintptr, args ...uintptr) *step {
	s := step{nr: nr}
	copy(s.args[:], args)
	p.steps = append(p.steps, s)
	p.stages = append(p.stages, stage)
	return &p.steps[len(p.steps)-1]
}

// hold returns the address of a value as an argument of a step.
func hold[T any](p *program, value *T) uintptr {
	p.keep = append(p.keep, value)
	return uintptr(unsafe.Pointer(value))
}

// compile makes the program of a child. NUL bytes in strings are EINVAL.
func compile(attr *Attr) (*program, error) {
	n := len(attr.Files)
	p := &program{
		steps:  make([]step, 0, 2*n+16+lastSignal),
		stages: make([]Stage, 0, 2*n+16+lastSignal),
	}
	path, err := syscall.BytePtrFromString(attr.Path)
	if err != nil {
		return nil, err
	}
	argv, err := syscall.SlicePtrFromStrings(attr.Argv)
	if err != nil {
		return nil, err
	}
	env, err := syscall.SlicePtrFromStrings(attr.Env)
	if err != nil {
		return nil, err
	}
	p.keep = append(p.keep, argv, env)

	p.add(StageFork, unix.SYS_SETSID)
	p.addFiles(attr.Files)
	p.addSignals()
	if limit, ok := nofile.Original(); ok {
		p.add(StageFork, unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, hold(p, &limit), 0).lax = 1
	}
	if attr.Tag != 0 {
		p.add(StageFork, unix.SYS_PRLIMIT64, 0, unix.RLIMIT_LOCKS, hold(p, &unix.Rlimit{Cur: attr.Tag, Max: attr.Tag}), 0)
	}
	if attr.Dir != "" {
		dir, err := syscall.BytePtrFromString(attr.Dir)
		if err != nil {
			return nil, err
		}
		p.add(StageChdir, unix.SYS_CHDIR, hold(p, dir))
	}
	p.add(StageFork, unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, hold(p, new(uint64)), 0, 8)
	p.add(StageExec, unix.SYS_EXECVE, hold(p, path), hold(p, &argv[0]), hold(p, &env[0]))
	return p, nil
}

// addFiles puts the child's descriptors in their places and closes all others.
// They are first moved above all places, so that none is overwritten before it
// was copied.
func (p *program) addFiles(files []int) {
	n := len(files)
	first := len(p.steps)
	for _, fd := range files {
		p.add(StageFork, unix.SYS_FCNTL, uintptr(fd), unix.F_DUPFD_CLOEXEC, uintptr(n))
	}
	for i := range files {
		p.add(StageFork, unix.SYS_DUP2, 0, uintptr(i))
	}
	for i := range files { // the table was made large enough not to move
		p.steps[first+i].save = &p.steps[first+n+i].args[0]
	}
	p.add(StageFork, unix.SYS_CLOSE_RANGE, uintptr(n), uintptr(^uint32(0)), 0)
}

// lastSignal is the largest signal number.
const lastSignal = 64

// addSignals gives every signal its default action. clone3 has already done so
// for those with a handler; what this process ignores stays ignored otherwise.
func (p *program) addSignals() {
	action := hold(p, new([4]uint64)) // struct sigaction, all zero: SIG_DFL
	for sig := uintptr(1); sig <= lastSignal; sig++ {
		if sig != uintptr(unix.SIGKILL) && sig != uintptr(unix.SIGSTOP) {
			p.add(StageFork, unix.SYS_RT_SIGACTION, sig, action, 0, 8)
		}
	}
}

// startFast starts a child through clone3: errFastRefused when this host refuses
// the way as such, else an *Error.
func startFast(attr *Attr) (*Child, error) {
	p, err := compile(attr)
	if err != nil {
		return nil, &Error{Stage: StageExec, Path: attr.Path, Errno: asErrno(err)}
	}
	pidfd := int32(-1)
	args := &cloneArgs{
		flags:      unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PIDFD | unix.CLONE_CLEAR_SIGHAND,
		exitSignal: uint64(unix.SIGCHLD),
		pidfd:      uint64(hold(p, &pidfd)),
	}
	failed := &failure{}
	pid := int(runChild(args, unsafe.Sizeof(*args), &p.steps[0], failed))
	runtime.KeepAlive(p)
	if pid < 0 {
		errno := syscall.Errno(-pid)
		if refused(errno) {
			return nil, errFastRefused
		}
		return nil, &Error{Stage: StageFork, Path: attr.Path, Errno: errno}
	}
	if failed.errno == 0 {
		return newChild(pid, int(pidfd)), nil
	}
	newChild(pid, int(pidfd)).Reap()
	if p.stages[failed.step] == StageFork && refused(syscall.Errno(failed.errno)) {
		return nil, errFastRefused
	}
	e := &Error{Stage: p.stages[failed.step], Path: attr.Path, Errno: syscall.Errno(failed.errno)}
	if e.Stage == StageChdir {
		e.Path = attr.Dir
	}
	return nil, e
}
