//go:build unix && !linux && !darwin

package record

import "golang.org/x/sys/unix"

// renameExclusive refuses: this system cannot do it atomically.
func renameExclusive(int, string, string) error { return unix.EOPNOTSUPP }
