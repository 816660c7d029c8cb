//go:build unix

package hostwire

import (
	"sync"
	"time"

	"hardshell/internal/fault"
)

// StoppedLook is the time between two looks at a peer that does not answer: it
// is taken for stopped when two of them see it so.
const StoppedLook = 500 * time.Millisecond

// Stopped returns the process id of the peer while a signal or a debugger holds
// it, and 0 when it runs, is dead, or the platform does not tell.
func (c *Conn) Stopped() (pid int) {
	raw, err := c.file.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { pid = peerPID(int(fd)) })
	if pid <= 0 || !stopped(pid) {
		return 0
	}
	return pid
}

// ErrStopped is the error for a host that is stopped.
func ErrStopped(session string, pid int) error {
	return fault.New(fault.SpawnFailed, "the host of session %s (process %d) is stopped and answers nothing: continue it with kill -CONT %d, or end the session with hardshell sessions end %s", session, pid, pid, session)
}

// ReceiveUnlessStopped is Receive until a deadline; it gives up early when the
// peer is stopped, and returns its process id then.
func (c *Conn) ReceiveUnlessStopped(deadline time.Time) (m *Message, files []int, stopped int, err error) {
	if err := c.SetReceiveDeadline(deadline); err != nil {
		return nil, nil, 0, err
	}
	var (
		mu    sync.Mutex
		over  bool
		looks int
		timer *time.Timer
	)
	look := func() {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		pid := c.Stopped()
		if looks++; pid == 0 {
			looks = 0
		}
		if looks == 2 {
			stopped = pid
			c.SetReceiveDeadline(time.Unix(1, 0))
			return
		}
		timer.Reset(StoppedLook)
	}
	mu.Lock()
	timer = time.AfterFunc(StoppedLook, look)
	mu.Unlock()
	m, files, err = c.Receive()
	mu.Lock()
	over = true
	mu.Unlock()
	timer.Stop()
	if err == nil {
		stopped = 0
		err = c.SetReceiveDeadline(time.Time{})
	}
	return m, files, stopped, err
}
