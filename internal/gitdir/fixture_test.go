package gitdir

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// world is a directory in which the tests make repositories with git.
type world struct {
	t   *testing.T
	top string
}

func newWorld(t *testing.T) world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return world{t, top}
}

func (w world) path(name string) string { return filepath.Join(w.top, name) }

// git runs git in dir, free of the machine's own configuration.
func (w world) git(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.tryGit(dir, args...)
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func (w world) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{
		"-c", "user.name=n", "-c", "user.email=e@x", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main",
	}, args...)...)
	cmd.Dir = w.path(dir)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// repository makes a repository with one commit.
func (w world) repository(name string) string {
	w.t.Helper()
	w.git("", "init", "-q", name)
	w.git(name, "commit", "-q", "--allow-empty", "-m", "first")
	return w.path(name)
}

func (w world) mkdir(name string) string {
	w.t.Helper()
	if err := os.MkdirAll(w.path(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	return w.path(name)
}

func (w world) write(name, content string) {
	w.t.Helper()
	w.mkdir(filepath.Dir(name))
	if err := os.WriteFile(w.path(name), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) link(target, name string) {
	w.t.Helper()
	if err := os.Symlink(target, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) remove(name string) {
	w.t.Helper()
	if err := os.RemoveAll(w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// want compares a layout with one whose paths are relative to the world.
func (w world) want(got, want Layout) {
	w.t.Helper()
	rename := func(paths []string) []string {
		var out []string
		for _, path := range paths {
			rel, ok := strings.CutPrefix(path, w.top+"/")
			if !ok {
				w.t.Errorf("%s is outside of everything", path)
			}
			out = append(out, rel)
		}
		return out
	}
	got = Layout{
		Writable: rename(got.Writable), Pinned: rename(got.Pinned), Protected: rename(got.Protected),
		Hooks: rename(got.Hooks), Exposed: rename(got.Exposed), Truncated: got.Truncated,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("the layout differs (-want +got):\n%s", diff)
	}
}
