//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
)

// openFlags open what is a plain file without following a link or waiting for
// the other end of a pipe.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// owner is whose a file is.
type owner struct {
	known    bool
	uid, gid int
}

func ownerOf(info fs.FileInfo) owner {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}
	}
	return owner{known: true, uid: int(st.Uid), gid: int(st.Gid)}
}

// check refuses to replace a file by one of another owner, who could no longer
// read it.
func (o owner) check(path string) error {
	if euid := os.Geteuid(); o.known && euid != 0 && euid != o.uid {
		return fault.New(fault.SettingsReadOnly,
			"the settings file %s belongs to user %d and this process is user %d: run as its owner", path, o.uid, euid)
	}
	return nil
}

// give makes f belong to o as far as that is allowed. A group does not matter
// much to a file that only its owner can open.
func (o owner) give(f *os.File) error {
	if !o.known {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if ownerOf(info) == o {
		return nil
	}
	err = f.Chown(o.uid, o.gid)
	if os.Geteuid() != 0 && errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// syncDir makes a rename in dir durable, where the file system can: fsync(2).
func syncDir(dir *os.File) error {
	err := dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

// trusted refuses to obey a document of somebody else, but for the administrator.
func (o owner) trusted(path string) error {
	if o.known && o.uid != os.Geteuid() && o.uid != 0 {
		return fault.New(fault.DocumentInvalid,
			"the settings file %s belongs to user %d, who could decide how commands are confined: run chown %d on it, or replace it", path, o.uid, os.Geteuid())
	}
	return nil
}
