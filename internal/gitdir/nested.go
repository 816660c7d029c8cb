package gitdir

import (
	"path/filepath"
	"slices"
)

// skipped are directories that hold what tools generate, in great numbers.
var skipped = map[string]bool{
	".git": true, "node_modules": true, ".venv": true, "venv": true,
	"__pycache__": true, ".tox": true, ".cache": true,
}

// nested guards the repositories of clones inside of the work tree, those near
// the root first. The directories on the way to them are not pinned: renaming
// one away and making a new one is no more than making a new repository, which
// nothing prevents, and a pin would make renames across it fail with EXDEV.
func (f *finder) nested() {
	if f.root == filepath.Dir(f.root) {
		return // a whole system, with /proc and automounts
	}
	level := []string{f.root}
	left := f.search.Entries
	for depth := 0; depth < f.search.Depth && left > 0; depth++ {
		var next []string
		for _, dir := range level {
			entries, err := list(dir, left)
			f.unseen(err)
			left -= len(entries)
			for _, e := range entries {
				if !e.IsDir() || skipped[e.Name()] {
					continue
				}
				child := filepath.Join(dir, e.Name())
				if f.seen[child] {
					continue
				}
				f.workTree(child)
				next = append(next, child)
			}
			if left <= 0 {
				break
			}
		}
		level = next
	}
}

// toolFiles configure agents, editors and shells: what they say is run by
// whoever opens the directory next.
var toolFiles = []string{".claude", ".codex", ".cursor", ".vscode", ".mcp.json", ".envrc"}

// ToolNames returns the names of such files and directories.
func ToolNames() []string { return slices.Clone(toolFiles) }

// Tools returns the existing files and directories directly below root that
// make other tools run programs, as real paths. One that is a link to outside
// of root is left out.
func Tools(root string) []string {
	f := &finder{root: root, places: []string{root}}
	for _, name := range toolFiles {
		f.guardExisting(filepath.Join(root, name))
	}
	return f.reduced().Protected
}
