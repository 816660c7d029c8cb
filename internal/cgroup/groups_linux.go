package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"hardshell/internal/realpath"
)

// Groups makes groups. The zero value is ready, and finds out where it may make
// them when it first has to. It is safe for concurrent use.
type Groups struct {
	probe sync.Once
	place place

	mu   sync.Mutex
	made int
	left []string // could not be removed yet
}

// In returns groups that are made in a directory whether it is delegated or not:
// for tests.
func In(dir string) *Groups { return with(place{dir: dir}) }

func with(p place) *Groups {
	g := &Groups{place: p}
	g.probe.Do(func() {})
	return g
}

// ErrNotDelegated says that this process cannot make groups, or should not.
var ErrNotDelegated = errors.New("no control group is delegated to this process")

// Group is a control group for one process tree.
type Group struct {
	groups *Groups
	path   string
}

// New makes a group, and opens it for spawn.Attr; the file is the caller's to
// close once the tree was started. Writable are directories in which the tree
// may write: it gets no group when it could change that (ErrNotDelegated).
func (g *Groups) New(writable []string) (*Group, *os.File, error) {
	g.probe.Do(func() { g.place = find() })
	if g.place.dir == "" || g.place.within(writable) {
		return nil, nil, ErrNotDelegated
	}
	g.mu.Lock()
	g.made++
	path := g.place.dir + "/" + prefix + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(g.made)
	g.mu.Unlock()
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, nil, err
	}
	group := &Group{groups: g, path: path}
	dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		group.Remove()
		return nil, nil, err
	}
	return group, dir, nil
}

// Close removes the groups that had a process left when they were to be removed.
func (g *Groups) Close() { g.remove("") }

// Memory is how many bytes the processes of the group hold: anonymous memory and
// shared memory, files of a tmpfs included. The cache of other files is charged
// to the group as well, but is no memory that it needs: the kernel takes it back
// when somebody wants it, and copying a large file would fill any limit. For the
// same reason memory.current and memory.peak are of no use here. Memory is false
// when the kernel does not tell.
func (g *Group) Memory() (bytes int64, ok bool) {
	stat, err := os.ReadFile(g.path + "/memory.stat")
	if err != nil {
		return 0, false
	}
	return held(string(stat))
}

// held adds up what of a memory.stat counts.
func held(stat string) (total int64, ok bool) {
	seen := 0
	for line := range strings.Lines(stat) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key != "anon" && key != "shmem" {
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return 0, false
		}
		total += n
		seen++
	}
	return total, seen == 2 && total >= 0
}

// Remove removes the group. While it has a process that is left to a later
// Remove of another, or Close. Remove of nil does nothing.
func (g *Group) Remove() {
	if g != nil {
		g.groups.remove(g.path)
	}
}

// remove removes a group, "" for none, and those that could not be before.
func (g *Groups) remove(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if path != "" {
		g.left = append(g.left, path)
	}
	g.left = slices.DeleteFunc(g.left, func(path string) bool { return unix.Rmdir(path) != unix.EBUSY })
}

// prefix begins the name of a group: the id of its maker and a number follow.
const prefix = "hardshell-"

// maker is the process that made the group of a name.
func maker(name string) (pid int, ok bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	number, count, _ := strings.Cut(rest, "-")
	pid, err1 := strconv.Atoi(number)
	_, err2 := strconv.Atoi(count)
	return pid, ok && err1 == nil && err2 == nil && pid > 0
}

// sweep removes from a directory what processes have left that are gone. One of
// another pid namespace seems gone: only what is empty is removed, and a group
// that is missing when its tree is to be born costs no more than the measure.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if pid, ok := maker(entry.Name()); ok && entry.IsDir() && unix.Kill(pid, 0) == unix.ESRCH {
			unix.Rmdir(filepath.Join(dir, entry.Name()))
		}
	}
}

// within reports whether a process that may write in the directories may write
// in the hierarchy of control groups.
func (p *place) within(writable []string) bool {
	for _, dir := range writable {
		dir = realpath.Canonical(dir)
		for _, mount := range p.mounts {
			if realpath.Within(mount, dir) || realpath.Within(dir, mount) {
				return true
			}
		}
	}
	return false
}
