//go:build unix

package hostwire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxPath is the longest path that struct sockaddr_un holds everywhere.
const maxPath = 103

// withAddress calls do with an address of the socket at path, however long that
// is: a long one goes through a descriptor of its directory.
func withAddress(path string, do func(*unix.SockaddrUnix) error) error {
	if len(path) <= maxPath {
		return do(&unix.SockaddrUnix{Name: path})
	}
	dir, err := unix.Open(filepath.Dir(path), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	return do(&unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/%s", dir, filepath.Base(path))})
}

// newSocket returns a close-on-exec, non-blocking stream socket.
func newSocket() (int, error) {
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return -1, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Pair returns the two ends of a connection, close-on-exec.
func Pair() (ends [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if ends, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil {
		return ends, os.NewSyscallError("socketpair", err)
	}
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
	return ends, nil
}

// Listen returns a listening socket at path, which must be free. Only this user
// may connect.
func Listen(path string) (int, error) {
	fd, err := newSocket()
	if err != nil {
		return -1, err
	}
	err = withAddress(path, func(address *unix.SockaddrUnix) error { return unix.Bind(fd, address) })
	if err == nil {
		err = unix.Chmod(path, 0o600)
	}
	if err == nil {
		err = unix.Listen(fd, 128)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Dial connects to the socket at path. ENOENT and ECONNREFUSED mean that nobody
// listens.
func Dial(ctx context.Context, path string) (*Conn, error) {
	fd, err := newSocket()
	if err != nil {
		return nil, err
	}
	for {
		err = withAddress(path, func(address *unix.SockaddrUnix) error { return unix.Connect(fd, address) })
		if err != unix.EAGAIN && err != unix.EINTR {
			break
		}
		// unix(7): the queue of the listener is full, and there is no event for
		// its having room again.
		pause := time.NewTimer(5 * time.Millisecond)
		select {
		case <-pause.C:
			continue
		case <-ctx.Done():
			pause.Stop()
			err = context.Cause(ctx)
		}
		break
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return NewConn(fd)
}
