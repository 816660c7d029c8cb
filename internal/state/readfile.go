package state

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"hardshell/internal/fault"
)

// ReadFile returns the content of the plain file at path, which the caller owns.
// A pipe, a device or a directory in its place is refused, and so is a link:
// whatever lies there, the call returns. At most limit bytes are read.
//
// INVARIANT for what is no plain file, and for one of more bytes than limit;
// fs.ErrNotExist when there is nothing.
func ReadFile(path string, limit int64) ([]byte, error) {
	file, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fault.New(fault.Invariant, "%s has more than the %d bytes that belong there: remove it", path, limit)
	}
	return data, nil
}

// ReadNames returns the names of what is in a directory, in no order. What is no
// directory is an error, and waited for by nobody.
func ReadNames(dir string) ([]string, error) {
	file, err := os.OpenFile(dir, listFlags, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.Readdirnames(-1)
}

// openPlain opens a plain file for reading.
func openPlain(path string) (*os.File, error) {
	file, err := os.OpenFile(path, plainFlags, 0)
	if err != nil {
		// A link and a socket cannot be opened at all, each with an error of
		// its own on each system.
		if info, statErr := os.Lstat(path); statErr == nil && !info.Mode().IsRegular() {
			return nil, notPlain(path)
		}
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notPlain(path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func notPlain(path string) error {
	return fault.New(fault.Invariant, "%s is not a plain file: remove it", path)
}

// ReplaceFile replaces what is at path, which is the caller's own, by a file of
// mode 0600 that holds data, for readers of this boot: a power cut may take it.
// Whatever is no directory goes, and no link is followed. Writers take turns by a
// Lock.
func ReplaceFile(path string, data []byte) error {
	temp := path + ".new"
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateFile)
	if errors.Is(err, fs.ErrExist) { // a writer was killed
		if err = os.Remove(temp); err == nil {
			file, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateFile)
		}
	}
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
