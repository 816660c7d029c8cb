//go:build unix

package native

import (
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
