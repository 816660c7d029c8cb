package native

import (
	"os"
	"syscall"
	"time"
)

// changeTime is when a file's inode changed last, zero when that is not known.
func changeTime(info os.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return time.Time{}
}
