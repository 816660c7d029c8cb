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
	// StageChdir is the change to the working directory.
	StageChdir Stage = "chdir"
	// StageExec is the start of the program.
	StageExec Stage = "exec"
)

// Error is a child that was not started. Nothing of it is left.
type Error struct {
	Stage Stage
	// Path is the directory of StageChdir, else the program.
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
