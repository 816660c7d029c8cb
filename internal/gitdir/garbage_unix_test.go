//go:build unix

package gitdir

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func (w world) fifo(name string) {
	w.t.Helper()
	if err := unix.Mkfifo(w.path(name), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// The tests of this file would hang, not fail, if a FIFO were waited for.
func TestGarbageIsSurvived(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(w world)
	}{
		{"a .git that is a FIFO", func(w world) { w.fifo("w/.git") }},
		{"a .git that is empty", func(w world) { w.write("w/.git", "") }},
		{"a .git of zeros", func(w world) { w.write("w/.git", strings.Repeat("\x00", 4096)) }},
		{"a .git that is too long", func(w world) { w.write("w/.git", "gitdir: "+strings.Repeat("x/", maxFile)) }},
		{"a .git that names itself", func(w world) { w.write("w/.git", "gitdir: .git\n") }},
		{"a .git that names a FIFO", func(w world) { w.write("w/.git", "gitdir: f\n"); w.fifo("w/f") }},
		{"a .git that is a link to itself", func(w world) { w.link(".git", "w/.git") }},
		{"a .git that is an empty directory", func(w world) { w.mkdir("w/.git") }},
		{"a repository of FIFOs", func(w world) {
			w.mkdir("w/.git")
			for _, name := range []string{"HEAD", "config", "commondir", "config.worktree", "modules", "worktrees", "info", "hooks"} {
				w.fifo("w/.git/" + name)
			}
		}},
		{"a configuration of garbage", func(w world) {
			w.repository("w")
			w.write("w/.git/config", strings.Repeat("[\"\\\n=", 1000))
		}},
		{"a configuration that is a directory", func(w world) {
			w.repository("w")
			w.remove("w/.git/config")
			w.mkdir("w/.git/config")
		}},
		{"a common directory that is itself", func(w world) { w.repository("w"); w.write("w/.git/commondir", ".\n") }},
		{"two that are each other's common directory", func(w world) {
			w.write("w/.git/commondir", "../b\n")
			w.write("w/b/commondir", "../.git\n")
		}},
		{"links in circles", func(w world) { w.mkdir("w/a"); w.link("..", "w/a/up"); w.link(".", "w/here") }},
		{"modules that are links in circles", func(w world) {
			w.repository("w")
			w.mkdir("w/.git/modules/a")
			w.link("..", "w/.git/modules/a/b")
		}},
		{"modules without an end", func(w world) {
			w.repository("w")
			w.mkdir("w/.git/modules/" + strings.Repeat("d/", 60))
		}},
		{"directories that may not be read", func(w world) {
			w.repository("w")
			w.mkdir("w/closed/x")
			os.Chmod(w.path("w/closed"), 0)
			os.Chmod(w.path("w/.git"), 0)
			w.t.Cleanup(func() { os.Chmod(w.path("w/closed"), 0o700); os.Chmod(w.path("w/.git"), 0o700) })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mkdir("w")
			c.make(w)
			got := Find(w.path("w"))
			if got.Writable != nil {
				t.Errorf("these became writable: %q", got.Writable)
			}
			for _, path := range got.Protected {
				if _, err := os.Lstat(path); err != nil {
					t.Errorf("%s is to be protected and does not exist", path)
				}
			}
		})
	}
}

func TestWhatIsCutIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := w.repository("long")
	w.write("long/.git/config", "[core]\n\trepositoryformatversion = 0\n#"+strings.Repeat("x", maxFile)+"\n[core]\n\thooksPath = h\n")
	if !Find(long).Truncated {
		t.Error("a configuration that was not read to its end is not told")
	}
	many := w.repository("many")
	for i := range maxRepositories {
		w.write(fmt.Sprintf("many/.git/modules/m%d/config", i), "[core]\n")
	}
	if !Find(many).Truncated {
		t.Error("repositories that were not looked at are not told")
	}
}

func TestALinkToARepositoryInsideIsFollowedAndExposed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository("w")
	if err := os.Rename(w.path("w/.git"), w.path("w/store")); err != nil {
		t.Fatal(err)
	}
	w.link("store", "w/.git")
	w.link("elsewhere", "w/store/config.worktree")
	got := Find(w.path("w"))
	w.want(got, Layout{
		Pinned:    []string{"w/store"},
		Protected: []string{"w/store/config", "w/store/hooks"},
		Exposed:   []string{"w/.git", "w/store/commondir", "w/store/config.worktree"},
	})
	if !slices.IsSorted(got.Exposed) {
		t.Error("it is not sorted")
	}
}
