package state

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"time"

	"hardshell/internal/fault"
)

// Sweep removes the plain files below dir that were last written longer than
// olderThan ago, and the directories below it that are then empty and have not
// changed for as long. It never follows or removes a link; dir itself stays. A
// writer who creates a directory right before its first file is not disturbed.
//
// It returns how many files it removed. What cannot be examined or removed is
// left, named in the error, and does not keep the rest from being swept. A dir
// that does not exist is swept. INVALID_ARGUMENT when dir is no directory.
func Sweep(dir string, olderThan time.Duration) (removed int, err error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case !info.IsDir():
		return 0, fault.New(fault.InvalidArgument, "%s is not a directory and was not swept", dir)
	}
	// A Root cannot be led out of dir by a directory that becomes a link
	// while it is swept.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	s := sweeper{root: root, cutoff: time.Now().Add(-olderThan)}
	s.sweep(".")
	return s.removed, errors.Join(s.errs...)
}

type sweeper struct {
	root    *os.Root
	cutoff  time.Time
	removed int
	errs    []error
}

// sweep empties the directory name as far as it is due.
func (s *sweeper) sweep(name string) {
	entries, err := fs.ReadDir(s.root.FS(), name)
	s.note(err)
	for _, entry := range entries {
		s.remove(path.Join(name, entry.Name()))
	}
}

// remove removes the entry name if it is due.
func (s *sweeper) remove(name string) {
	info, err := s.root.Lstat(name)
	if err != nil {
		s.note(err)
		return
	}
	// A directory's age is from before its files go, which renews it.
	due := info.ModTime().Before(s.cutoff)
	switch {
	case info.IsDir():
		s.sweep(name)
	case !info.Mode().IsRegular():
		due = false
	}
	if !due {
		return
	}
	err = s.root.Remove(name)
	switch {
	case err == nil && info.Mode().IsRegular():
		s.removed++
	case errors.Is(err, fs.ErrExist): // a directory that is not empty
	default:
		s.note(err)
	}
}

// note keeps what went wrong. That somebody else removed a thing first is not
// wrong.
func (s *sweeper) note(err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.errs = append(s.errs, err)
	}
}
