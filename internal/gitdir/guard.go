package gitdir

import (
	"io/fs"
	"path/filepath"
	"slices"

	"hardshell/internal/realpath"
)

// guard protects path, whose parent is a real directory inside of a writable
// place. When nothing is there, or a link, the path itself cannot be held.
func (f *finder) guard(path string) {
	info, ok := f.lstat(path)
	switch {
	case !ok:
		f.layout.Exposed = append(f.layout.Exposed, path)
	case info.Mode()&fs.ModeSymlink != 0:
		f.layout.Exposed = append(f.layout.Exposed, path)
		if real, ok := f.resolve(path); ok {
			f.protect(real, "")
		}
	default:
		f.layout.Protected = append(f.layout.Protected, path)
	}
}

// guardExisting is guard for what git can do without.
func (f *finder) guardExisting(path string) {
	if f.exists(path) {
		f.guard(path)
	}
}

// guardNamed protects what a configuration names: any path. Unlike the files
// of a repository it may be reached through links and may lie deep in the work
// tree, so that the directories on the way are pinned up to workTree.
func (f *finder) guardNamed(path, workTree string) {
	if real, ok := f.resolve(path); ok {
		if spelled := filepath.Clean(path); spelled != real && f.inside(spelled) {
			f.layout.Exposed = append(f.layout.Exposed, spelled)
		}
		f.protect(real, workTree)
		return
	}
	// Absent: it would appear below its deepest existing ancestor.
	for dir := path; ; {
		parent := filepath.Dir(dir)
		if parent == dir {
			return
		}
		dir = parent
		if real, err := realpath.Resolve(dir); err == nil {
			if rest, err := filepath.Rel(dir, filepath.Clean(path)); err == nil && f.inside(real) {
				f.layout.Exposed = append(f.layout.Exposed, filepath.Join(real, rest))
			}
			return
		}
	}
}

// protect protects the real path of something that exists, when it is inside
// of a writable place. It never closes a whole place or a repository.
func (f *finder) protect(real, workTree string) {
	if !f.inside(real) {
		return
	}
	contains := func(path string) bool { return realpath.Within(path, real) }
	if slices.ContainsFunc(f.places, contains) || f.holdsRepository(real) {
		f.layout.Exposed = append(f.layout.Exposed, real)
		return
	}
	f.layout.Protected = append(f.layout.Protected, real)
	f.pinAbove(real, workTree)
}

// pinAbove pins the directories on the way from a place, or from workTree, to
// path, both ends excluded.
func (f *finder) pinAbove(path, workTree string) {
	for dir := filepath.Dir(path); f.inside(dir) && dir != workTree && !slices.Contains(f.places, dir); dir = filepath.Dir(dir) {
		f.layout.Pinned = append(f.layout.Pinned, dir)
	}
}

// pinned pins a directory of a repository and reports whether it is one: a
// link could be replaced, and is exposed.
func (f *finder) pinned(dir string) bool {
	info, ok := f.lstat(dir)
	if !ok {
		return false
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		f.layout.Exposed = append(f.layout.Exposed, dir)
		return false
	}
	if !info.IsDir() {
		return false
	}
	if !slices.Contains(f.places, dir) {
		f.layout.Pinned = append(f.layout.Pinned, dir)
	}
	return true
}

// holdsRepository reports whether a repository that was looked at is dir or
// lies below it.
func (f *finder) holdsRepository(dir string) bool {
	for repository := range f.seen {
		if realpath.Within(repository, dir) {
			return true
		}
	}
	return false
}
