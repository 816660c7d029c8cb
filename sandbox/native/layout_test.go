package native

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// show writes a layout the way that the tests want it: one placement a line.
func show(l *layout) string {
	names := map[kind]string{coverDir: "cover", coverFile: "cover-file", scratch: "scratch", temp: "temp", tree: "tree", readOnly: "read-only"}
	var lines []string
	if l.rootWritable {
		lines = append(lines, "root writable")
	}
	for _, p := range l.placements {
		line := names[p.kind] + " " + p.path
		if p.source != "" {
			line += " from " + p.source
		}
		if len(p.parents) > 0 {
			line += " making " + strings.Join(p.parents, ",")
		}
		if p.file {
			line += " as file"
		}
		if p.filled {
			line += " filled"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestArrange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   []placement
		want []string
	}{
		{"nothing", nil, nil},
		{
			"the deeper comes after the less deep, whatever the order",
			[]placement{{path: "/w/a/b", kind: readOnly}, {path: "/w", kind: tree}, {path: "/w/a", kind: tree}},
			[]string{"tree /w", "tree /w/a", "read-only /w/a/b"},
		},
		{
			"of two at one path the later wins",
			[]placement{{path: "/tmp", kind: temp}, {path: "/w", kind: readOnly}, {path: "/tmp", kind: tree}, {path: "/w", kind: tree}},
			[]string{"tree /tmp", "tree /w"},
		},
		{
			"a cover inside of a cover is not needed",
			[]placement{{path: "/run", kind: coverDir}, {path: "/run/dbus/s", kind: coverFile}, {path: "/run/user", kind: coverDir}},
			[]string{"cover /run"},
		},
		{
			"a cover inside of a tree inside of a cover is",
			[]placement{{path: "/h", kind: coverDir}, {path: "/h/w", kind: tree}, {path: "/h/w/secret", kind: coverFile}},
			[]string{"cover /h filled", "tree /h/w making /h/w", "cover-file /h/w/secret"},
		},
		{
			"a place inside of a cover is made, with the way to it",
			[]placement{{path: "/run", kind: coverDir}, {path: "/run/a/b/c", kind: readOnly}},
			[]string{"cover /run filled", "read-only /run/a/b/c making /run/a,/run/a/b,/run/a/b/c"},
		},
		{
			"a neighbour whose name begins alike is none",
			[]placement{{path: "/run", kind: coverDir}, {path: "/runner/x", kind: tree}},
			[]string{"cover /run", "tree /runner/x"},
		},
		{
			"a scratch takes places like a cover",
			[]placement{{path: "/dev/shm", kind: scratch}, {path: "/dev/shm/w", kind: tree}},
			[]string{"scratch /dev/shm filled", "tree /dev/shm/w making /dev/shm/w"},
		},
		{
			"the root directory as a tree is no placement",
			[]placement{{path: "/", kind: tree}, {path: "/etc", kind: readOnly}},
			[]string{"root writable", "read-only /etc"},
		},
		{
			"the source of a tree is kept",
			[]placement{{path: "/u/.cache", kind: tree, source: "/h/cache/x"}},
			[]string{"tree /u/.cache from /h/cache/x"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := arrange(c.in, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if got, want := show(l), strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestArrangeMakesPlacesInTheTemp(t *testing.T) {
	t.Parallel()
	host := t.TempDir()
	file := filepath.Join(host, "source")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	l, err := arrange([]placement{
		{path: "/tmp", kind: temp}, {path: "/tmp/a/w", kind: tree, source: host}, {path: "/tmp/b/f", kind: readOnly, source: file},
	}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "a/w")); err != nil || !info.IsDir() {
		t.Errorf("the directory of the tree was not made: %v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, "b/f")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the file was not made: %v", err)
	}
	if slices.ContainsFunc(l.placements, func(p placement) bool { return len(p.parents) > 0 || p.file }) {
		t.Errorf("what is made on the host is made again inside:\n%s", show(l))
	}
}

func TestArrangeIsNotLedOutOfTheTemp(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	// A command of an earlier time left this in its temp.
	if err := os.Symlink(outside, filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/tmp/a/w", "/tmp/a/b/w", "/tmp/f/w"} {
		if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil && path == "/tmp/f/w" {
			t.Fatal(err)
		}
		if _, err := arrange([]placement{{path: "/tmp", kind: temp}, {path: path, kind: tree, source: dir}}, dir); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if info, err := os.Lstat(filepath.Join(dir, strings.TrimPrefix(path, "/tmp"))); err != nil || !info.IsDir() {
			t.Errorf("%s was not made: %v", path, err)
		}
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("outside there is now %v", entries)
	}
}
