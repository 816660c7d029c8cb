package state

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/flock"

	"hardshell/internal/fault"
)

// HeldLock is a lock that this process holds.
type HeldLock struct {
	flock *flock.Flock
}

// Lock waits until this process alone holds the lock at path, a file that is
// created when missing, in a directory that exists. Callers exclude each other
// within a process too. The kernel releases the lock when the process ends in
// any way; the file stays, because a lock on a file that has been removed
// excludes nobody.
//
// LOCK_TIMEOUT, wrapping the context's cause, when ctx ends first.
func Lock(ctx context.Context, path string) (*HeldLock, error) {
	// The kernel's blocking call cannot be cancelled, so the lock is tried,
	// ever less often. A lock that is free is taken at once.
	const longest = 50 * time.Millisecond
	for pause := time.Millisecond; ; pause = min(2*pause, longest) {
		lock, ok, err := TryLock(path)
		if ok || err != nil {
			return lock, err
		}
		retry := time.NewTimer(pause)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return nil, fault.New(fault.LockTimeout,
				"another process holds the lock %s: let it finish or end it, then try again (%w)", path, context.Cause(ctx))
		}
	}
}

// TryLock takes the lock at path if nobody holds it. It does not wait: ok is
// false, and lock nil, when somebody does.
func TryLock(path string) (lock *HeldLock, ok bool, err error) {
	f := flock.New(path, flock.SetFlag(lockFlags), flock.SetPermissions(privateFile))
	ok, err = f.TryLock()
	if err != nil {
		return nil, false, fmt.Errorf("lock %s: %w", path, err)
	}
	if !ok {
		return nil, false, nil
	}
	return &HeldLock{flock: f}, true, nil
}

// Release gives the lock back. A second call does nothing.
func (l *HeldLock) Release() error { return l.flock.Unlock() }

// Held reports whether somebody holds the lock at path. It takes nothing from
// others who ask, and creates nothing.
func Held(path string) bool {
	f := flock.New(path, flock.SetFlag(probeFlags))
	ok, err := f.TryRLock()
	if ok {
		f.Unlock()
	}
	return err == nil && !ok
}
