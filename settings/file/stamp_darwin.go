package file

import (
	"io/fs"
	"syscall"
)

// stampOf is the stamp of a file. Its change time cannot be set by a program, as
// the modification time can.
func stampOf(info fs.FileInfo) stamp {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{size: info.Size(), modified: info.ModTime().UnixNano(), changed: info.ModTime().UnixNano()}
	}
	return stamp{
		device: uint64(st.Dev), inode: st.Ino, size: st.Size,
		modified: st.Mtimespec.Nano(), changed: st.Ctimespec.Nano(),
	}
}
