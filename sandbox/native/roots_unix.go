//go:build unix

package native

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// fileID tells whether a path still names the same file.
type fileID struct {
	path string
	dev  uint64
	ino  uint64
}

// watched are the files of a plan that a confinement is made for: when one of
// them was replaced since, it is to be made anew. A mount on a file goes when the
// file is replaced from outside (mount_namespaces(7)).
func (pl *plan) watched() []fileID {
	return identify(slices.Concat(pl.writable, pl.pinned, pl.protected))
}

// identify remembers what paths name.
func identify(paths []string) []fileID {
	var list []fileID
	for _, path := range paths {
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil {
			list = append(list, fileID{path, uint64(st.Dev), uint64(st.Ino)})
		}
	}
	return list
}

// same reports whether all of them name it still.
func same(files []fileID) bool {
	for _, f := range files {
		var st unix.Stat_t
		if unix.Stat(f.path, &st) != nil || uint64(st.Dev) != f.dev || uint64(st.Ino) != f.ino {
			return false
		}
	}
	return true
}

// makeHooks makes an empty directory of hooks. A command that still runs may
// have put a link in the way since the place was found: it is not followed.
func makeHooks(dir string) {
	parent, err := os.OpenRoot(filepath.Dir(filepath.Dir(dir)))
	if err != nil {
		return
	}
	defer parent.Close()
	_ = parent.Mkdir(filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir)), 0o777)
}
