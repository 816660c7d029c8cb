//go:build unix

package compose

import (
	"context"
	"os"
	"syscall"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/state"
)

// LeaveSession attaches to the host of a session as somebody who keeps nothing,
// and leaves: as the last one that ends everything that was recorded in the
// session. It returns the host's process id at once, 0 when there is no host;
// WaitForHost waits for its end.
func LeaveSession(ctx context.Context, home state.Home, session string) (pid int, err error) {
	files := hostwire.FilesOf(home.Run(), session)
	if !HostLives(home, session) {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, leaving)
	defer cancel()
	conn, err := hostwire.Dial(ctx, files.Socket)
	if err != nil {
		return 0, nil // it is just ending, or did not answer before the socket was there
	}
	defer conn.Close()
	if uid, err := conn.PeerUID(); err != nil || uid != os.Geteuid() {
		return 0, fault.New(fault.SpawnFailed, "the socket %s is served by another user: remove it", files.Socket)
	}
	key, err := state.ReadFile(files.Key, 4096)
	if err != nil {
		return 0, nil // as above
	}
	conn.Trust()
	err = conn.Send(&hostwire.Message{Attach: &hostwire.Attach{
		Magic: hostwire.Magic, Version: hostwire.Version, Session: session, Key: key, PID: os.Getpid(),
	}})
	if err != nil {
		return 0, nil
	}
	deadline, _ := ctx.Deadline()
	m, _, stopped, err := conn.ReceiveUnlessStopped(deadline)
	switch {
	case stopped != 0:
		return stopped, hostwire.ErrStopped(session, stopped)
	case err != nil && ctx.Err() == nil:
		return 0, nil
	case err != nil:
		return 0, fault.New(fault.SpawnFailed, "the host of session %s does not answer: find it by the lock %s, and kill it", session, files.Lock)
	case m.Failure != nil:
		return 0, m.Failure.Err()
	case m.Attached == nil:
		return 0, fault.New(fault.Invariant, "the session host gave no proper answer")
	}
	return m.Attached.PID, nil
}

// leaving bounds the talk with a host.
const leaving = 10 * time.Second

// WakeHost continues the host of a session that somebody has stopped, and
// reports whether it did.
func WakeHost(ctx context.Context, home state.Home, session string) bool {
	if !HostLives(home, session) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, leaving)
	defer cancel()
	conn, err := hostwire.Dial(ctx, hostwire.FilesOf(home.Run(), session).Socket)
	if err != nil {
		return false
	}
	defer conn.Close()
	if uid, err := conn.PeerUID(); err != nil || uid != os.Geteuid() {
		return false
	}
	pid := conn.Stopped()
	return pid != 0 && syscall.Kill(pid, syscall.SIGCONT) == nil
}
