//go:build unix && !linux

package spawn

import "syscall"

func sysProcAttr(*int) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func intoCgroup(*syscall.SysProcAttr, int) bool { return false }

// waiter waits for the end of a process with a thread.
type waiter struct{ pid int }

func newChild(pid, _ int) *Child { return &Child{pid: pid, exit: waiter{pid: pid}} }

func (w *waiter) wait() { waitid(w.pid) }

func (w *waiter) close() {}

func maxRSSBytes(usage *syscall.Rusage) int64 { return usage.Maxrss }
