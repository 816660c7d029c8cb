package gitdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hardshell/internal/realpath"
)

const (
	// maxRepositories bounds the repositories that are looked at.
	maxRepositories = 512
	// maxEntries bounds what is listed of modules and worktrees.
	maxEntries = 4096
	// maxNesting bounds the levels of a submodule's name, which may have slashes.
	maxNesting = 8
	// maxIncludes bounds the configuration files of one repository.
	maxIncludes = 64
)

// enter reports whether the repository dir is to be looked at, and pins it.
func (f *finder) enter(dir string) bool {
	if f.seen[dir] || !f.inside(dir) {
		return false
	}
	if len(f.seen) >= maxRepositories {
		f.layout.Truncated = true
		return false
	}
	f.seen[dir] = true
	return dir == f.root || f.pinned(dir)
}

// repository guards the repository in the directory dir. Its work tree, ""
// when unknown, is what a relative core.hooksPath is taken from.
func (f *finder) repository(dir, workTree string) {
	// git takes configuration and hooks from the directory that this file
	// names, in every repository that has one (gitrepository-layout(5)).
	// One that names the directory itself changes nothing.
	if f.exists(filepath.Join(dir, "commondir")) {
		common, err := commonDirectory(dir)
		f.unknown(err)
		if err != nil || common != dir {
			f.linked(dir)
			return
		}
	}
	if !f.enter(dir) {
		return
	}
	f.guard(filepath.Join(dir, "commondir"))
	f.guard(filepath.Join(dir, "config"))
	f.hooks(dir)
	if attributes := filepath.Join(dir, "info", "attributes"); f.exists(attributes) && f.pinned(filepath.Join(dir, "info")) {
		f.guard(attributes)
	}
	config := f.readConfig(filepath.Join(dir, "config"))
	perWorkTree, _ := last(config, "extensions", "worktreeconfig")
	f.workTreeConfig(dir, isTrue(perWorkTree))
	if perWorkTree != "" {
		config = append(config, f.readConfig(filepath.Join(dir, "config.worktree"))...)
	}
	if named, ok := last(config, "core", "worktree"); ok {
		if real, ok := f.resolve(realpath.Join(dir, expandHome(named))); ok {
			workTree = real
			f.gitFile(filepath.Join(workTree, ".git"))
		}
	}
	workTrees := append(f.linkedWorkTrees(dir, isTrue(perWorkTree)), workTree)
	f.configured(dir, config, workTrees)
	f.modules(filepath.Join(dir, "modules"), 0)
}

// linked guards a directory that shares the repository of another one.
func (f *finder) linked(dir string) {
	if !f.enter(dir) {
		return
	}
	f.guard(filepath.Join(dir, "commondir"))
	f.guardExisting(filepath.Join(dir, "gitdir"))
	f.guardExisting(filepath.Join(dir, "config.worktree"))
	f.modules(filepath.Join(dir, "modules"), 0)
	common, err := commonDirectory(dir)
	f.unknown(err)
	if err == nil {
		f.repository(common, "")
	}
}

// workTreeConfig guards the configuration of one work tree. git reads it only
// if the repository says so; otherwise it may be absent without danger.
func (f *finder) workTreeConfig(dir string, enabled bool) {
	path := filepath.Join(dir, "config.worktree")
	if enabled {
		f.guard(path)
	} else {
		f.guardExisting(path)
	}
}

// hooks guards the hooks of the repository dir. Something that has no
// configuration is no repository, and nothing is to be created in it.
func (f *finder) hooks(dir string) {
	switch hooks := filepath.Join(dir, "hooks"); {
	case f.exists(hooks):
		f.guard(hooks)
	case f.exists(filepath.Join(dir, "config")):
		f.layout.Hooks = append(f.layout.Hooks, hooks)
	default:
		f.layout.Exposed = append(f.layout.Exposed, hooks)
	}
}

// linkedWorkTrees guards what a repository knows of its linked work trees, and
// returns their directories as far as those are inside of a writable place.
func (f *finder) linkedWorkTrees(dir string, perWorkTree bool) (workTrees []string) {
	parent := filepath.Join(dir, "worktrees")
	if !f.pinned(parent) {
		return nil
	}
	for _, e := range f.list(parent) {
		admin := filepath.Join(parent, e.Name())
		if !e.IsDir() {
			continue
		}
		f.workTreeConfig(admin, perWorkTree)
		if f.exists(filepath.Join(admin, "commondir")) {
			f.linked(admin)
		}
		workTree, err := backLink(admin)
		f.unknown(err)
		if err == nil {
			if real, ok := f.resolve(workTree); ok && f.inside(real) {
				workTrees = append(workTrees, real)
				f.gitFile(filepath.Join(real, ".git"))
			}
		}
	}
	return workTrees
}

// gitFile guards the .git file of a work tree that a repository names.
func (f *finder) gitFile(path string) {
	if info, ok := f.lstat(path); ok && info.Mode().IsRegular() && f.inside(path) {
		f.guard(path)
	}
}

// modules guards the repositories of submodules. Their names, and so their
// directories, may have slashes.
func (f *finder) modules(dir string, nesting int) {
	if nesting > maxNesting {
		f.layout.Truncated = true
		return
	}
	if !f.pinned(dir) {
		return
	}
	for _, e := range f.list(dir) {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			f.layout.Exposed = append(f.layout.Exposed, path)
		case !e.IsDir():
		case f.exists(filepath.Join(path, "HEAD")) || f.exists(filepath.Join(path, "config")):
			f.repository(path, "")
		default:
			f.modules(path, nesting+1)
		}
	}
}

// list lists a directory of a repository.
func (f *finder) list(dir string) []os.DirEntry {
	entries, err := list(dir, maxEntries+1)
	f.unknown(err)
	if len(entries) > maxEntries {
		f.layout.Truncated = true
		entries = entries[:maxEntries]
	}
	return entries
}

// readConfig reads what can be read of a configuration.
func (f *finder) readConfig(path string) []entry {
	data, whole, err := readFile(path)
	f.unknown(err)
	if err != nil {
		if !realpath.LeadsNowhere(err) && !errors.Is(err, errNotRegular) {
			f.layout.Truncated = true // what it names is not known
		}
		return nil
	}
	if !whole {
		f.layout.Truncated = true
	}
	entries, _ := parseConfig(data)
	return entries
}

// configured guards what the configuration of the repository dir names:
// further configurations, and directories of hooks, which are taken from each
// work tree.
func (f *finder) configured(dir string, config []entry, workTrees []string) {
	type file struct {
		entries []entry
		dir     string
	}
	queue := []file{{config, dir}}
	for _, path := range f.search.Configs {
		if real, err := realpath.Resolve(path); err == nil {
			queue = append(queue, file{f.readConfig(real), filepath.Dir(real)})
		}
	}
	top := workTrees[len(workTrees)-1]
	for i, visited := 0, map[string]bool{}; i < len(queue); i++ {
		for _, e := range queue[i].entries {
			path := expandHome(e.value)
			if path == "" {
				continue
			}
			switch {
			case e.section == "core" && e.name == "hookspath":
				for _, workTree := range workTrees {
					if workTree != "" || filepath.IsAbs(path) {
						f.guardNamed(realpath.Join(workTree, path), workTree)
					}
				}
			case e.name == "path" && (e.section == "include" || e.section == "includeif"):
				included := realpath.Join(queue[i].dir, path)
				f.guardNamed(included, top)
				real, err := realpath.Resolve(included)
				f.unknown(err)
				if err != nil || visited[real] {
					continue
				}
				if len(visited) >= maxIncludes {
					f.layout.Truncated = true
					continue
				}
				visited[real] = true
				queue = append(queue, file{f.readConfig(real), filepath.Dir(real)})
			}
		}
	}
}

// expandHome expands a path of a configuration (git-config(1), "pathname").
// Those of other users and of git's installation are none of ours: "".
func expandHome(path string) string {
	path = strings.TrimPrefix(path, ":(optional)")
	if strings.HasPrefix(path, "%(prefix)") {
		return ""
	}
	if !strings.HasPrefix(path, "~") {
		return path
	}
	rest, ok := strings.CutPrefix(path, "~/")
	home, err := os.UserHomeDir()
	if path == "~" {
		rest, ok = "", true
	}
	if err != nil || !ok {
		return ""
	}
	return realpath.Join(home, rest)
}
