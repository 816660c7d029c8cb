package gitdir

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestADirectoryWithoutARepositoryHasAnEmptyLayout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("d/file", "")
	w.want(Find(w.path("d")), Layout{})
	w.want(Find(w.path("missing")), Layout{})
	w.want(Find("relative"), Layout{})
}

func TestAPlainRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := w.repository("r")
	w.want(Find(root), Layout{
		Pinned:    []string{"r/.git"},
		Protected: []string{"r/.git/config", "r/.git/hooks"},
		Exposed:   []string{"r/.git/commondir"},
	})

	w.remove("r/.git/hooks")
	w.write("r/.git/info/attributes", "* text")
	w.want(Find(root), Layout{
		Pinned:    []string{"r/.git", "r/.git/info"},
		Protected: []string{"r/.git/config", "r/.git/info/attributes"},
		Hooks:     []string{"r/.git/hooks"},
		Exposed:   []string{"r/.git/commondir"},
	})
}

// A command that takes HEAD away must not have the configuration unprotected
// the next time.
func TestARepositoryThatWasBrokenIsStillProtected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := w.repository("r")
	w.git("", "init", "-q", "--bare", "bare")
	for _, name := range []string{"HEAD", "objects", "refs"} {
		w.remove("r/.git/" + name)
		w.remove("bare/" + name)
	}
	for _, path := range []string{"r/.git/config", "r/.git/hooks"} {
		if !slices.Contains(Find(root).Protected, w.path(path)) {
			t.Errorf("%s is not protected", path)
		}
	}
	if !slices.Contains(Find(w.path("bare")).Protected, w.path("bare/config")) {
		t.Error("the configuration of the bare repository is not protected")
	}
}

func TestASubdirectoryOfARepositoryMakesNothingWritable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("r")
	w.want(Find(w.mkdir("r/sub")), Layout{})
}

func TestABareRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.git("", "init", "-q", "--bare", "bare")
	w.want(Find(w.path("bare")), Layout{
		Protected: []string{"bare/config", "bare/hooks"},
		Exposed:   []string{"bare/commondir"},
	})
}

func TestALinkedWorktree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("main")
	w.git("main", "worktree", "add", "-q", "../wt")
	w.git("main", "worktree", "add", "-q", "../other")

	protected := []string{
		"main/.git/config", "main/.git/hooks",
		"main/.git/worktrees/other/commondir", "main/.git/worktrees/other/gitdir",
		"main/.git/worktrees/wt/commondir", "main/.git/worktrees/wt/gitdir",
	}
	pins := []string{"main/.git/worktrees", "main/.git/worktrees/other", "main/.git/worktrees/wt"}
	w.want(Find(w.path("wt")), Layout{
		Writable:  []string{"main/.git"},
		Pinned:    pins,
		Protected: append(slices.Clone(protected), "wt/.git"),
		Exposed:   []string{"main/.git/commondir"},
	})
	// From the main work tree the others are outside and stay read-only.
	w.want(Find(w.path("main")), Layout{
		Pinned:    append([]string{"main/.git"}, pins...),
		Protected: protected,
		Exposed:   []string{"main/.git/commondir"},
	})
}

func TestALinkedWorktreeWithRelativeLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("main")
	w.git("main", "worktree", "add", "-q", "../wt")
	// As worktree.useRelativePaths writes them.
	w.write("wt/.git", "gitdir: ../main/.git/worktrees/wt\n")
	w.write("main/.git/worktrees/wt/gitdir", "../../../../wt/.git\n")
	w.git("wt", "status")
	if got := Find(w.path("wt")).Writable; !slices.Equal(got, []string{w.path("main/.git")}) {
		t.Errorf("writable: %q", got)
	}
}

func TestAWorktreeInsideOfItsRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := w.repository("r")
	w.git("r", "worktree", "add", "-q", "a/b/c/d/e/wt")
	if !slices.Contains(Find(root).Protected, w.path("r/a/b/c/d/e/wt/.git")) {
		t.Error("its .git is not found, however deep it lies")
	}
}

func TestAWorktreeOfABareRepositoryAroundIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("seed")
	w.git("", "clone", "-q", "--bare", "seed", "p")
	w.git("p", "worktree", "add", "-q", "one")
	w.git("p", "worktree", "add", "-q", "two")
	got := Find(w.path("p/one"))
	w.want(got, Layout{
		Writable: []string{"p/objects", "p/refs", "p/worktrees"},
		Pinned:   []string{"p/worktrees/one", "p/worktrees/two"},
		Protected: []string{
			"p/one/.git",
			"p/worktrees/one/commondir", "p/worktrees/one/gitdir",
			"p/worktrees/two/commondir", "p/worktrees/two/gitdir",
		},
	})
}

func TestARepositoryInAHiddenDirectoryBesideItsWorktrees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("seed")
	w.mkdir("p")
	w.git("", "clone", "-q", "--bare", "seed", "p/.bare")
	w.write("p/.git", "gitdir: ./.bare\n")
	w.git("p", "worktree", "add", "-q", "one")
	w.want(Find(w.path("p")), Layout{
		Pinned: []string{"p/.bare", "p/.bare/worktrees", "p/.bare/worktrees/one"},
		Protected: []string{
			"p/.bare/config", "p/.bare/hooks",
			"p/.bare/worktrees/one/commondir", "p/.bare/worktrees/one/gitdir",
			"p/.git", "p/one/.git",
		},
		Exposed: []string{"p/.bare/commondir"},
	})
	if got := Find(w.path("p/one")).Writable; !slices.Equal(got, []string{w.path("p/.bare")}) {
		t.Errorf("from a work tree these are writable: %q", got)
	}
}

func TestSubmodules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("inner")
	w.repository("middle")
	w.git("middle", "submodule", "--quiet", "add", "../inner", "deep/inner")
	w.git("middle", "commit", "-q", "-m", "inner")
	w.repository("super")
	w.git("super", "submodule", "--quiet", "add", "../middle", "a/b/c/d/middle")
	w.git("super", "submodule", "--quiet", "update", "--init", "--recursive")

	const middle, inner = ".git/modules/a/b/c/d/middle", ".git/modules/a/b/c/d/middle/modules/deep/inner"
	got := Find(w.path("super"))
	for _, path := range []string{
		"a/b/c/d/middle/.git", "a/b/c/d/middle/deep/inner/.git",
		middle + "/config", middle + "/hooks", inner + "/config", inner + "/hooks",
	} {
		if !slices.Contains(got.Protected, w.path("super/"+path)) {
			t.Errorf("%s is not protected", path)
		}
	}
	for _, path := range []string{".git/modules", ".git/modules/a", middle, middle + "/modules", inner} {
		if !slices.Contains(got.Pinned, w.path("super/"+path)) {
			t.Errorf("%s is not pinned", path)
		}
	}
	if got.Writable != nil {
		t.Errorf("writable: %q", got.Writable)
	}

	// A submodule is a root too.
	w.want(Find(w.path("super/a/b/c/d/middle/deep/inner")), Layout{
		Writable:  []string{"super/" + inner},
		Protected: []string{"super/" + inner + "/config", "super/" + inner + "/hooks", "super/a/b/c/d/middle/deep/inner/.git"},
		Exposed:   []string{"super/" + inner + "/commondir"},
	})
}

func TestASubmoduleWhoseWorkTreeIsInItsOwnConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("inner")
	w.repository("super")
	w.git("super", "submodule", "--quiet", "add", "../inner", "sub")
	w.git("super/sub", "sparse-checkout", "set", "x") // moves core.worktree to config.worktree
	if out := w.git("super/sub", "config", "--file", "../.git/modules/sub/config.worktree", "core.worktree"); out == "" {
		t.Skip("this git leaves core.worktree where it was")
	}
	got := Find(w.path("super/sub"))
	if !slices.Equal(got.Writable, []string{w.path("super/.git/modules/sub")}) {
		t.Errorf("writable: %q", got.Writable)
	}
	if !slices.Contains(got.Protected, w.path("super/.git/modules/sub/config.worktree")) {
		t.Errorf("protected: %q", got.Protected)
	}
}

func TestWorktreeConfigurationIsExposedWhileItIsAbsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := w.repository("r")
	w.git("r", "config", "extensions.worktreeConfig", "true")
	w.git("r", "worktree", "add", "-q", "../wt")
	w.want(Find(root), Layout{
		Pinned:    []string{"r/.git", "r/.git/worktrees", "r/.git/worktrees/wt"},
		Protected: []string{"r/.git/config", "r/.git/hooks", "r/.git/worktrees/wt/commondir", "r/.git/worktrees/wt/gitdir"},
		Exposed:   []string{"r/.git/commondir", "r/.git/config.worktree", "r/.git/worktrees/wt/config.worktree"},
	})
}

func TestNestedClonesAreFoundNearTheRoot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("w/a")
	w.repository("w/a/b/c")
	w.repository("w/x/y/z/deep")
	w.repository("w/node_modules/m")
	find := func(s Search) (found []string) {
		for _, path := range s.Find(w.path("w")).Pinned {
			found = append(found, strings.TrimPrefix(path, w.top+"/w/"))
		}
		return found
	}
	for _, c := range []struct {
		name   string
		search Search
		want   []string
	}{
		{"with the usual bounds", Search{}, []string{"a/.git", "a/b/c/.git"}},
		{"one level", Search{Depth: 1}, []string{"a/.git"}},
		{"none", Search{Depth: -1}, nil},
		{"four levels", Search{Depth: 4}, []string{"a/.git", "a/b/c/.git", "x/y/z/deep/.git"}},
		{"a bound on entries", Search{Depth: 4, Entries: 3}, []string{"a/.git"}},
	} {
		if got := find(c.search); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mkdir("w/.claude")
	w.mkdir("w/.vscode")
	w.write("w/.envrc", "")
	w.mkdir("w/settings/cursor")
	w.link("settings/cursor", "w/.cursor")
	w.link("/etc/passwd", "w/.mcp.json")
	got := Tools(w.path("w"))
	want := []string{w.path("w/.claude"), w.path("w/.envrc"), w.path("w/.vscode"), w.path("w/settings/cursor")}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// GITDIR_BENCH_ROOT names another directory than this source tree.
func BenchmarkFind(b *testing.B) {
	root := os.Getenv("GITDIR_BENCH_ROOT")
	if root == "" {
		root, _ = filepath.Abs("../..")
	}
	for b.Loop() {
		Find(root)
	}
}

// It would walk through /proc.
func TestTheRootOfTheSystemIsNotSearched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repository := w.repository("r") + "/.git"
	if got := (Search{Depth: 6, Entries: 1 << 20}).Find("/"); got.Writable != nil || slices.Contains(got.Pinned, repository) {
		t.Errorf("it was searched down to %s", repository)
	}
}
