package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"hardshell/internal/fault"
	"hardshell/internal/realpath"
)

// place is where the document is at this moment. Links decide that, and they
// change.
type place struct {
	// target is the file itself, by its path without links. It may be absent, and
	// so may its directory.
	target string
	// hops are the paths that decide what target is: each link, then target.
	hops []string
}

// linked reports whether target was reached by a link in place of the file.
func (p place) linked() bool { return len(p.hops) > 1 }

// maxLinks is how many links in a row are followed, as by the Linux kernel.
const maxLinks = 40

// locate finds the document that path names. The error is typed; what was found
// of the hops is returned with it.
func locate(path string) (place, error) {
	var at place
	next := path
	for range maxLinks {
		dir, name := splitLast(next)
		if name == "" || name == "." || name == ".." {
			return at, fault.New(fault.DocumentInvalid, "the settings file %s is a link to a directory: make it a link to a file", path)
		}
		dir, err := realDir(dir)
		if err != nil {
			return at, unreadable(path, err)
		}
		at.target = filepath.Join(dir, name)
		at.hops = append(at.hops, at.target)
		info, err := os.Lstat(at.target)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return at, nil
		case err != nil:
			return at, unreadable(path, err)
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(at.target)
			if err != nil {
				return at, unreadable(path, err)
			}
			next = realpath.Join(dir, to)
		case !info.Mode().IsRegular():
			return at, errKind(path, info.Mode())
		default:
			return at, nil
		}
	}
	return at, fault.New(fault.DocumentInvalid, "the settings file %s is a link in a loop: remove it or make it a link to a file", path)
}

// splitLast cuts a path before its last element, without cleaning it: "link/.."
// is not what it looks like.
func splitLast(path string) (dir, name string) {
	i := strings.LastIndexByte(path, filepath.Separator)
	if dir = path[:i]; dir == filepath.VolumeName(path) {
		dir = path[:i+1] // the root
	}
	return dir, path[i+1:]
}

// realDir is the path of a directory without links. Of a directory that does not
// exist it is that of the nearest one above which does, with the rest as it is.
func realDir(dir string) (string, error) {
	rest := ""
	for dir := dir; ; {
		real, err := realpath.Resolve(dir)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if info, lstatErr := os.Lstat(filepath.Clean(dir)); lstatErr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", &fs.PathError{Op: "open", Path: dir, Err: errors.New("it is a link that leads nowhere")}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", err
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = parent
	}
}

func errKind(path string, mode fs.FileMode) error {
	kind := "no plain file"
	switch {
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return fault.New(fault.DocumentInvalid, "the settings file %s is %s: put a plain file in its place", path, kind)
}

func unreadable(path string, err error) error {
	if errors.Is(err, syscall.ENOTDIR) {
		return fault.New(fault.DocumentInvalid, "the settings file %s lies below something that is no directory: choose another path (%w)", path, err)
	}
	return fault.New(fault.DocumentInvalid, "the settings file %s cannot be read: %w", path, err)
}
