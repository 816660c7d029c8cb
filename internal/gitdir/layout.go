package gitdir

import (
	"io/fs"
	"path/filepath"
	"slices"

	"hardshell/internal/realpath"
)

// Layout is what is known of the repositories of one writable directory. All
// paths are absolute, canonical, sorted and without duplicates.
//
// They were canonical when they were found. A command that runs in the same
// place can replace what is inside of the root by a link at any time, so they
// must be opened without following any: openat2(2) with RESOLVE_NO_SYMLINKS.
// And a mount on a file goes away when the file is replaced from outside, as
// git does with its configuration: whoever keeps a namespace for long has to
// compare the protected files with what was mounted (mount_namespaces(7),
// "Restrictions on mount namespaces").
type Layout struct {
	// Writable are directories outside of the root that git writes to when it
	// works in the root: the common directory of a linked worktree, the
	// directory of a submodule. They exist, and each was found to belong to
	// the root by what it says itself.
	//
	// A root that lies inside of a work tree, as one of its subdirectories,
	// gets none: the root was granted, its surroundings were not. There git
	// can read, and `git add` fails.
	Writable []string
	// Pinned are existing directories inside of writable places that must not
	// be renamed or replaced, lest what they contain that is protected goes
	// with them. They stay writable, as mounts of their own.
	Pinned []string
	// Protected are existing files and directories inside of writable places
	// that must stay as they are. None lies below another, nor any of the
	// other lists' paths below one of them.
	Protected []string
	// Hooks are absent hooks directories of existing repositories. Created
	// empty they can be protected too.
	Hooks []string
	// Exposed are paths inside of writable places that git would obey and that
	// no mount can hold, because nothing is there or because it is a symbolic
	// link. The most important one is "commondir" in a .git directory: a file
	// of that name replaces configuration and hooks by those of any other
	// directory. A caller can look whether they appeared or changed.
	Exposed []string
	// Truncated is true when a bound kept something of a repository unseen that
	// should be in Protected: more repositories than are looked at, or a
	// configuration longer than is read. It says nothing of Search's bounds.
	Truncated bool
	// Obstacle, when not nil, is that something cannot be looked into, although
	// this user could change that, and that to protect it as a whole would not be
	// enough: a configuration, which may name any path, or a whole writable place.
	// Nobody may write until that is mended. What else cannot be looked into is
	// in Protected itself.
	Obstacle *fs.PathError
}

// Search bounds the search for repositories below the root that no other one
// names: clones inside of the work tree. Submodules and linked worktrees are
// found however deep they lie, since their repository lists them.
type Search struct {
	// Depth is how many levels below the root a .git is looked for;
	// DefaultDepth when 0, none when negative.
	Depth int
	// Entries is how many directory entries are looked at, those near the root
	// first; DefaultEntries when 0.
	Entries int
	// Configs are further configuration files that git reads in every
	// repository, the user's for instance. Their core.hooksPath and includes
	// are honoured; they are protected where they are inside of a writable
	// place.
	Configs []string
}

// The bounds of the zero Search.
const (
	DefaultDepth   = 3
	DefaultEntries = 2000
)

// Find returns the layout of root, an absolute canonical path, with the bounds
// of the zero Search. It never blocks on a file that is no regular one, and for
// two seconds at most on one that another process has a lease on. What cannot be
// read never widens anything, and never counts as absent.
func Find(root string) Layout { return Search{}.Find(root) }

// Find is the function Find with the bounds of s.
func (s Search) Find(root string) Layout {
	if !filepath.IsAbs(root) {
		return Layout{}
	}
	if s.Depth == 0 {
		s.Depth = DefaultDepth
	}
	if s.Entries == 0 {
		s.Entries = DefaultEntries
	}
	root = filepath.Clean(root)
	f := &finder{search: s, root: root, places: []string{root}, seen: map[string]bool{}}
	f.workTree(root)
	if f.isBare(root) {
		f.repository(root, root)
	}
	f.nested()
	for _, path := range s.Configs {
		real, err := realpath.Resolve(path)
		f.unknown(err)
		if err == nil {
			f.protect(real, "")
		}
	}
	return f.reduced()
}

// finder collects a layout.
type finder struct {
	search Search
	root   string
	// places are the writable directories: root and Layout.Writable.
	places []string
	// seen are the repositories that were looked at.
	seen   map[string]bool
	layout Layout
}

// inside reports whether path lies in a writable place.
func (f *finder) inside(path string) bool {
	return slices.ContainsFunc(f.places, func(place string) bool { return realpath.Within(path, place) })
}

// reduced returns the layout without duplicates, and without what lies below
// something protected: a pin there would make it writable again.
func (f *finder) reduced() Layout {
	l := f.layout
	unique := func(paths []string) []string {
		slices.Sort(paths)
		return slices.Compact(paths)
	}
	protected := unique(l.Protected)
	l.Protected = slices.DeleteFunc(slices.Clone(protected), func(p string) bool { return below(p, protected) })
	loose := func(paths []string) []string {
		return slices.DeleteFunc(unique(paths), func(p string) bool {
			return slices.Contains(l.Protected, p) || below(p, l.Protected)
		})
	}
	l.Writable, l.Pinned, l.Hooks, l.Exposed = unique(l.Writable), loose(l.Pinned), loose(l.Hooks), loose(l.Exposed)
	return l
}

// below reports whether path lies strictly below one of dirs.
func below(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return path != dir && realpath.Within(path, dir) })
}
