package gitdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hardshell/internal/realpath"
)

// workTree guards the .git of a work tree: a directory, a file that names one,
// or a link to either. Only for the root of the search a named directory
// outside of it can become writable.
func (f *finder) workTree(dir string) {
	path := filepath.Join(dir, ".git")
	info, ok := f.lstat(path)
	if !ok {
		return
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		f.layout.Exposed = append(f.layout.Exposed, path)
		real, ok := f.resolve(path)
		if !ok || !f.inside(real) {
			return
		}
		if info, ok = f.lstat(real); !ok {
			return
		}
		path = real
	}
	switch {
	case info.IsDir():
		f.repository(path, dir)
	case info.Mode().IsRegular():
		f.layout.Protected = append(f.layout.Protected, path)
		f.named(path, dir)
	}
}

// named follows the .git file of the work tree dir.
func (f *finder) named(path, dir string) {
	target, err := gitFileTarget(path)
	f.unknown(err)
	if err != nil {
		return
	}
	real, err := realpath.Resolve(realpath.Join(dir, target))
	f.unknown(err)
	switch {
	case err != nil:
	case f.inside(real):
		if isDirectory(real) {
			f.repository(real, dir)
		}
	case dir == f.root:
		f.outside(real)
	}
}

// outside makes the directory of a repository outside of the root writable if
// it says itself that the root is its work tree.
func (f *finder) outside(dir string) {
	if common, err := commonDirectory(dir); err == nil {
		if !belongsTo(dir, common) || !isRepository(common) || !linksBack(dir, f.root) {
			return
		}
		if !realpath.Within(f.root, common) {
			f.grant(common)
			f.repository(common, "")
			return
		}
		// The root lies in a bare repository. Making that writable would open
		// the work trees beside the root, and so only the parts that commands
		// in a linked work tree write to are.
		for _, name := range []string{"logs", "objects", "refs", "reftable", "worktrees"} {
			if part := filepath.Join(common, name); isRealDirectory(part) && !realpath.Within(f.root, part) {
				f.grant(part)
			}
		}
		f.linkedWorkTrees(common, false)
		return
	}
	if isRepository(dir) && !realpath.Within(f.root, dir) && isWorkTreeOf(dir, f.root) {
		f.grant(dir)
		f.repository(dir, f.root)
	}
}

func (f *finder) grant(dir string) {
	f.places = append(f.places, dir)
	f.layout.Writable = append(f.layout.Writable, dir)
}

func isRealDirectory(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// errNoPath is a file that should hold a path and does not.
var errNoPath = errors.New("it holds no path")

// gitFileTarget returns the path in a .git file, as it is written there.
func gitFileTarget(path string) (string, error) {
	return readPath(path, parseGitFile)
}

// readPath reads a file that holds a path.
func readPath(path string, parse func([]byte) (string, bool)) (string, error) {
	data, whole, err := readFile(path)
	if err != nil {
		return "", err
	}
	target, ok := parse(data)
	if !ok || !whole {
		return "", errNoPath
	}
	return target, nil
}

// parseGitFile reads a .git file: gitrepository-layout(5).
func parseGitFile(data []byte) (string, bool) {
	target, ok := strings.CutPrefix(string(data), "gitdir: ")
	if !ok {
		return "", false
	}
	return parsePath([]byte(target))
}

// parsePath reads a file that holds one path and an end of line.
func parsePath(text []byte) (string, bool) {
	path := strings.TrimRight(string(text), "\r\n")
	if path == "" || strings.ContainsAny(path, "\x00\n") {
		return "", false
	}
	return path, true
}

// commonDirectory returns the real path of the directory that dir shares the
// repository of.
func commonDirectory(dir string) (string, error) {
	path, err := readPath(filepath.Join(dir, "commondir"), parsePath)
	if err != nil {
		return "", err
	}
	return realpath.Resolve(realpath.Join(dir, path))
}

// belongsTo reports whether dir is where the repository common keeps one of
// its linked work trees. Without this a forged "commondir" could name any
// repository.
func belongsTo(dir, common string) bool {
	return filepath.Dir(dir) == filepath.Join(common, "worktrees")
}

// backLink returns the work tree, unresolved, whose .git file dir, the
// directory of a linked work tree, names as its own.
func backLink(dir string) (string, error) {
	path, err := readPath(filepath.Join(dir, "gitdir"), parsePath)
	if err != nil {
		return "", err
	}
	// Cut off as text: filepath.Dir would also clean away a ".." behind a link.
	workTree, ok := strings.CutSuffix(path, "/.git")
	if !ok {
		return "", errNoPath
	}
	return realpath.Join(dir, workTree), nil
}

// linksBack reports whether dir names the .git file of root as its own.
func linksBack(dir, root string) bool {
	workTree, err := backLink(dir)
	return err == nil && sameDirectory(dir, workTree, root)
}

// isWorkTreeOf reports whether the repository dir, a submodule's for instance,
// says that root is its work tree. Nothing that it includes is asked.
func isWorkTreeOf(dir, root string) bool {
	config, ok := trustedConfig(filepath.Join(dir, "config"))
	if !ok {
		return false
	}
	if enabled, ok := last(config, "extensions", "worktreeconfig"); ok && isTrue(enabled) {
		own, ok := trustedConfig(filepath.Join(dir, "config.worktree"))
		if !ok {
			return false
		}
		config = append(config, own...)
	}
	workTree, ok := last(config, "core", "worktree")
	return ok && sameDirectory(dir, expandHome(workTree), root)
}

// trustedConfig reads a configuration of which all must be understood.
func trustedConfig(path string) ([]entry, bool) {
	data, whole, err := readFile(path)
	if err != nil || !whole {
		return nil, false
	}
	return parseConfig(data)
}
