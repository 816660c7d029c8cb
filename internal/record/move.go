//go:build unix

package record

import (
	"os"

	"golang.org/x/sys/unix"
)

// Move makes the record at from that of an empty directory to, which it replaces:
// rename(2) of directories. Whoever holds the record open goes on.
func Move(from, to string) error {
	for {
		err := unix.Rename(from, to) // os.Rename refuses a directory that is there
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
		}
	}
}
