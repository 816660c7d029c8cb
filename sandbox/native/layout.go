package native

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hardshell/internal/realpath"
)

// kind is what a placement puts at its path.
type kind int

const (
	// coverDir and coverFile put something empty over what is there.
	coverDir kind = iota
	coverFile
	// scratch is an empty directory that the sandbox can write to.
	scratch
	// temp is the session's private temp.
	temp
	// tree is a directory or file of the host, as it is there.
	tree
	// readOnly is the same, without the possibility to change it.
	readOnly
)

// placement is what the sandbox sees at a path instead of what the host has
// there.
type placement struct {
	path string
	kind kind
	// source is the host's path of a tree; "" is the path itself.
	source string
	// parents are directories that have to be made in a cover or a scratch, from
	// the outermost on, so that path exists there; file says that path itself
	// is made as a file.
	parents []string
	file    bool
	// filled says that something is placed inside of this cover, which therefore
	// is a file system of its own.
	filled bool
}

func (p placement) from() string { return cmp.Or(p.source, p.path) }

// synthetic reports whether nothing of the host's tree can be seen below p.
func (p placement) synthetic() bool { return p.kind <= temp }

// layout is the file system of a sandbox: the host's, read-only, with
// placements over it, in the order in which they are made.
type layout struct {
	placements []placement
	// rootWritable says that the workspace is the root directory.
	rootWritable bool
}

// arrange brings placements into an order in which the deeper comes over the
// less deep, and says what has to be made for them. Of two at one path the later
// one wins. TempDir is the host's directory of the private temp: what has to
// exist in it is made there.
func arrange(placements []placement, tempDir string) (*layout, error) {
	last := map[string]int{}
	for i, p := range placements {
		last[p.path] = i
	}
	l := &layout{}
	for i, p := range placements {
		if last[p.path] != i {
			continue
		}
		if p.path == "/" {
			l.rootWritable = l.rootWritable || p.kind == tree
			continue
		}
		l.placements = append(l.placements, p)
	}
	l.placements = sorted(l.placements)
	kept := l.placements[:0]
	for _, p := range l.placements {
		outer := enclosing(kept, p.path)
		if outer == nil || !outer.synthetic() {
			kept = append(kept, p)
			continue
		}
		if p.kind == coverDir || p.kind == coverFile {
			continue // nothing is to be seen there anyhow
		}
		p.file = isFile(p.from())
		p.parents = between(outer.path, p.path, p.file)
		if outer.kind == temp {
			if err := makeIn(tempDir, outer.path, p); err != nil {
				return nil, err
			}
			p.parents, p.file = nil, false
		}
		outer.filled = true
		kept = append(kept, p)
	}
	l.placements = kept
	return l, nil
}

// sorted returns placements with the deeper ones after the less deep.
func sorted(placements []placement) []placement {
	list := slices.Clone(placements)
	slices.SortStableFunc(list, func(a, b placement) int {
		return cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/"))
	})
	return list
}

// enclosing returns the innermost placement around path, nil when the host's own
// tree is.
func enclosing(placements []placement, path string) *placement {
	for i := len(placements) - 1; i >= 0; i-- { // sorted by depth
		if realpath.Within(path, placements[i].path) {
			return &placements[i]
		}
	}
	return nil
}

// between lists the directories below outer on the way to path, path included
// unless it is a file.
func between(outer, path string, file bool) []string {
	var list []string
	if file {
		path = filepath.Dir(path)
	}
	for ; path != outer && path != "/"; path = filepath.Dir(path) {
		list = append(list, path)
	}
	slices.Reverse(list)
	return list
}

// makeIn makes the place of p, below outer, in the host's directory dir, which is
// the sandbox's own temp. Earlier commands may have put links there: os.Root does
// not follow them out. What they put in the way is removed.
func makeIn(dir, outer string, p placement) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	at := strings.TrimPrefix(p.path[len(outer):], "/")
	for _, way := range between("/", "/"+at, p.file) {
		if info, err := root.Lstat(way[1:]); err == nil && !info.IsDir() {
			if err := root.Remove(way[1:]); err != nil {
				return err
			}
		}
	}
	if !p.file {
		return root.MkdirAll(at, 0o700)
	}
	if parent := filepath.Dir(at); parent != "." {
		if err := root.MkdirAll(parent, 0o700); err != nil {
			return err
		}
	}
	if info, err := root.Lstat(at); err == nil && !info.Mode().IsRegular() {
		if err := root.RemoveAll(at); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(at, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
