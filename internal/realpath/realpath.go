// Package realpath resolves paths as the file system does: one component after
// the other, so that a link before ".." is followed and not cut off as text.
package realpath

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Canonical returns the absolute real path of path, without links, "." and
// "..". What cannot be resolved, because it does not exist for instance, is
// returned as it was given: it names nothing until it exists.
func Canonical(path string) string {
	if real, err := Resolve(path); err == nil {
		return real
	}
	return path
}

// Resolve is Canonical with the reason why a path cannot be resolved. A
// relative path is taken from the working directory.
func Resolve(path string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("resolve %q: %w", path, os.ErrNotExist)
	}
	if !filepath.IsAbs(path) {
		wd, err := os.Getwd()
		if err != nil {
			return "", err
		}
		// filepath.Join would clean the text, and with it a link before "..".
		path = Join(wd, path)
	}
	return filepath.EvalSymlinks(path)
}

// Join returns path taken from dir, unless it is absolute, without cleaning
// either: "link/.." stays what the file system makes of it.
func Join(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	if strings.HasSuffix(dir, string(filepath.Separator)) {
		return dir + path
	}
	return dir + string(filepath.Separator) + path
}

// Within reports whether path is dir or lies below it. Both are compared as
// text and must be canonical.
func Within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || dir != "" && os.IsPathSeparator(dir[len(dir)-1]))
}
