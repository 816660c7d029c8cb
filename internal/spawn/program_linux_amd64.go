package spawn

import (
	"fmt"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"hardshell/internal/nofile"
)

// step is one system call of a child. Its layout is known to fast_amd64.s.
type step struct {
	nr    uintptr
	args  [6]uintptr
	save  *uintptr // receives the result
	flags uintptr
}

// The flags of a step, known to fast_amd64.s. stepIndirect, shifted by the number
// of an argument, says that the argument is the address of its value.
const (
	stepLax      = 1 << 0 // its failure does not matter
	stepFork     = 1 << 1 // a clone: the new process goes on, this one ends
	stepIndirect = 1 << 8
)

// Program is the table of system calls that a child runs before its program.
// The process that runs it shares this process's memory, and nothing in it
// allocates or calls: everything is prepared here.
type Program struct {
	steps  []step
	stages []Stage
	names  []string // what each step does, for messages; "" for the plain ones
	keep   []any    // what the numbers in the steps are addresses of
	err    error    // the first argument that cannot be one
}

// Result is what a step returned, as an argument of later ones.
type Result struct{ cell *uintptr }

// Call adds a system call of the stage StageConfine. What names it in errors:
// "mount /proc". An argument is an integer, a string (passed as its address,
// with a NUL byte added), a Result, or an Address.
func (p *Program) Call(what string, nr uintptr, args ...any) Result {
	return p.call(what, 0, nr, args)
}

// Try adds a system call whose failure does not matter. Its Result is then no
// descriptor.
func (p *Program) Try(what string, nr uintptr, args ...any) Result {
	return p.call(what, stepLax, nr, args)
}

// Address is the address of a value that a Program keeps.
type Address uintptr

// Hold has a Program keep a value and returns its address.
func Hold[T any](p *Program, value *T) Address {
	p.keep = append(p.keep, value)
	return Address(unsafe.Pointer(value))
}

func (p *Program) call(what string, flags, nr uintptr, args []any) Result {
	s := p.add(StageConfine, nr)
	p.names[len(p.names)-1] = what
	s.flags = flags
	for i, arg := range args {
		switch arg := arg.(type) {
		case int:
			s.args[i] = uintptr(arg)
		case uint32:
			s.args[i] = uintptr(arg)
		case uint64:
			s.args[i] = uintptr(arg)
		case uintptr:
			s.args[i] = arg
		case Address:
			s.args[i] = uintptr(arg)
		case string:
			s.args[i] = p.text(arg)
		case Result:
			s.args[i] = uintptr(unsafe.Pointer(arg.cell))
			s.flags |= stepIndirect << i
		default:
			panic(fmt.Sprintf("spawn: a step cannot take %T", arg))
		}
	}
	result := Result{cell: new(uintptr)}
	*result.cell = ^uintptr(0)
	p.keep = append(p.keep, result.cell)
	s.save = result.cell
	return result
}

// add adds a system call of any stage.
func (p *Program) add(stage Stage, nr uintptr, args ...uintptr) *step {
	s := step{nr: nr}
	copy(s.args[:], args)
	p.steps = append(p.steps, s)
	p.stages = append(p.stages, stage)
	p.names = append(p.names, "")
	return &p.steps[len(p.steps)-1]
}

// hold is Hold for this package's own steps.
func hold[T any](p *Program, value *T) uintptr { return uintptr(Hold(p, value)) }

// text is the address of a string, with a NUL byte added.
func (p *Program) text(s string) uintptr {
	bytes, err := syscall.BytePtrFromString(s)
	if err != nil && p.err == nil {
		p.err = err
	}
	return hold(p, bytes)
}

// texts is the address of a list of strings.
func (p *Program) texts(list []string) uintptr {
	pointers, err := syscall.SlicePtrFromStrings(list)
	if err != nil {
		if p.err == nil {
			p.err = err
		}
		return 0
	}
	p.keep = append(p.keep, pointers)
	return uintptr(unsafe.Pointer(&pointers[0]))
}

// compile makes the program of a child. NUL bytes in strings are EINVAL. Born
// receives the id of the process that goes on after a fork, 0 until there is
// one. Handlers says that the child begins with this process's signal handlers.
func compile(attr *Attr, handlers bool) (p *Program, born *int32, err error) {
	n := len(attr.Files)
	p = &Program{
		steps:  make([]step, 0, 2*n+32+lastSignal),
		stages: make([]Stage, 0, 2*n+32+lastSignal),
		names:  make([]string, 0, 2*n+32+lastSignal),
	}
	confine := attr.Confine
	if confine == nil {
		confine = &Confine{}
	}
	if confine.Enter != nil {
		confine.Enter(p)
	}
	if confine.Fork {
		born = new(int32)
		p.keep = append(p.keep, born)
		p.addTimer()
		if !confine.Late {
			p.addFork(born, confine.Pass)
		}
	}
	if confine.Settle != nil {
		confine.Settle(p)
	}
	late := confine.Fork && confine.Late
	if !late {
		p.add(StageFork, unix.SYS_SETSID)
	}
	p.addFiles(attr.Files)
	p.addSignals(handlers)
	if limit, ok := nofile.Original(); ok {
		p.add(StageFork, unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, hold(p, &limit), 0).flags = stepLax
	}
	if attr.Tag != 0 {
		p.add(StageFork, unix.SYS_PRLIMIT64, 0, unix.RLIMIT_LOCKS, hold(p, &unix.Rlimit{Cur: attr.Tag, Max: attr.Tag}), 0)
	}
	if attr.Dir != "" {
		p.add(StageChdir, unix.SYS_CHDIR, p.text(attr.Dir))
	}
	if confine.Lock != nil {
		confine.Lock(p)
	}
	if late {
		p.addFork(born, confine.Pass)
		p.add(StageFork, unix.SYS_SETSID)
	}
	p.add(StageFork, unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, hold(p, new(uint64)), 0, 8)
	argv, env := p.texts(attr.Argv), p.texts(attr.Env)
	if confine.Image != 0 {
		p.add(StageExec, unix.SYS_EXECVEAT, uintptr(confine.Image), p.text(""), argv, env, unix.AT_EMPTY_PATH)
	} else {
		p.add(StageExec, unix.SYS_EXECVE, p.text(attr.Path), argv, env)
	}
	return p, born, p.err
}

// addFork has another process go on.
func (p *Program) addFork(born *int32, pass uint64) {
	flags := uintptr(unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PARENT | unix.CLONE_PARENT_SETTID)
	p.add(StageFork, unix.SYS_CLONE, flags|uintptr(unix.SIGCHLD), 0, uintptr(unsafe.Pointer(born)), uintptr(pass)).flags = stepFork
}

// startBound is how long a process that was forked may take to start its program.
// It can be seen by those whose pid namespace it is born into, and be stopped;
// this process stands still for as long.
const startBound = 5 // seconds

// addTimer has the process that forks killed when the one that it forked has not
// started its program in time. The timer is the process's own, so that no thread
// of this process is needed, none of which may be able to run.
func (p *Program) addTimer() {
	event := &struct {
		value  uint64
		signal int32
		notify int32
		_      [48]byte
	}{signal: int32(unix.SIGKILL)} // SIGEV_SIGNAL is 0: sigevent(3type)
	id := new(uintptr) // the kernel writes the lower half
	p.add(StageFork, unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, hold(p, event), hold(p, id))
	when := &struct{ every, first unix.Timespec }{first: unix.Timespec{Sec: startBound}}
	p.add(StageFork, unix.SYS_TIMER_SETTIME, hold(p, id), 0, hold(p, when), 0).flags = stepIndirect
}

// addFiles puts the child's descriptors in their places and closes all others.
// They are first moved above all places, so that none is overwritten before it
// was copied.
func (p *Program) addFiles(files []int) {
	n := len(files)
	moved := make([]uintptr, n)
	p.keep = append(p.keep, moved)
	for i, fd := range files {
		p.add(StageFork, unix.SYS_FCNTL, uintptr(fd), unix.F_DUPFD_CLOEXEC, uintptr(n)).save = &moved[i]
	}
	for i := range files {
		p.add(StageFork, unix.SYS_DUP2, uintptr(unsafe.Pointer(&moved[i])), uintptr(i)).flags = stepIndirect
	}
	p.add(StageFork, unix.SYS_CLOSE_RANGE, uintptr(n), uintptr(^uint32(0)), 0)
}

// addSignals gives every signal its default action. With handlers says that the
// child still has this process's handlers, which would run in the wrong process
// once signals are not blocked any more. What this process ignores would stay
// ignored in the program.
func (p *Program) addSignals(handlers bool) {
	action := hold(p, new([4]uint64)) // struct sigaction, all zero: SIG_DFL
	for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
		if sig == unix.SIGKILL || sig == unix.SIGSTOP {
			continue
		}
		if handlers || inheritedIgnored[sig] || signal.Ignored(sig) {
			p.add(StageFork, unix.SYS_RT_SIGACTION, uintptr(sig), action, 0, 8)
		}
	}
}

// lastSignal is the largest signal number.
const lastSignal = 64

// inheritedIgnored are the signals that may be ignored in this process because
// they were in its parent: the Go runtime respects that for the first two and
// leaves the others alone (runtime, initsig). All others it has handlers for, or
// package os/signal knows that they are ignored.
var inheritedIgnored = [lastSignal + 1]bool{
	unix.SIGHUP: true, unix.SIGINT: true,
	unix.SIGCONT: true, unix.SIGTSTP: true, unix.SIGTTIN: true, unix.SIGTTOU: true,
	32: true, 33: true, 34: true, // the C library's
}
