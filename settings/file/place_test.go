package file

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLocate(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err, os.MkdirAll(filepath.Join(top, "a", "b"), 0o700),
		os.Symlink("a/b", filepath.Join(top, "l")),
		os.Symlink("../f.yaml", filepath.Join(top, "a", "b", "up.yaml")),
		os.Symlink("l/../f.yaml", filepath.Join(top, "through.yaml")),
		os.Symlink("gone", filepath.Join(top, "dangling")))
	put(t, filepath.Join(top, "a", "f.yaml"), "")
	for _, c := range []struct{ name, path, want string }{
		{"a file", "a/f.yaml", "a/f.yaml"},
		{"a file behind a linked directory", "l/x.yaml", "a/b/x.yaml"},
		{"a relative link", "a/b/up.yaml", "a/f.yaml"},
		{"a relative link behind a linked directory", "l/up.yaml", "a/f.yaml"},
		{"a link through .. of a link", "through.yaml", "a/f.yaml"},
		{"an absent file", "a/none.yaml", "a/none.yaml"},
		{"an absent directory", "none/x.yaml", "none/x.yaml"},
		{"absent directories behind a link", "l/no/ne/x.yaml", "a/b/no/ne/x.yaml"},
		{"a directory that is a link to nothing", "dangling/x.yaml", ""},
	} {
		at, err := locate(filepath.Join(top, c.path))
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: no error but %s", c.name, at.target)
			}
			continue
		}
		if want := filepath.Join(top, c.want); err != nil || at.target != want {
			t.Errorf("%s: %s, %v, want %s", c.name, at.target, err, want)
		}
	}
	if at, err := locate("/settings.yaml"); err != nil || at.target != "/settings.yaml" {
		t.Errorf("in the root: %v, %v", at, err)
	}
}
