package hostsockets

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// bind listens at a path, and leaves the socket there when it is closed.
func bind(t *testing.T, path string) *net.UnixListener {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	t.Cleanup(func() { l.Close() })
	return l
}

func TestListening(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // short: the path of a socket is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }

	bind(t, at("plain"))
	bind(t, at("a b "))
	bind(t, at("new\nline"))
	bind(t, dir+"/link/behind")
	bind(t, at("deleted"))
	bind(t, at("replaced"))
	bind(t, at("moved"))
	bind(t, at("closed")).Close()
	bind(t, "@"+at("abstract"))
	for _, err := range []error{
		os.Remove(at("deleted")),
		os.Remove(at("replaced")), os.WriteFile(at("replaced"), nil, 0o600),
		os.Rename(at("moved"), at("elsewhere")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}

	all, err := Listening(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, path := range all {
		if name, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(name) {
			got = append(got, name)
		}
	}
	want := []string{"a b ", "behind", "new\nline", "plain"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
