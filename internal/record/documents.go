//go:build unix

package record

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
)

// WriteAsk writes job.json; fs.ErrExist when there is one.
func (d *Dir) WriteAsk(ask *Ask) error {
	data, err := encode(askFile, ask)
	if err != nil {
		return err
	}
	return d.publish(askFile, data)
}

// ReadAsk reads job.json.
func (d *Dir) ReadAsk() (*Ask, error) { return readDocument(d, askFile, decode[Ask]) }

// WriteProcess writes process.json, or replaces it.
func (d *Dir) WriteProcess(process *Process) error {
	data, err := encode(processFile, process)
	if err != nil {
		return err
	}
	return d.withTemp(processFile, data, func(temp string) error { return d.rename(temp, processFile) })
}

// ReadProcess reads process.json; fs.ErrNotExist while nothing was started.
func (d *Dir) ReadProcess() (*Process, error) { return readDocument(d, processFile, decode[Process]) }

// WriteStatus writes status.json unless there is one: of all writers in all
// processes the first wins, and only to it won is true.
func (d *Dir) WriteStatus(status *Status) (won bool, err error) {
	switch status.Status {
	case Completed, Killed, Failed:
	default:
		return false, fault.New(fault.InvalidArgument, "%.40q is no final status: use %s, %s or %s", status.Status, Completed, Killed, Failed)
	}
	data, err := encode(statusFile, status)
	if err != nil {
		return false, err
	}
	err = d.publish(statusFile, data)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	if old, err := d.read(statusFile); err != nil || !hollow(old) {
		return false, nil // a status of any kind, readable or not, is somebody's
	}
	return d.replaceHollowStatus(data)
}

// ReadStatus reads status.json; ok is false while there is none.
func (d *Dir) ReadStatus() (status *Status, ok bool, err error) {
	status, err = readDocument(d, statusFile, decodeStatus)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return status, err == nil, err
}

// maxReason is how many bytes of a reason are stored.
const maxReason = 64 << 10

// MarkStopping records that somebody asked for the command's end. The first
// reason stays; the mark of a later one is no error.
func (d *Dir) MarkStopping(reason string) error {
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "")
	}
	err := d.publish(stoppingFile, []byte(reason))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Stopping returns the reason of MarkStopping; ok is false when nobody asked
// for the end. A mark that cannot be read counts, without a reason.
func (d *Dir) Stopping() (reason string, ok bool) {
	data, err := d.read(stoppingFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	return string(data), true
}

// hollowWait bounds the wait for others that replace a hollow status.
const hollowWait = 2 * time.Second

// replaceHollowStatus replaces what a power cut left of a status. The lock on
// the hollow file itself makes one of several winners the first: the others
// find, once they have it, that another file has its name. The lock of the
// directory is not for this: the caller may hold it.
func (d *Dir) replaceHollowStatus(data []byte) (won bool, err error) {
	old, err := d.openRegular(statusFile)
	if err != nil {
		return false, err
	}
	defer old.Close()
	// Who can read the file can hold its lock: it is not waited for without end.
	for end := time.Now().Add(hollowWait); ; time.Sleep(5 * time.Millisecond) {
		err = unix.Flock(int(old.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != unix.EINTR && err != unix.EWOULDBLOCK || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		return false, &fs.PathError{Op: "flock", Path: old.Name(), Err: err}
	}
	if now, err := d.read(statusFile); err != nil || !hollow(now) {
		return false, err
	}
	err = d.withTemp(statusFile, data, func(temp string) error { return d.rename(temp, statusFile) })
	return err == nil, err
}

// publish creates a file with its whole content, or fails with fs.ErrExist.
func (d *Dir) publish(name string, data []byte) error {
	return d.withTemp(name, data, func(temp string) error {
		return d.at("link", name, func(dir int) error {
			err := unix.Linkat(dir, temp, dir, name, 0)
			switch err {
			case unix.EPERM, unix.EOPNOTSUPP, unix.ENOSYS, unix.EMLINK: // a file system without hard links
				return renameExclusive(dir, temp, name)
			}
			return err
		})
	})
}

// withTemp hands a new file that holds data to use, and leaves no such file.
func (d *Dir) withTemp(name string, data []byte, use func(temp string) error) error {
	temp := tempPrefix + name + "-" + randomHex(6)
	file, err := d.create(temp)
	if err != nil {
		return err
	}
	defer d.remove(temp)
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return use(temp)
}

func (d *Dir) rename(from, to string) error {
	return d.at("rename", to, func(dir int) error { return unix.Renameat(dir, from, dir, to) })
}

func readDocument[T any](d *Dir, name string, decode func(string, []byte) (*T, error)) (*T, error) {
	data, err := d.read(name)
	if err != nil {
		return nil, err
	}
	return decode(filepath.Join(d.path, name), data)
}

func (d *Dir) read(name string) ([]byte, error) {
	file, err := d.openRegular(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxDocument {
		return nil, damaged(file.Name(), "it has more than %d bytes", maxDocument)
	}
	return data, nil
}

func isErrno(err error, errno syscall.Errno) bool {
	var path *os.PathError
	return errors.As(err, &path) && path.Err == errno
}
