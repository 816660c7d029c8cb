//go:build unix

package record

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
)

// Remove removes the files of the record and then its directory; files that
// are missing are no error. A file that belongs to no record stays, and so does
// the directory then: INVARIANT names it. Nobody may write the record any more.
// Readers that are open go on.
func (d *Dir) Remove() error {
	names, err := d.names()
	if err != nil {
		return err
	}
	// job.json goes last: until then the record can be recognised.
	slices.SortFunc(names, func(a, b string) int {
		if a == askFile {
			return 1
		}
		if b == askFile {
			return -1
		}
		return strings.Compare(a, b)
	})
	foreign := ""
	for _, name := range names {
		if !ofRecord(name) {
			foreign = name
			continue
		}
		if err := d.remove(name); err != nil {
			return err
		}
	}
	if foreign != "" {
		return fault.New(fault.Invariant, "%s holds %q, which is no file of a record: remove it, then the directory", d.path, foreign)
	}
	return d.removeItself()
}

const tempPrefix = "."

// ofRecord reports whether a file of this name is one of a record's.
func ofRecord(name string) bool {
	documents := []string{askFile, processFile, statusFile, stoppingFile}
	if slices.Contains(documents, name) {
		return true
	}
	for _, kind := range []string{"stdout", "stderr", "index"} {
		if checkLogName(name, kind) == nil {
			return true
		}
	}
	for _, document := range documents {
		random, ok := strings.CutPrefix(name, tempPrefix+document+"-")
		if ok && len(random) == 12 && isLowerHex(random) {
			return true
		}
	}
	return false
}

func (d *Dir) names() ([]string, error) {
	list, err := d.open(".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer list.Close()
	return list.Readdirnames(-1)
}

// removeItself removes the directory. rmdir(2) takes a path, which may by now
// name another directory.
func (d *Dir) removeItself() error {
	own, err := d.file.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(d.path)
	if err != nil || !os.SameFile(own, named) {
		return fmt.Errorf("the directory of the record is no longer at %s: %w", d.path, errors.Join(err, os.ErrNotExist))
	}
	if err := unix.Rmdir(d.path); err != nil {
		return &os.PathError{Op: "rmdir", Path: d.path, Err: err}
	}
	return nil
}
