package native

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"hardshell/internal/realpath"
)

// absentees are paths that are not there and are to be protected or hidden as
// soon as they are. There are many of them in few directories, so that mostly
// the times of those tell that nothing came. It is safe for concurrent use.
type absentees struct {
	mu   sync.Mutex
	dirs []absentDir
	// blocked are paths of which it cannot be told whether they are there, and
	// closed are directories and files that are closed off as a whole.
	blocked, closed []string
}

// absentDir is the directory that paths would appear in, or the first of their
// missing parents.
type absentDir struct {
	path    string
	names   []string
	changed time.Time // zero when it says nothing
	// linked says that a name is a link that leads nowhere yet: the time does not
	// tell when it does.
	linked bool
}

// settled is how old the time of a directory has to be before it can tell that
// nothing came: some file systems count in two seconds.
const settled = 3 * time.Second

// watchAbsent remembers paths that are not there, and those that are blocked. Of
// shut it remembers what this process cannot read.
func watchAbsent(paths, blocked, shut []string) *absentees {
	a := &absentees{blocked: blocked}
	for _, path := range shut {
		if !couldRead(path) {
			a.closed = append(a.closed, path)
		}
	}
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
			a.dirs[i].linked = a.dirs[i].linked || present(dir+"/"+name)
		}
	}
	return a
}

// came reports whether one of the paths, or a parent of one, is there now, or
// cannot be examined any more; and whether something that was blocked or closed
// is so no more.
func (a *absentees) came() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, path := range a.blocked {
		if _, err := look(path); err == nil || realpath.LeadsNowhere(err) {
			return true
		}
	}
	if slices.ContainsFunc(a.closed, couldRead) {
		return true
	}
	for i := range a.dirs {
		d := &a.dirs[i]
		now := time.Now()
		info, err := os.Stat(d.path)
		if realpath.LeadsNowhere(err) {
			continue // a directory that went holds nothing
		}
		if err != nil {
			return true
		}
		// The time of the last change of the inode: that of the contents can be
		// set to any.
		changed := changeTime(info)
		if !changed.IsZero() && changed.Equal(d.changed) && !d.linked {
			continue
		}
		if slices.ContainsFunc(d.names, func(name string) bool {
			_, err := os.Stat(d.path + "/" + name)
			return !realpath.LeadsNowhere(err)
		}) {
			return true
		}
		d.changed = time.Time{}
		if now.Sub(changed) > settled {
			d.changed = changed
		}
	}
	return false
}

// present reports whether something is at path, a link that leads nowhere
// included.
func present(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
