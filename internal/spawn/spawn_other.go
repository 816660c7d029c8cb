//go:build !unix

package spawn

import "syscall"

// Child does not exist here: Start refuses.
type Child struct{}

// Start refuses: this platform has no process groups and signals.
func Start(attr *Attr) (*Child, error) {
	return nil, &Error{Stage: StageFork, Path: attr.Path, Errno: syscall.ENOSYS}
}

// PID is never called.
func (c *Child) PID() int { return -1 }

// WaitExit is never called.
func (c *Child) WaitExit() {}

// Reap is never called.
func (c *Child) Reap() Status { return Status{Code: -1} }
