package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"hardshell/internal/fault"
)

// WriteFile replaces the file at path by one that holds data: a reader, and
// the disk after a power cut, has the old content or the new one, never a
// mixture, and a failure leaves the old one and nothing else. A new file gets
// exactly the mode perm; one that exists keeps its mode. A symbolic link stays
// and its target is replaced; other hard links to the file keep the old
// content. It does not exclude other writers: a read and a write that belong
// together need a Lock on another file.
//
// INVALID_ARGUMENT for a path that names no plain file, a link that leads
// nowhere included.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linkErr := os.Lstat(path); linkErr == nil {
			return fault.New(fault.InvalidArgument, "%s is a link that leads nowhere: create its target or remove it", path)
		}
		target, err = path, nil
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fault.New(fault.InvalidArgument, "%s is not a plain file: choose another path", path)
	case err == nil:
		perm = info.Mode()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return replaceFile(target, data, perm.Perm())
}
