//go:build unix

package state

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

func replaceFile(path string, data []byte, perm os.FileMode) (err error) {
	// A directory that cannot be opened cannot be synced: better known before
	// anything has changed.
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	// Without a directory of ours renameio may choose $TMPDIR.
	pending, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir.Name()), renameio.WithStaticPermissions(perm))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pending.Cleanup()) }()
	if _, err := pending.Write(data); err != nil {
		return err
	}
	if err := pending.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes a rename in dir durable: fsync(2) of a file "does not
// necessarily ensure that the entry in the directory containing the file has
// also reached disk". EINVAL and ENOTSUP mean that this file system cannot.
func syncDir(dir *os.File) error {
	err := dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
