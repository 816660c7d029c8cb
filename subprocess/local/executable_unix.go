//go:build unix

package local

import "golang.org/x/sys/unix"

// executable reports whether path is a file that this user may execute.
func executable(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG &&
		unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) == nil
}
