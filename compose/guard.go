package compose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hardshell/internal/fault"
	"hardshell/internal/realpath"
	"hardshell/sandbox"
)

// entry is one name that decides where a path leads.
type entry struct {
	path string // of the directory without links, and the name in it
	link bool
}

// maxEntries is more than any path has that leads somewhere.
const maxEntries = 400

// way returns every name that is looked up on the way to path, through links of
// files and of directories, as far as it exists.
func way(path string) (entries []entry) {
	at, rest := "/", strings.Split(path, "/")
	for len(rest) > 0 && len(entries) < maxEntries {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		here := filepath.Join(at, name)
		info, err := os.Lstat(here)
		link := err == nil && info.Mode()&os.ModeSymlink != 0
		entries = append(entries, entry{here, link})
		if !link {
			at = here // also what is not there yet
			continue
		}
		to, err := os.Readlink(here)
		if err != nil {
			return entries
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return entries
}

// guarded refuses a policy under which a command could change what decides the
// policy of the next: the settings document, the home, and whatever leads to
// either. No command can replace a home that no link leads to, nor what stands
// right in it; further below are caches that commands write to.
//
// What leads there can change at any time: it is looked at for each command.
func (in Surroundings) guarded(p sandbox.Policy) error {
	home := realpath.Canonical(in.Home.Root())
	var deciding []string
	for _, e := range way(in.Home.Root()) {
		if e.link {
			deciding = append(deciding, e.path)
		}
	}
	for _, e := range way(in.document) {
		plain := !e.link && realpath.Within(home, e.path)
		switch {
		case plain, filepath.Dir(e.path) == home:
		case realpath.Within(e.path, home):
			return errGuarded(e.path)
		default:
			deciding = append(deciding, e.path)
		}
	}
	for _, root := range append(slices.Clone(p.WritableRoots), p.WorkspaceRoot) {
		root = realpath.Canonical(root)
		for _, path := range deciding {
			if path != root && realpath.Within(path, root) {
				return errGuarded(path)
			}
		}
	}
	return nil
}

func errGuarded(path string) error {
	return fault.New(fault.InvalidArgument, "a command could change the settings: what leads to them passes %s, which commands may write to; move them, or choose another workspace", path)
}
