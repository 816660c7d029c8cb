package record

import "golang.org/x/sys/unix"

// renameExclusive renames unless there is a file of that name already.
func renameExclusive(dir int, from, to string) error {
	return unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
}
