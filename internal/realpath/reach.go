package realpath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// LeadsNowhere reports whether an error of looking at a path says that nothing
// is there: a name is missing or is no directory, too long to be one, or part of
// a loop of links. Any other error, EACCES for instance, says that it is not
// known what is there.
func LeadsNowhere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.ELOOP)
}

// maxLinks is how many links a path may have: more than any kernel follows.
const maxLinks = 255

// Reach resolves an absolute path as Resolve does. When it cannot, it returns
// with the error how far it came: the real path of the last directory that it
// could look at, in which the next name is missing, or cannot be examined.
func Reach(path string) (real string, err error) {
	volume := filepath.VolumeName(path)
	top := volume + string(filepath.Separator)
	real = top
	rest := split(path[len(volume):])
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, name)
		info, err := os.Lstat(next)
		if err != nil {
			return real, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			real = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err == nil && links > maxLinks {
			err = &fs.PathError{Op: "resolve", Path: next, Err: syscall.ELOOP}
		}
		if err != nil {
			return real, err
		}
		if filepath.IsAbs(target) {
			real, target = top, target[len(filepath.VolumeName(target)):]
		}
		rest = append(split(target), rest...)
	}
	return real, nil
}

// split returns the names in a path, without the empty ones and ".".
func split(path string) []string {
	var names []string
	for name := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == filepath.Separator }) {
		if name != "." {
			names = append(names, name)
		}
	}
	return names
}
