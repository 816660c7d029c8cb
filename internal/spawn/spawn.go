package spawn

import (
	"fmt"
	"syscall"
	"time"
)

// Attr is one child to start.
type Attr struct {
	// Path is the absolute path of the program, Argv its arguments with the
	// name first, Env its whole environment.
	Path string
	Argv []string
	Env  []string
	// Dir is the working directory; "" keeps this process's.
	Dir string
	// Files become the child's descriptors 0, 1, 2, …; the caller keeps its own.
	Files []int
	// Tag marks the child and its descendants; 0 marks nothing.
	Tag uint64
	// Cgroup, when not 0, is a descriptor of a version 2 control group that the
	// child is born into, as long as the kernel allows that: else it is born
	// into this process's. Child.InCgroup tells.
	Cgroup int
	// Confine, when set, is what the child does to confine itself. It needs
	// the way of spawning that CanConfine tells of.
	Confine *Confine
}

// Confine is what a child does to confine itself, as additions to the program of
// system calls that every child runs. The functions are called before the child
// exists; each may be nil.
type Confine struct {
	// Namespaces are the CLONE_NEW* flags that the child is born with.
	Namespaces uint64
	// Enter comes first of all. Descriptors of this process are open.
	Enter func(*Program)
	// Fork has a second process run all that follows, so that it is born into
	// the pid namespace that Enter chose. It is this process's child.
	Fork bool
	// Late has the fork come as late as possible: after Lock. Else it comes
	// right after Enter.
	Late bool
	// Pass is the fourth argument of the fork, which the kernel does not read:
	// a filter of system calls that Lock puts on knows this fork by it.
	Pass uint64
	// Settle comes next. Descriptors of this process are still open.
	Settle func(*Program)
	// Lock comes last, right before the program is started.
	Lock func(*Program)
	// Image, when not 0, is the child's descriptor of the program to start, in
	// place of Attr.Path.
	Image int
}

// Starter is a way to start children: a confinement, for instance.
type Starter interface {
	// Start starts a child as the function Start does, except that errors
	// which carry a code of package fault are meant for the caller's caller.
	Start(*Attr) (*Child, error)
}

// Stage is a step of starting a child.
type Stage string

// The stages that a failure can name.
const (
	// StageFork is the creation of the process, with all its preparations.
	StageFork Stage = "fork"
	// StageConfine is a step of the confinement.
	StageConfine Stage = "confine"
	// StageChdir is the change to the working directory.
	StageChdir Stage = "chdir"
	// StageExec is the start of the program.
	StageExec Stage = "exec"
)

// Error is a child that was not started. Nothing of it is left.
type Error struct {
	Stage Stage
	// Path is the directory of StageChdir, what was done in StageConfine, else
	// the program.
	Path  string
	Errno syscall.Errno
}

func (e *Error) Error() string { return fmt.Sprintf("%s %s: %v", e.Stage, e.Path, e.Errno) }

// Unwrap returns the system call's error number.
func (e *Error) Unwrap() error { return e.Errno }

// Status is how a child ended.
type Status struct {
	// Code is the exit status, -1 after death by a signal.
	Code int
	// Signal is the signal's name, "" after an exit.
	Signal string
	// UserTime, SystemTime and MaxRSS (bytes) are those of the child and of
	// the descendants that it waited for.
	UserTime, SystemTime time.Duration
	MaxRSS               int64
}
