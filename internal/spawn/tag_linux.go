package spawn

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"

	"hardshell/internal/procfs"
)

// ownTag is this process's own limit, 0 where limits cannot be set: a sandbox
// keeps its marks.
func ownTag() uint64 {
	var limit unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_LOCKS, nil, &limit); err != nil {
		return 0
	}
	if err := unix.Prlimit(0, unix.RLIMIT_LOCKS, &limit, nil); err != nil {
		return 0
	}
	return limit.Max
}

// SetTag marks a process that was started without a mark.
func SetTag(pid int, tag uint64) {
	// It fails for a set-user-ID program of another user, which the group and
	// the session still find.
	_ = unix.Prlimit(pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: tag, Max: tag}, nil)
}

var lockLimit = []byte("\nMax file locks")

// Mark reads the tag of a process, 0 when it has none or cannot be read.
func Mark(pid int) uint64 {
	var buf [2048]byte
	data, err := procfs.Read(pid, "limits", buf[:])
	if err != nil {
		return 0
	}
	// Max file locks            SOFT                 HARD                 locks
	_, line, ok := bytes.Cut(data, lockLimit)
	if !ok {
		return 0
	}
	line, _, _ = bytes.Cut(line, []byte{'\n'})
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return 0
	}
	mark, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil { // "unlimited"
		return 0
	}
	return mark
}
