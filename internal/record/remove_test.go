//go:build unix

package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hardshell/internal/fault"
)

func TestRemoveTakesTheWholeRecord(t *testing.T) {
	t.Parallel()
	d, ask, _, _ := newLogs(t, 1<<20)
	_, statusErr := d.WriteStatus(&Status{Status: Completed})
	if err := errors.Join(statusErr, d.WriteAsk(ask), d.WriteProcess(&Process{}), d.MarkStopping("x")); err != nil {
		t.Fatal(err)
	}
	// What a writer that was killed leaves.
	temp := filepath.Join(d.Path(), tempPrefix+statusFile+"-0123456789ab")
	if err := os.WriteFile(temp, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(d.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := d.Remove(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("again: %v", err)
	}
}

func TestRemoveLeavesWhatBelongsToNoRecord(t *testing.T) {
	t.Parallel()
	for _, foreign := range []string{"notes.txt", "log-stdout-0123456789abc", "log-other-0123456789ab", ".status.json-x", "job.json~"} {
		d := newDir(t)
		if err := errors.Join(d.WriteAsk(NewAsk()), os.WriteFile(filepath.Join(d.Path(), foreign), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := d.Remove(); !errors.Is(err, fault.Invariant) || !strings.Contains(err.Error(), foreign) {
			t.Errorf("%s: %v", foreign, err)
		}
		if names := fileNames(t, d.Path()); !slices.Equal(names, []string{foreign}) {
			t.Errorf("%s: there are %v", foreign, names)
		}
	}
}

func TestRemoveDoesNotFollowLinks(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	target := d.Path() + "-target"
	if err := errors.Join(os.WriteFile(target, []byte("x"), 0o600), os.Symlink(target, filepath.Join(d.Path(), askFile)), d.Remove()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(target); err != nil {
		t.Error(err)
	}
}

func TestRemoveNeverTakesTheDirectoryThatCameInPlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	if err := errors.Join(os.Rename(d.Path(), d.Path()+"-moved"), os.Mkdir(d.Path(), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(d.Path()); err != nil {
		t.Error(err)
	}
}
