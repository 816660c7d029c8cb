//go:build unix

package state

import (
	"io/fs"
	"os"
	"syscall"

	"hardshell/internal/fault"
)

// checkOwner refuses a home that another user owns or can write to: whoever
// can rename things in it decides what is read from it.
func checkOwner(root string, info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int64(stat.Uid) != int64(os.Geteuid()) {
		return fault.New(fault.InvalidArgument,
			"the home %s belongs to user %d and this process is user %d: choose another home with --home or $%s, or run as its owner",
			root, stat.Uid, os.Geteuid(), homeVariable)
	}
	if perm := info.Mode().Perm(); perm&0o022 != 0 {
		return fault.New(fault.InvalidArgument,
			"the home %s can be written by others (mode %04o): run chmod go-w on it", root, perm)
	}
	return nil
}
