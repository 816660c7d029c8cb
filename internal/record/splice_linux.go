package record

import (
	"sync"

	"golang.org/x/sys/unix"
)

// splice moves at most n bytes of a pipe to an offset of a file.
func splice(pipe, file int, offset, n int64) (int64, error) {
	return unix.Splice(pipe, nil, file, &offset, int(n), unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
}

// spliceAway moves what a pipe holds to nowhere; EINVAL when it cannot.
func spliceAway(pipe int) (int64, error) {
	file := nowhere()
	if file < 0 {
		return 0, unix.EINVAL
	}
	return unix.Splice(pipe, nil, file, nil, maxMove, unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
}

// nowhere is a descriptor of /dev/null, -1 when something else has its name.
var nowhere = sync.OnceValue(func() int {
	fd, err := unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return -1
	}
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFCHR || uint64(stat.Rdev) != unix.Mkdev(1, 3) {
		unix.Close(fd)
		return -1
	}
	return fd
})

// punch frees a part of a file; reads of it give zeros. EOPNOTSUPP or ENOSYS
// where there are no holes.
func punch(file int, from, n int64) error {
	for {
		err := unix.Fallocate(file, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, n)
		if err != unix.EINTR {
			return err
		}
	}
}
