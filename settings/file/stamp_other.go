//go:build !linux && !darwin

package file

import "io/fs"

// stampOf is the stamp of a file, without what is particular to a system.
func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), modified: info.ModTime().UnixNano(), changed: info.ModTime().UnixNano()}
}
