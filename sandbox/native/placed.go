package native

import (
	"os"
	"path/filepath"
	"slices"

	"hardshell/internal/gitdir"
)

// placed is a file that displaces the configuration of a repository as soon as
// it is there (gitrepository-layout(5), commondir), made with the word that
// changes nothing, so that it can be protected. It is kept for as long as any
// sandbox needs it: each holds a shared lock on it.
type placed struct {
	path string
	file *os.File
}

// nothingDisplaced is what such a file says.
const nothingDisplaced = ".\n"

// place makes what is absent of such files, and holds those that others made.
func place(layout gitdir.Layout) []placed {
	var list []placed
	for _, path := range slices.Concat(layout.Exposed, layout.Protected) {
		if filepath.Base(path) != "commondir" {
			continue
		}
		inParent(path, func(parent *os.Root, name string) error {
			f, err := openPlaced(parent, name)
			if err == nil {
				list = append(list, placed{path, f})
			}
			return err
		})
	}
	return list
}

// openPlaced opens or makes the file and locks it.
func openPlaced(parent *os.Root, name string) (*os.File, error) {
	for {
		f, err := parent.OpenFile(name, os.O_RDWR|os.O_CREATE|noFollow, 0o644)
		if err != nil {
			return nil, err
		}
		text := make([]byte, len(nothingDisplaced)+1)
		n, _ := f.ReadAt(text, 0)
		switch info, err := f.Stat(); {
		case err != nil || !info.Mode().IsRegular():
			f.Close()
			return nil, os.ErrInvalid
		case n == 0:
			_, err = f.WriteString(nothingDisplaced)
			if err != nil {
				f.Close()
				return nil, err
			}
		case string(text[:n]) != nothingDisplaced:
			f.Close()
			return nil, os.ErrExist // a repository's own
		}
		// Somebody inside may hold a lock: then nobody removes the file.
		if lockShared(f) && !still(parent, name, f) {
			f.Close() // it was removed meanwhile
			continue
		}
		return f, nil
	}
}

// still reports whether name is f.
func still(parent *os.Root, name string, f *os.File) bool {
	there, err := parent.Lstat(name)
	if err != nil {
		return false
	}
	own, err := f.Stat()
	return err == nil && os.SameFile(there, own)
}

// unplace lets go of the files, and removes those that nobody else holds.
func (pl *plan) unplace() {
	for _, held := range pl.placed {
		if lockExclusive(held.file) {
			inParent(held.path, func(parent *os.Root, name string) error {
				if !still(parent, name, held.file) {
					return nil
				}
				return parent.Remove(name)
			})
		}
		held.file.Close()
	}
	pl.placed = nil
}
