//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"hardshell/internal/hostwire"
	"hardshell/internal/state"
)

func findLimits() limitFacts {
	var f limitFacts
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		f.OpenFiles, f.MaxOpenFiles = limit.Cur, limit.Max
	}
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) == nil {
		f.Processes = limit.Cur
	}
	return f
}

// examine looks at the home itself.
func (f *homeFacts) examine(home state.Home) {
	info, err := os.Stat(f.Path)
	if err != nil {
		return
	}
	f.Mode = octal(info.Mode())
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		f.Owner = strconv.FormatUint(uint64(stat.Uid), 10)
	}
	var space unix.Statfs_t
	if unix.Statfs(f.Path, &space) == nil {
		f.FreeBytes = uint64(space.Bavail) * uint64(space.Bsize)
	}
	path := filepath.Join(home.Run(), "doctor-"+strconv.Itoa(os.Getpid()))
	if fd, err := hostwire.Listen(path); err == nil {
		f.Sockets = true
		unix.Close(fd)
		// A socket that stays is nobody's, and the next one has another name.
		_ = os.Remove(path)
	}
}
