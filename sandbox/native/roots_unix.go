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
	return identify(slices.Concat(pl.writable, pl.pinned, pl.protected, pl.hidden))
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

// came reports whether one of paths is there.
func came(paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		var st unix.Stat_t
		return unix.Lstat(path, &st) == nil
	})
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

// makeHooks makes an empty directory of hooks.
func makeHooks(dir string) {
	inParent(dir, func(parent *os.Root, name string) error { return parent.Mkdir(name, 0o777) })
}

// makeFile makes a file that is not there, and reports whether it did.
func makeFile(path, text string) (made bool) {
	inParent(path, func(parent *os.Root, name string) error {
		f, err := parent.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString(text)
		made = err == nil
		return err
	})
	return made
}

// inParent makes something in a repository's directory. A command that still
// runs may have put a link in the way since the place was found: it is not
// followed. What cannot be made there the sandbox cannot make either.
func inParent(path string, do func(parent *os.Root, name string) error) {
	dir := filepath.Dir(path)
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return
	}
	defer parent.Close()
	if info, err := parent.Lstat(filepath.Base(dir)); err != nil || !info.IsDir() {
		return
	}
	_ = do(parent, filepath.Join(filepath.Base(dir), filepath.Base(path)))
}
