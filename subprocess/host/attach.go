//go:build unix

package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/state"
	"hardshell/subprocess"
)

// attaching bounds everything from the first look at the run directory to the
// host's first word.
const attaching = 20 * time.Second

// opening is an attach under way, for everyone who needs it.
type opening struct {
	done chan struct{}
	link *link
	err  error
}

// attached returns the live link, which it makes when there is none. When ctx
// ends first, the attach goes on for others.
func (r *Runtime) attached(ctx context.Context) (*link, error) {
	r.mu.Lock()
	if r.link != nil && r.link.alive() {
		defer r.mu.Unlock()
		return r.link, nil
	}
	o := r.opening
	if o == nil {
		o = &opening{done: make(chan struct{})}
		r.opening = o
		r.entered.Add(1) // the caller has entered: Close waits
		go r.open(o)
	}
	r.mu.Unlock()
	select {
	case <-o.done:
		return o.link, o.err
	case <-ctx.Done():
		return nil, subprocess.AbortedBeforeSpawn(ctx)
	}
}

// attachEntered is attached for who has not entered.
func (r *Runtime) attachEntered(ctx context.Context) (*link, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.entered.Done()
	return r.attached(ctx)
}

// open attaches, for everyone who waits for o.
func (r *Runtime) open(o *opening) {
	defer r.entered.Done()
	ctx, cancel := context.WithTimeout(context.Background(), attaching)
	defer cancel()
	l, err := r.attach(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	o.link, o.err = l, err
	if err == nil {
		r.link = l
	}
	r.opening = nil
	close(o.done)
}

// attach attaches to the session's host, and starts one when there is none.
func (r *Runtime) attach(ctx context.Context) (*link, error) {
	home := r.config.Home
	if err := state.ValidateSessionID(r.config.SessionID); err != nil {
		return nil, err
	}
	if err := home.Ensure(home.Run()); err != nil {
		return nil, err
	}
	if err := home.Check(); err != nil {
		return nil, err
	}
	files := hostwire.FilesOf(home.Run(), r.config.SessionID)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		l, err := r.attachOnce(ctx, files)
		if err != errLeaving && err != errOther {
			return l, err
		}
		retry := time.NewTimer(pause)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return nil, fault.New(fault.SpawnFailed, "the host of session %s does not answer: end the session", r.config.SessionID)
		}
	}
}

// After these another look is worth it.
var (
	errLeaving = errors.New("the host was just ending")
	errOther   = errors.New("another host was quicker")
)

// errStillborn is a started host that said nothing.
var errStillborn = fault.New(fault.SpawnFailed, "the session host ended before it answered: see whether this program's own file can be run")

// attachOnce tries the host that listens, else starts one. Among those who find
// none, one starts it.
func (r *Runtime) attachOnce(ctx context.Context, files hostwire.Files) (*link, error) {
	conn, err := hostwire.Dial(ctx, files.Socket)
	if nobody(err) {
		lock, lockErr := state.Lock(ctx, files.Start)
		if lockErr != nil {
			return nil, lockErr
		}
		defer lock.Release()
		if conn, err = hostwire.Dial(ctx, files.Socket); nobody(err) {
			if conn, err = r.start(); err != nil {
				return nil, err
			}
			l, err := r.greet(ctx, conn, files, nil)
			if err == errLeaving {
				err = errStillborn
			}
			return l, err
		}
	}
	if err != nil {
		return nil, fault.New(fault.SpawnFailed, "cannot attach to the session host at %s: %w", files.Socket, err)
	}
	if uid, err := conn.PeerUID(); err != nil || uid != os.Geteuid() {
		conn.Close()
		return nil, fault.New(fault.SpawnFailed, "the socket %s is served by another user: remove it", files.Socket)
	}
	key, err := state.ReadFile(files.Key, 4096)
	if err != nil {
		conn.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errLeaving
		}
		return nil, fault.New(fault.SpawnFailed, "the key of the session host cannot be read: %w", err)
	}
	return r.greet(ctx, conn, files, key)
}

// nobody reports whether a dial met no listener: there is no socket, or its
// host is dead.
func nobody(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
}

// greet says who this is, and makes a link of the answer.
func (r *Runtime) greet(ctx context.Context, conn *hostwire.Conn, files hostwire.Files, key []byte) (*link, error) {
	r.mu.Lock()
	orphanAfter := r.orphanAfter
	r.mu.Unlock()
	conn.Trust()
	err := conn.Send(&hostwire.Message{Attach: &hostwire.Attach{
		Magic: hostwire.Magic, Version: hostwire.Version, Session: r.config.SessionID,
		Key: key, Keep: r.config.Keep, OrphanAfter: orphanAfter, PID: os.Getpid(),
	}})
	var (
		m       *hostwire.Message
		stopped int
	)
	if err == nil {
		deadline, _ := ctx.Deadline()
		m, _, stopped, err = conn.ReceiveUnlessStopped(deadline)
	}
	switch {
	case stopped != 0:
		conn.Close()
		return nil, hostwire.ErrStopped(r.config.SessionID, stopped)
	case err != nil:
		conn.Close()
		return nil, errLeaving
	case m.Failure != nil:
		conn.Close()
		if m.Failure.Code == fault.LockTimeout {
			return nil, errOther
		}
		return nil, m.Failure.Err()
	case m.Attached == nil:
		conn.Close()
		return nil, errAnswer
	}
	return newLink(conn, m.Attached), nil
}

// lives reports whether a host holds its lock.
func lives(files hostwire.Files) bool { return state.Held(files.Lock) }
