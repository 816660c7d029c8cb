//go:build unix

package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/settings"
)

func init() {
	roles["read-only-directory"] = func([]string) error {
		if os.Geteuid() == 0 {
			if err := syscall.Setuid(65534); err != nil {
				return err
			}
		}
		home, err := state.ResolveHome("home")
		if err != nil {
			return err
		}
		path := filepath.Join("docs", "settings.yaml")
		if err := os.Mkdir("docs", 0o700); err != nil {
			return err
		}
		p, err := New(Config{Home: home, Path: path, Debounce: -1})
		if err != nil {
			return err
		}
		if _, err := p.Open(bg, func(settings.Document) {}); err != nil {
			return err
		}
		if _, err := set(bg, p, "alpha", "a", 1); err != nil {
			return err
		}
		if err := os.Chmod("docs", 0o500); err != nil {
			return err
		}
		_, err = set(bg, p, "alpha", "a", 2)
		if !errors.Is(err, fault.SettingsReadOnly) {
			return fmt.Errorf("a write into a read-only directory: %w", err)
		}
		if err := errors.Join(os.Chmod("docs", 0o700), os.Chmod(path, 0)); err != nil {
			return err
		}
		if _, err = set(bg, p, "alpha", "a", 2); !errors.Is(err, fault.DocumentInvalid) {
			return fmt.Errorf("a write of an unreadable file: %w", err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
		stored, err := set(bg, p, "alpha", "a", 2)
		if err == nil && stored.Revision != 2 {
			err = fmt.Errorf("the revision is %d", stored.Revision)
		}
		return err
	}
}

func TestPipesDevicesAndSocketsAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for kind, make := range map[string]func(path string) error{
		"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device":     func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		f := prepared(t, Config{}, nil)
		must(t, make(f.path))
		if _, err := f.Open(t.Context(), nil); !errors.Is(err, fault.DocumentInvalid) || !strings.Contains(err.Error(), kind) {
			t.Errorf("%s: %v", kind, err)
		}
		if _, err := f.PrepareDocument(t.Context()); !errors.Is(err, fault.DocumentInvalid) {
			t.Errorf("%s: %v", kind, err)
		}
		must(t, os.Remove(f.path))
		f.open()
		must(t, make(f.path))
		if _, err := f.set("alpha", "a", 1); !errors.Is(err, fault.DocumentInvalid) || !strings.Contains(err.Error(), kind) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestTheOwnerOfTheFileIsKept(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	f := opened(t, Config{}, nil)
	f.mustSet("alpha", "a", 1)
	must(t, os.Chown(f.path, 65534, 1234), os.Chmod(f.path, 0o640))
	f.mustSet("alpha", "a", 2)
	info, err := os.Stat(f.path)
	must(t, err)
	if got := ownerOf(info); got != (owner{true, 65534, 1234}) || info.Mode() != 0o600 {
		t.Errorf("it is %+v, %v", got, info.Mode())
	}
	if err := (owner{true, 1, 1}).check("x"); err != nil {
		t.Errorf("root: %v", err)
	}
}

func TestStampsSeeAnEditThatHidesItself(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, "a: 1")
	info, err := os.Stat(path)
	must(t, err)
	before := stampOf(info)
	must(t, os.WriteFile(path, []byte("a: 2"), 0o600), os.Chtimes(path, info.ModTime(), info.ModTime()))
	after := identityOf(t, path)
	if after.size != before.size || after.modified != before.modified {
		t.Fatal("the edit does not hide itself")
	}
	if after == before && !isYoung(t, path) {
		t.Error("the edit was not seen")
	}
}

func isYoung(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	s, err := (&Provider{}).examine(info)
	must(t, err)
	return s.young
}

func TestADirectoryThatMayNotBeWritten(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "settings-file-") // nobody can walk into t.TempDir
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o777), os.Mkdir(filepath.Join(dir, "home"), 0o777), os.Chmod(filepath.Join(dir, "home"), 0o777))
	// An ordinary user: root may do anything.
	cmd := process(t, "read-only-directory")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
