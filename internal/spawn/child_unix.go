//go:build unix

package spawn

import (
	"syscall"
	"time"

	"hardshell/internal/signame"
)

// Child is a started process until it is reaped. Its methods may be called from
// several goroutines, Reap once.
type Child struct {
	pid     int
	grouped bool
	exit    waiter
}

// PID is the process id, which is also that of its group and its session.
func (c *Child) PID() int { return c.pid }

// InCgroup reports whether the child was born into Attr.Cgroup.
func (c *Child) InCgroup() bool { return c.grouped }

// WaitExit returns when the child has ended. It does not reap it: until Reap
// the process id cannot come to mean another process.
func (c *Child) WaitExit() { c.exit.wait() }

// Reap collects the status of a child for which WaitExit has returned, and
// frees what the wait needed.
func (c *Child) Reap() Status {
	defer c.exit.close()
	if c.pid <= 0 {
		panic("spawn: a child without a process id") // wait4 would take any child
	}
	var ws syscall.WaitStatus
	var usage syscall.Rusage
	for {
		_, err := syscall.Wait4(c.pid, &ws, 0, &usage)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			// Somebody else in this process reaped it (a wait for any child,
			// say): how it ended is lost, and 255 is no success.
			return Status{Code: 255}
		}
		if !ws.Exited() && !ws.Signaled() {
			continue // a stop of a child that has itself traced: ptrace(2)
		}
		break
	}
	status := Status{
		Code:       -1,
		UserTime:   time.Duration(usage.Utime.Nano()),
		SystemTime: time.Duration(usage.Stime.Nano()),
		MaxRSS:     maxRSSBytes(&usage),
	}
	if ws.Signaled() {
		status.Signal = signame.Name(ws.Signal())
	} else {
		status.Code = ws.ExitStatus()
	}
	return status
}
