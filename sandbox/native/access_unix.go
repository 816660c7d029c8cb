//go:build unix

package native

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// couldWrite reports whether this process may write to path, or make it.
func couldWrite(path string) bool {
	err := unix.Access(path, unix.W_OK)
	if err == unix.ENOENT {
		err = unix.Access(filepath.Dir(path), unix.W_OK)
	}
	return err == nil
}

// couldRead reports whether this process may look into a directory, or read a
// file. What is not there it may.
func couldRead(path string) bool {
	mode := uint32(unix.R_OK)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		mode |= unix.X_OK
	}
	return unix.Access(path, mode) != unix.EACCES
}
