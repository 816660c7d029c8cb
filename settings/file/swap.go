package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"hardshell/internal/fault"
)

// swap is the replacement of one file by another in the same directory.
type swap struct {
	target, temp string
	data         []byte
	mode         fs.FileMode
	owner        owner
	// check is asked right before the file is replaced; nil asks nothing.
	check func() error
	// steps is put before the names of the steps.
	steps string
}

// errMoved says that the file is not the one that was read.
var errMoved = errors.New("the file has changed since it was read")

// swap replaces a file: a reader, and the disk after a power cut, has the old one
// or the new one. A failure before the rename leaves the old one and nothing
// else. Temp must not exist. It returns the new file's state, nil when another
// has taken its place already.
func (p *Provider) swap(s swap) (info fs.FileInfo, err error) {
	step := func(name string) error {
		if p.hooks.step == nil {
			return nil
		}
		return p.hooks.step(s.steps + name)
	}
	do := func(name string, action func() error) {
		if err == nil {
			err = step(name)
		}
		if err == nil {
			err = action()
		}
	}
	// A directory that cannot be opened cannot be synced: better known before
	// anything has changed.
	var dir, f *os.File
	do("open-directory", func() (err error) { dir, err = os.Open(filepath.Dir(s.target)); return })
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	do("create", func() (err error) {
		f, err = os.OpenFile(s.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|openFlags, 0o600)
		return
	})
	if err != nil {
		return nil, err
	}
	do("own", func() error { return s.owner.give(f) })
	do("mode", func() error { return f.Chmod(s.mode) }) // the umask took from it
	do("write", func() error { _, err := f.Write(s.data); return err })
	do("sync", f.Sync)
	var made fs.FileInfo
	do("close", func() (err error) {
		if made, err = f.Stat(); err != nil {
			return err
		}
		return f.Close()
	})
	do("check", func() error {
		if s.check == nil {
			return nil
		}
		return s.check()
	})
	do("rename", func() error { return os.Rename(s.temp, s.target) })
	if err != nil {
		f.Close() // a second close does no harm
		return nil, errors.Join(err, os.Remove(s.temp))
	}
	// The file has been replaced, whatever happens from here on. fsync(2) of a
	// file does not make its directory's entry durable.
	do("sync-directory", func() error { return syncDir(dir) })
	if err != nil {
		p.log.Warn("the settings may not survive a power cut: their directory could not be synced", "directory", dir.Name(), "error", err)
	}
	// The rename itself changed the file's state.
	if info, err = os.Lstat(s.target); err != nil || !os.SameFile(made, info) {
		return nil, nil
	}
	return info, nil
}

// unwritable is the error of a write that the file system refused.
func (p *Provider) unwritable(err error) error {
	return fault.New(fault.SettingsReadOnly, "the settings file %s cannot be written and is as it was: %w", p.path, err)
}

// sweep removes what a writer left that died. There is one name for the temporary
// file of a target, and the lock is held: nobody else uses it.
func sweep(temp string) error {
	if err := os.Remove(temp); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// tempOf is the name of the file that becomes the document. It has the key of the
// lock in it, so that homes which share a document do not share the name.
func tempOf(at place, files ledgerFiles) string {
	dir, name := filepath.Split(at.target)
	return filepath.Join(dir, "."+name+"."+files.key+".tmp")
}
