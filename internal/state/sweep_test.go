package state

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
)

// plant creates what a listing says, deepest first where the times are set:
// "path" is a file, "path/" a directory; a leading "-" makes it a week old.
func plant(t *testing.T, root string, listing ...string) {
	t.Helper()
	weekAgo := time.Now().Add(-7 * 24 * time.Hour)
	for _, entry := range listing {
		path := filepath.Join(root, strings.TrimPrefix(entry, "-"))
		if strings.HasSuffix(entry, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, entry)
	}
	for _, entry := range listing {
		if old, ok := strings.CutPrefix(entry, "-"); ok {
			if err := os.Chtimes(filepath.Join(root, old), weekAgo, weekAgo); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		before, after []string
		removed       int
	}{
		"nothing to do":                                 {nil, nil, 0},
		"old files go, new ones stay":                   {[]string{"-a", "b"}, []string{"b"}, 1},
		"a directory goes with its last file":           {[]string{"-s/a", "-s/b", "-s/"}, nil, 2},
		"a directory with a new file stays":             {[]string{"-s/a", "s/b", "-s/"}, []string{"s", "s/b"}, 1},
		"a directory that changed lately stays":         {[]string{"-s/a", "s/"}, []string{"s"}, 1},
		"an old empty directory goes":                   {[]string{"-s/"}, nil, 0},
		"a new empty directory stays":                   {[]string{"s/"}, []string{"s"}, 0},
		"directories go from the inside out":            {[]string{"-a/b/c/f", "-a/b/c/", "-a/b/", "-a/"}, nil, 1},
		"a directory with a directory that stays stays": {[]string{"-a/b/f", "a/c/g", "-a/b/", "-a/c/", "-a/"}, []string{"a", "a/c", "a/c/g"}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plant(t, dir, tt.before...)
			removed, err := Sweep(dir, 6*24*time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			if got := tree(t, dir); !slices.Equal(got, tt.after) || removed != tt.removed {
				t.Errorf("%d removed, %v left; want %d and %v", removed, got, tt.removed, tt.after)
			}
		})
	}
}

func TestSweepNeverFollowsALink(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	plant(t, outside, "-precious", "-dir/precious", "-dir/")
	dir := t.TempDir()
	symlink(t, filepath.Join(outside, "precious"), filepath.Join(dir, "filelink"))
	symlink(t, outside, filepath.Join(dir, "dirlink"))
	plant(t, dir, "-old")
	if removed, err := Sweep(dir, 0); err != nil || removed != 1 {
		t.Errorf("%d removed, %v", removed, err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"dirlink", "filelink"}) {
		t.Errorf("the links: %v", got)
	}
	link := filepath.Join(t.TempDir(), "link")
	symlink(t, outside, link)
	if _, err := Sweep(link, 0); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("a link as the directory: %v", err)
	}
	if got := tree(t, outside); !slices.Equal(got, []string{"dir", "dir/precious", "precious"}) {
		t.Errorf("outside there is only %v", got)
	}
}

func TestSweepOfWhatIsNoDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if removed, err := Sweep(filepath.Join(dir, "none"), 0); removed != 0 || err != nil {
		t.Errorf("what does not exist: %d, %v", removed, err)
	}
	plant(t, dir, "-file")
	if _, err := Sweep(filepath.Join(dir, "file"), 0); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("a file: %v", err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left: %v", got)
	}
}
