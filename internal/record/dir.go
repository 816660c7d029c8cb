//go:build unix

package record

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Dir is the open directory of one record. Its methods follow the directory
// when it is renamed, never follow a symbolic link in it, and are safe for
// concurrent use.
type Dir struct {
	path string
	file *os.File
}

// Open opens the directory of a record, which must exist. The caller closes it.
func Open(path string) (*Dir, error) {
	fd, err := openRetry(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &Dir{path: path, file: os.NewFile(uintptr(fd), path)}, nil
}

// Path returns the path with which the directory was opened.
func (d *Dir) Path() string { return d.path }

// Close closes the directory. Logs and readers that were opened through it stay
// open. Closing again does nothing.
func (d *Dir) Close() error {
	d.file.Close()
	return nil
}

// at calls do with the directory's descriptor, which stays open until do has
// returned, and names the file in its error.
func (d *Dir) at(op, name string, do func(dir int) error) error {
	err := fs.ErrClosed
	if conn, connErr := d.file.SyscallConn(); connErr == nil {
		conn.Control(func(fd uintptr) { err = do(int(fd)) })
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: filepath.Join(d.path, name), Err: err}
	}
	return nil
}

// create makes a new file that only this user can use.
func (d *Dir) create(name string) (*os.File, error) {
	return d.open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
}

// openRegular opens a file for reading. O_NONBLOCK: a FIFO in its place must
// not stop the caller.
func (d *Dir) openRegular(name string) (*os.File, error) {
	file, err := d.open(name, unix.O_RDONLY|unix.O_NONBLOCK)
	if isErrno(err, unix.ELOOP) {
		return nil, damaged(filepath.Join(d.path, name), "it is a symbolic link")
	}
	if isErrno(err, unix.ENXIO) || isErrno(err, unix.EOPNOTSUPP) { // a socket, on Linux and on macOS
		return nil, damaged(filepath.Join(d.path, name), "it is not a plain file")
	}
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, damaged(filepath.Join(d.path, name), "it is not a plain file")
	}
	return file, nil
}

func (d *Dir) open(name string, flags int) (*os.File, error) {
	file := (*os.File)(nil)
	err := d.at("open", name, func(dir int) error {
		fd, err := openRetry(dir, name, flags, 0o600)
		if err == nil {
			file = os.NewFile(uintptr(fd), filepath.Join(d.path, name))
		}
		return err
	})
	return file, err
}

// remove removes a file; one that is not there is no error.
func (d *Dir) remove(name string) error {
	return d.at("unlink", name, func(dir int) error {
		if err := unix.Unlinkat(dir, name, 0); err != unix.ENOENT {
			return err
		}
		return nil
	})
}

func openRetry(dir int, name string, flags int, perm uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
