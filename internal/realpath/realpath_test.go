package realpath_test

import (
	"os"
	"path/filepath"
	"testing"

	"hardshell/internal/realpath"
)

// tree makes a/b, the link l to a/b, the link loop to itself, the link up to a
// path through "..", and a file in a/b. It returns the real path of its top.
func tree(t *testing.T) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(top, "a", "b"), 0o700))
	must(os.WriteFile(filepath.Join(top, "a", "b", "file"), nil, 0o600))
	must(os.Symlink(filepath.Join("a", "b"), filepath.Join(top, "l")))
	must(os.Symlink("loop", filepath.Join(top, "loop")))
	must(os.Symlink("l/../b", filepath.Join(top, "up")))
	return top
}

func TestCanonical(t *testing.T) {
	top := tree(t)
	t.Chdir(top)
	for _, c := range []struct{ name, path, want string }{
		{"a directory is itself", top + "/a", top + "/a"},
		{"a link is its target", top + "/l", top + "/a/b"},
		{"a link before .. is followed", top + "/l/..", top + "/a"},
		{"a link whose target passes through .. after a link", top + "/up", top + "/a/b"},
		{"dots and slashes vanish", top + "//a/./b/", top + "/a/b"},
		{"a file resolves too", top + "/l/file", top + "/a/b/file"},
		{"a relative path becomes absolute", "l/..", top + "/a"},
		{"the working directory", ".", top},
		{"what is missing keeps its spelling", "missing/x", "missing/x"},
		{"what is missing behind a link keeps its spelling", top + "/l/../no", top + "/l/../no"},
		{"a file is no directory", top + "/l/file/..", top + "/l/file/.."},
		{"a loop keeps its spelling", top + "/loop/x", top + "/loop/x"},
		{"a NUL byte keeps its spelling", "a\x00b", "a\x00b"},
		{"nothing is nothing", "", ""},
		{"the root", "/..", "/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := realpath.Canonical(c.path); got != c.want {
				t.Errorf("Canonical(%q) is %q, want %q", c.path, got, c.want)
			}
		})
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, dir string
		want            bool
	}{
		{"a directory is within itself", "/a", "/a", true},
		{"a child is within", "/a/b", "/a", true},
		{"a sibling with the same beginning is not", "/a-evil/b", "/a", false},
		{"a parent is not", "/", "/a", false},
		{"everything is within the root", "/a", "/", true},
		{"nothing is within nothing", "a", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := realpath.Within(c.path, c.dir); got != c.want {
				t.Errorf("Within(%q, %q) is %v", c.path, c.dir, got)
			}
		})
	}
}
