package gitdir

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"hardshell/internal/realpath"
)

// unseen is told of every error of looking at something. One that says that
// nothing is there is none of ours. Any other leaves open what is there: a
// command may have taken the permissions of a directory, to give them back when
// it runs the next time. What cannot be looked into is protected as a whole, and
// its path returned; "" where there is nothing to be done.
func (f *finder) unseen(err error) (closed string) {
	var failed *fs.PathError
	if err == nil || realpath.LeadsNowhere(err) || !errors.As(err, &failed) || errors.Is(err, errNotRegular) {
		return ""
	}
	real, reached := realpath.Reach(failed.Path)
	if reached == nil {
		reached = err // it is there, and cannot be read
	}
	if realpath.LeadsNowhere(reached) || !f.inside(real) {
		return ""
	}
	if errors.Is(reached, fs.ErrPermission) && !realpath.Owned(real) {
		return "" // and no command of this user can change that
	}
	if slices.ContainsFunc(f.places, func(place string) bool { return realpath.Within(place, real) }) {
		f.obstruct(real, err)
		return real
	}
	f.layout.Protected = append(f.layout.Protected, real)
	f.pinAbove(real, "")
	return real
}

// unknown is unseen for what names other paths. Those are not known then, and
// could be anywhere: to protect what cannot be looked into is not enough.
func (f *finder) unknown(err error) {
	if closed := f.unseen(err); closed != "" {
		f.obstruct(closed, err)
	}
}

// obstruct remembers the first obstacle.
func (f *finder) obstruct(real string, err error) {
	var failed *fs.PathError
	if f.layout.Obstacle == nil && errors.As(err, &failed) {
		f.layout.Obstacle = &fs.PathError{Op: "examine", Path: real, Err: failed.Err}
	}
}

// lstat is os.Lstat; ok is false when nothing is there, or it is unseen.
func (f *finder) lstat(path string) (info fs.FileInfo, ok bool) {
	info, err := os.Lstat(path)
	f.unseen(err)
	return info, err == nil
}

// exists reports whether something is at path, a dangling link included.
func (f *finder) exists(path string) bool {
	_, ok := f.lstat(path)
	return ok
}

// resolve is realpath.Resolve for what is to be protected itself.
func (f *finder) resolve(path string) (real string, ok bool) {
	real, err := realpath.Resolve(path)
	f.unseen(err)
	return real, err == nil
}
