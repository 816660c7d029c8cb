package native

import (
	"os"
	"path/filepath"
	"slices"
)

// fileID tells whether a path still names the same file.
type fileID struct {
	path string
	info os.FileInfo
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
		if info, err := os.Stat(path); err == nil {
			list = append(list, fileID{path, info})
		}
	}
	return list
}

// same reports whether all of them name it still.
func same(files []fileID) bool {
	for _, f := range files {
		if info, err := os.Stat(f.path); err != nil || !os.SameFile(info, f.info) {
			return false
		}
	}
	return true
}

// makeHooks makes an empty directory of hooks.
func makeHooks(dir string) {
	inParent(dir, func(parent *os.Root, name string) error { return parent.Mkdir(name, 0o777) })
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
