//go:build unix

package spawn

import "golang.org/x/sys/unix"

// OpenFileLimit is how many files this process may have open.
func OpenFileLimit() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1 << 20
	}
	return limit.Cur
}
