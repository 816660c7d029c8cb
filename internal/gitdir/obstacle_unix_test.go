//go:build unix

package gitdir

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
)

// asOrdinaryUser runs the calling test again as an ordinary user when it is
// root's, and reports whether that was so. Root enters every directory.
func asOrdinaryUser(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	t.Parallel()
	dir, err := os.MkdirTemp("/var/tmp", "gitdir-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	if err := errors.Join(os.Chmod(dir, 0o777), os.WriteFile(dir+"/test", binary, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(dir+"/test", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}

func TestWhatCannotBeLookedIntoIsProtectedAsAWhole(t *testing.T) {
	if asOrdinaryUser(t) {
		return
	}
	for _, c := range []struct {
		name, closed string // a path below the root
		mode         fs.FileMode
		obstacle     bool
	}{
		{"a repository that cannot be entered", "repo/.git", 0, true},
		{"a repository that can be listed and not entered", "repo/.git", 0o400, true},
		{"the directory of linked work trees that cannot be listed", "repo/.git/worktrees", 0o300, true},
		{"the directory of a linked work tree", "repo/.git/worktrees/linked", 0, true},
		{"the directory of the submodules", "repo/.git/modules", 0, true},
		{"a configuration that cannot be read", "repo/.git/included", 0, true},
		{"the parent of the user's own configuration", "repo/.config", 0, true},
		{"the directory of the attributes", "repo/.git/info", 0, false},
		{"the parent of what core.hooksPath names", "repo/parent", 0, false},
		{"a directory that may hold a clone", "repo/clone", 0, false},
		{"a directory that may hold a clone and cannot be listed", "repo/clone", 0o100, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.repository("repo")
			w.git("repo", "config", "core.hooksPath", "parent/hooks")
			w.git("repo", "config", "include.path", "included")
			for _, dir := range []string{"repo/parent/hooks", "repo/.git/worktrees/linked", "repo/.git/info", "repo/.git/modules/sub", "repo/clone", "repo/.config/git"} {
				w.mkdir(dir)
			}
			w.write("repo/.git/included", "")
			w.write("repo/.config/git/config", "")
			closed := w.path(c.closed)
			if err := os.Chmod(closed, c.mode); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(closed, 0o700) })
			layout := Search{Configs: []string{w.path("repo/.config/git/config")}}.Find(w.path("repo"))
			if !slices.Contains(layout.Protected, closed) {
				t.Errorf("protected are %v, want %s among them", layout.Protected, closed)
			}
			if obstacle := layout.Obstacle; (obstacle != nil) != c.obstacle || c.obstacle && obstacle.Path != closed {
				t.Errorf("the obstacle is %v", obstacle)
			}
			if below(closed, layout.Writable) || slices.Contains(layout.Pinned, closed) {
				t.Errorf("it is also pinned or writable: %v %v", layout.Pinned, layout.Writable)
			}
		})
	}
}

func TestARootThatCannotBeLookedIntoIsAnObstacle(t *testing.T) {
	if asOrdinaryUser(t) {
		return
	}
	for _, mode := range []fs.FileMode{0, 0o300, 0o600} {
		w := newWorld(t)
		w.repository("repo")
		w.mkdir("repo/sub")
		if err := os.Chmod(w.path("repo"), mode); err != nil {
			t.Fatal(err)
		}
		layout := Find(w.path("repo"))
		os.Chmod(w.path("repo"), 0o700)
		if layout.Obstacle == nil || layout.Obstacle.Path != w.path("repo") || !errors.Is(layout.Obstacle, fs.ErrPermission) {
			t.Errorf("mode %o: the obstacle is %v, want %s", mode, layout.Obstacle, w.path("repo"))
		}
	}
}
