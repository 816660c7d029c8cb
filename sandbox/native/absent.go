package native

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// absentees are paths that are not there and are to be protected or hidden as
// soon as they are. There are many of them in few directories, so that mostly
// the times of those tell that nothing came. It is safe for concurrent use.
type absentees struct {
	mu   sync.Mutex
	dirs []absentDir
}

// absentDir is the directory that paths would appear in, or the first of their
// missing parents.
type absentDir struct {
	path    string
	names   []string
	changed time.Time // zero when it says nothing
}

// settled is how old the time of a directory has to be before it can tell that
// nothing came: some file systems count in two seconds.
const settled = 3 * time.Second

// watchAbsent remembers paths that are not there.
func watchAbsent(paths []string) *absentees {
	a := &absentees{}
	there := map[string]bool{}
	isThere := func(dir string) bool {
		known, asked := there[dir]
		if !asked {
			known = present(dir)
			there[dir] = known
		}
		return known
	}
	for _, path := range paths {
		dir, name := filepath.Dir(path), filepath.Base(path)
		for dir != "/" && !isThere(dir) {
			dir, name = filepath.Dir(dir), filepath.Base(dir)
		}
		i := slices.IndexFunc(a.dirs, func(d absentDir) bool { return d.path == dir })
		if i < 0 {
			i = len(a.dirs)
			a.dirs = append(a.dirs, absentDir{path: dir})
		}
		if !slices.Contains(a.dirs[i].names, name) {
			a.dirs[i].names = append(a.dirs[i].names, name)
		}
	}
	return a
}

// came reports whether one of the paths, or a parent of one, is there now.
func (a *absentees) came() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.dirs {
		d := &a.dirs[i]
		now := time.Now()
		info, err := os.Stat(d.path)
		if err != nil {
			continue // a directory that went holds nothing
		}
		// The time of the last change of the inode: that of the contents can be
		// set to any.
		changed := changeTime(info)
		if !changed.IsZero() && changed.Equal(d.changed) {
			continue
		}
		if slices.ContainsFunc(d.names, func(name string) bool { return present(d.path + "/" + name) }) {
			return true
		}
		d.changed = time.Time{}
		if now.Sub(changed) > settled {
			d.changed = changed
		}
	}
	return false
}

func present(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
