package gitdir

import (
	"path/filepath"
	"strings"
	"testing"
)

// The content of the workspace is a command's: it must not be able to make
// anything outside writable by what it writes there.
func TestAWorkspaceCannotMakeItsSurroundingsWritable(t *testing.T) {
	for _, c := range []struct {
		name  string
		forge func(w world)
	}{
		{"by a .git file that names a repository", func(w world) {
			w.write("w/.git", "gitdir: ../victim/.git\n")
		}},
		{"by a .git file that names the linked work tree of another", func(w world) {
			w.git("victim", "worktree", "add", "-q", "../wt")
			w.write("w/.git", "gitdir: ../victim/.git/worktrees/wt\n")
		}},
		{"by a .git file that names a submodule of another", func(w world) {
			w.repository("inner")
			w.git("victim", "submodule", "--quiet", "add", "../inner", "sub")
			w.write("w/.git", "gitdir: ../victim/.git/modules/sub\n")
		}},
		{"by a .git file that names the home", func(w world) {
			w.write("w/.git", "gitdir: ..\n")
		}},
		{"by a link", func(w world) {
			w.link("../victim/.git", "w/.git")
		}},
		{"by a link to a .git file outside", func(w world) {
			w.git("victim", "worktree", "add", "-q", "../wt")
			w.link("../wt/.git", "w/.git")
		}},
		{"by a common directory of its own .git", func(w world) {
			w.repository("w")
			w.write("w/.git/commondir", "../../victim/.git\n")
		}},
		{"by a forged linked work tree inside of itself", func(w world) {
			w.write("w/.git", "gitdir: forged/worktrees/w\n")
			w.write("w/forged/worktrees/w/HEAD", "ref: refs/heads/main\n")
			w.write("w/forged/worktrees/w/commondir", "../../../../victim/.git\n")
			w.write("w/forged/worktrees/w/gitdir", w.path("w/.git")+"\n")
		}},
		{"by a nested .git file, which is nobody's root", func(w world) {
			w.git("victim", "worktree", "add", "-q", "../w/wt")
		}},
		{"by a configuration that names a work tree outside", func(w world) {
			w.repository("w")
			w.git("w", "config", "core.worktree", w.path("victim"))
		}},
		{"by a repository inside whose linked work trees are outside", func(w world) {
			w.repository("w")
			w.git("w", "worktree", "add", "-q", "../wt")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.repository("victim")
			w.mkdir("w")
			c.forge(w)
			got := Find(w.path("w"))
			if got.Writable != nil {
				t.Errorf("these became writable: %q", got.Writable)
			}
			for _, paths := range [][]string{got.Pinned, got.Protected, got.Hooks} {
				for _, path := range paths {
					if !strings.HasPrefix(path, w.path("w")+"/") {
						t.Errorf("%s is outside", path)
					}
				}
			}
		})
	}
}

// What another writable place holds may be forged as well: both ends of a link
// must agree, and the common directory must own the one that names it.
func TestAForgedRepositoryOutsideDoesNotBorrowAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		forge func(w world)
	}{
		{"with a common directory that does not own it", func(w world) {
			w.write("other/worktrees/w/commondir", "../../../victim/.git\n")
		}},
		{"with a common directory that is no repository", func(w world) {
			w.write("other/worktrees/w/commondir", "../..\n")
		}},
		{"with a common directory reached by a link", func(w world) {
			w.link("../victim/.git", "other/link")
			w.write("other/worktrees/w/commondir", "../../link\n")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.repository("victim")
			w.mkdir("other")
			w.write("w/.git", "gitdir: ../other/worktrees/w\n")
			w.write("other/worktrees/w/gitdir", w.path("w/.git")+"\n")
			c.forge(w)
			if got := Find(w.path("w")).Writable; got != nil {
				t.Errorf("these became writable: %q", got)
			}
		})
	}
}

func TestABackLinkMustNameTheRoot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, link string
		writable   bool
	}{
		{"by its path", "TOP/wt/.git\n", true},
		{"by a path through a link", "TOP/alias/.git\n", true},
		{"without an end of line", "TOP/wt/.git", true},
		{"not another directory", "TOP/main/.git\n", false},
		{"not one below it", "TOP/wt/sub/.git\n", false},
		{"not another file of it", "TOP/wt/.gitx\n", false},
		{"not through what is absent", "TOP/no/../wt/.git\n", false},
		{"not with a second line", "TOP/wt/.git\nTOP/wt/.git\n", false},
		{"not by nothing", "\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.repository("main")
			w.git("main", "worktree", "add", "-q", "../wt")
			w.link("wt", "alias")
			w.mkdir("wt/sub")
			w.write("main/.git/worktrees/wt/gitdir", strings.ReplaceAll(c.link, "TOP", w.top))
			if got := Find(w.path("wt")).Writable != nil; got != c.writable {
				t.Errorf("the common directory is writable: %v", got)
			}
		})
	}
}

func TestASubmoduleMustNameTheRoot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, config string
		writable     bool
	}{
		{"relative to its repository", "[core]\nworktree = ../../../sub\n", true},
		{"by an absolute path", "[core]\nworktree = TOP/super/sub\n", true},
		{"with the last line counting", "[core]\nworktree = /\nworktree = ../../../sub\n", true},
		{"not with another line last", "[core]\nworktree = ../../../sub\nworktree = /\n", false},
		{"not by a configuration that it includes", "[include]\npath = trust\n", false},
		{"not in another section", "[core \"x\"]\nworktree = ../../../sub\n", false},
		{"not in a configuration that git would refuse", "[core]\nworktree = ../../../sub\n?\n", false},
		{"not in one that is too long to be read", "[core]\nworktree = ../../../sub\n#" + strings.Repeat("x", maxFile), false},
		{"not without saying so", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.repository("inner")
			w.repository("super")
			w.git("super", "submodule", "--quiet", "add", "../inner", "sub")
			w.write("super/.git/modules/sub/trust", "[core]\nworktree = ../../../sub\n")
			w.write("super/.git/modules/sub/config", strings.ReplaceAll(c.config, "TOP", w.top))
			if got := Find(w.path("super/sub")).Writable != nil; got != c.writable {
				t.Errorf("the repository is writable: %v", got)
			}
		})
	}
}

// Git obeys a "commondir" that appears in a plain repository, which is why its
// absence is told.
func TestGitObeysWhatIsExposed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("r")
	w.repository("evil")
	w.git("evil", "config", "user.marker", "evil")
	exposed := Find(w.path("r")).Exposed
	if len(exposed) != 1 || filepath.Base(exposed[0]) != "commondir" {
		t.Fatalf("exposed: %q", exposed)
	}
	w.write("r/.git/commondir", "../../evil/.git\n")
	if got := strings.TrimSpace(w.git("r", "config", "user.marker")); got != "evil" {
		t.Errorf("git reads %q: it does not obey any more, and Exposed can do without", got)
	}
}
