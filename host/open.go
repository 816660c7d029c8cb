//go:build unix

package host

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/state"
	"hardshell/sandbox"
)

// open makes this process the host that its arguments name: it holds the lock,
// has written the key and listens.
func open(stop context.Context, args []string, newProvider func(state.Home, *slog.Logger) (sandbox.Provider, error)) (*server, error) {
	if len(args) != 4 {
		return nil, fault.New(fault.InvalidArgument, "a session host is started by hardshell itself, with its home and a session")
	}
	home, err := state.ResolveHome(args[2])
	if err != nil {
		return nil, err
	}
	if err := state.ValidateSessionID(args[3]); err != nil {
		return nil, err
	}
	if err := home.Ensure(home.Run()); err != nil {
		return nil, err
	}
	if err := home.Check(); err != nil {
		return nil, err
	}
	s := &server{
		session: args[3], files: hostwire.FilesOf(home.Run(), args[3]),
		clients: map[*client]struct{}{}, idle: make(chan struct{}),
	}
	s.records = newRecords(s, home.Jobs(s.session))
	s.ending, s.end = context.WithCancel(context.Background())
	s.log = slog.New(slog.NewTextHandler(&lazyFile{path: s.files.Log}, nil))
	if s.lock, err = takeLock(stop, s.files); err != nil {
		return nil, err
	}
	if s.key, err = writeKey(s.files.Key); err == nil {
		s.listener, err = listen(home, s.files.Socket)
	}
	if err == nil {
		s.provider, err = newProvider(home, s.log)
	}
	if err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// takeLock takes the lock that says that a host lives. A host that is ending
// still holds it for a moment; one that lives is left alone.
func takeLock(ctx context.Context, files hostwire.Files) (*state.HeldLock, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		lock, ok, err := state.TryLock(files.Lock)
		if ok || err != nil {
			return lock, err
		}
		if conn, err := hostwire.Dial(ctx, files.Socket); err == nil {
			conn.Close()
			return nil, fault.New(fault.LockTimeout, "another host serves this session already")
		}
		retry := time.NewTimer(pause)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return nil, fault.New(fault.LockTimeout, "another host of this session does not answer: end it, or end the session (%w)", context.Cause(ctx))
		}
	}
}

// writeKey writes a new key, which only this user can read. Knowing it proves
// that a client can read the run directory, which no confined command can.
func writeKey(path string) ([]byte, error) {
	key := make([]byte, 32)
	rand.Read(key)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(key)
	return key, errors.Join(err, file.Close())
}

// listen listens at path, which a dead host may have left.
func listen(home state.Home, path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	fd, err := hostwire.Listen(path)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument,
			"the home %s cannot hold a socket (%s): choose a directory on a local file system with --home or $DSH_HOME (%w)",
			home.Root(), unix.ErrnoName(errno(err)), err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

func errno(err error) syscall.Errno {
	var number syscall.Errno
	errors.As(err, &number)
	return number
}

// release gives back what open took, the lock last.
func (s *server) release() {
	if s.listener != nil {
		os.Remove(s.files.Socket)
		s.listener.Close()
	}
	if s.key != nil {
		os.Remove(s.files.Key)
	}
	s.lock.Release()
}
