package realpath_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hardshell/internal/realpath"
)

func TestReach(t *testing.T) {
	t.Parallel()
	top := tree(t)
	for _, c := range []struct {
		name, path, want string
		errno            error
	}{
		{"a directory is itself", top + "/a", top + "/a", nil},
		{"a link is its target", top + "/l/file", top + "/a/b/file", nil},
		{"a link whose target passes through .. after a link", top + "/up", top + "/a/b", nil},
		{"dots and slashes vanish", top + "//a/./b/", top + "/a/b", nil},
		{"what is missing ends where it is missing", top + "/l/../none/x", top + "/a", fs.ErrNotExist},
		{"a file is no directory", top + "/l/file/x", top + "/a/b/file", syscall.ENOTDIR},
		{"a loop ends where it begins", top + "/loop/x", top, syscall.ELOOP},
		{"a name that is too long", top + "/" + strings.Repeat("x", 300), top, syscall.ENAMETOOLONG},
		{"the root", "/..", "/", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := realpath.Reach(c.path)
			if got != c.want || !errors.Is(err, c.errno) {
				t.Errorf("Reach(%q) is %q, %v; want %q, %v", c.path, got, err, c.want, c.errno)
			}
			if c.errno != nil && !realpath.LeadsNowhere(err) {
				t.Errorf("%v does not count as leading nowhere", err)
			}
		})
	}
}

func TestReachStopsAtADirectoryThatCannotBeEntered(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("skipped: root enters every directory")
	}
	top := tree(t)
	if err := os.Chmod(filepath.Join(top, "a"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(top, "a"), 0o700) })
	got, err := realpath.Reach(top + "/l/file")
	if got != top+"/a" || !errors.Is(err, fs.ErrPermission) || realpath.LeadsNowhere(err) {
		t.Errorf("Reach is %q, %v; want %q, %v", got, err, top+"/a", fs.ErrPermission)
	}
}
