package file

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hardshell/internal/fault"
)

func TestPrepareDocument(t *testing.T) {
	t.Parallel()
	home := homeAt(t, filepath.Join(t.TempDir(), "a", "b"))
	f := opened(t, Config{Home: home}, nil)
	for range 2 {
		if path, err := f.PrepareDocument(t.Context()); path != f.path || err != nil {
			t.Fatalf("%q, %v", path, err)
		}
	}
	if info, err := os.Stat(f.path); err != nil || info.Mode() != 0o600 || info.Size() != 0 {
		t.Errorf("it is %v, %v", info, err)
	}
	f.quiet()
	put(t, f.path, "alpha: {a: 1}\n")
	must(t, os.Chmod(f.path, 0o640))
	before := identityOf(t, f.path)
	if _, err := f.PrepareDocument(t.Context()); err != nil || identityOf(t, f.path) != before {
		t.Errorf("a document that was there: %v", err)
	}
	must(t, os.Remove(f.path), os.Mkdir(f.path, 0o700))
	if _, err := f.PrepareDocument(t.Context()); !errors.Is(err, fault.DocumentInvalid) {
		t.Errorf("a directory: %v", err)
	}
	must(t, os.Remove(f.path), os.Symlink("target.yaml", f.path))
	if _, err := f.PrepareDocument(t.Context()); err != nil {
		t.Errorf("a link that leads nowhere: %v", err)
	}
	if get(t, filepath.Join(home.Root(), "target.yaml")) != "" {
		t.Error("the target was not created")
	}
	must(t, os.Remove(f.path))
	full := errors.New("the disk is full")
	f.hooks.step = func(step string) error {
		if step == "prepare-sync" {
			return full
		}
		return nil
	}
	if _, err := f.PrepareDocument(t.Context()); !errors.Is(err, fault.SettingsReadOnly) || !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
	if _, err := os.Lstat(f.path); err == nil {
		t.Error("a file was left on a full disk")
	}
	f.hooks.step = nil
	f.mustSet("alpha", "a", 1) // the lock is free
}
