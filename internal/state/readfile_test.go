//go:build unix

package state

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hardshell/internal/fault"
)

// odd is what may lie where a plain file belongs.
var odd = map[string]func(t *testing.T, path string){
	"a pipe": func(t *testing.T, path string) {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	},
	"a link to a file": func(t *testing.T, path string) {
		write(t, path+".target", "secret")
		symlink(t, path+".target", path)
	},
	"a link to a pipe": func(t *testing.T, path string) {
		if err := syscall.Mkfifo(path+".target", 0o600); err != nil {
			t.Fatal(err)
		}
		symlink(t, path+".target", path)
	},
	"a link that leads nowhere": func(t *testing.T, path string) { symlink(t, path+".target", path) },
	"a socket": func(t *testing.T, path string) {
		t.Chdir(filepath.Dir(path)) // unix(7): the path of a socket is short
		l, err := net.Listen("unix", filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
	},
	"a directory": func(t *testing.T, path string) {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	},
}

func TestWhatIsNoPlainFileIsNotReadOrWaitedFor(t *testing.T) {
	for name, put := range odd {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			put(t, path)
			data, err := ReadFile(path, 100)
			if data != nil || !errors.Is(err, fault.Invariant) || err.Error() != path+" is not a plain file: remove it" {
				t.Errorf("it is read: %q, %v", data, err)
			}
			n := 0
			for line, err := range ReadLines(path) {
				if n++; !errors.Is(err, fault.Invariant) || line.JSON != nil {
					t.Errorf("as a log it has %q, %v", line.JSON, err)
				}
			}
			if n != 1 {
				t.Errorf("as a log it has %d lines", n)
			}
			if err := appendTo(path, []byte("{}\n"), Written); err == nil {
				t.Error("it is written to as a log")
			}
		})
	}
}

func TestAFileIsReadUpToItsLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if _, err := ReadFile(path, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing is there: %v", err)
	}
	write(t, path, "")
	if data, err := ReadFile(path, 0); len(data) != 0 || err != nil {
		t.Errorf("an empty file: %q, %v", data, err)
	}
	write(t, path, "0123456789")
	if data, err := ReadFile(path, 10); string(data) != "0123456789" || err != nil {
		t.Errorf("a file of the limit: %q, %v", data, err)
	}
	if data, err := ReadFile(path, 9); data != nil || !errors.Is(err, fault.Invariant) || !strings.Contains(err.Error(), "more than the 9 bytes") {
		t.Errorf("a longer one: %q, %v", data, err)
	}
}

func TestAFileIsReplacedWhateverLiesThere(t *testing.T) {
	for name, put := range odd {
		for _, suffix := range []string{"", ".new"} {
			t.Run(name+" as file"+suffix, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "file")
				put(t, path+suffix)
				err := ReplaceFile(path, []byte("data"))
				if name == "a directory" && suffix == "" {
					if err == nil {
						t.Error("a directory was replaced")
					}
				} else if got, readErr := ReadFile(path, 100); err != nil || string(got) != "data" || readErr != nil {
					t.Errorf("%v; then it has %q, %v", err, got, readErr)
				}
				if _, err := os.Lstat(path + ".new"); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("something is left beside it: %v", err)
				}
				if name == "a link to a file" && read(t, path+suffix+".target") != "secret" {
					t.Error("the target of the link was written to")
				}
			})
		}
	}
	t.Run("a file of its own mode", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		write(t, path, "longer than what follows")
		chmod(t, path, 0o644)
		if err := ReplaceFile(path, []byte("data")); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 || info.Size() != 4 {
			t.Errorf("%v, %v", info, err)
		}
	})
}

func TestNamesAreThoseOfADirectory(t *testing.T) {
	for name, put := range odd {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dir")
			put(t, path)
			names, err := ReadNames(path)
			if (err == nil) != (name == "a directory") || len(names) != 0 {
				t.Errorf("%q, %v", names, err)
			}
		})
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	if names, err := ReadNames(dir); len(names) != 1 || names[0] != "file" || err != nil {
		t.Errorf("%q, %v", names, err)
	}
	if _, err := ReadNames(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}
