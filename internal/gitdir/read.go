package gitdir

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"hardshell/internal/realpath"
)

// maxFile is how much of a file is read, in bytes.
const maxFile = 64 << 10

var errNotRegular = errors.New("not a regular file")

// readFile returns the beginning of a regular file, and whether that is all of
// it. Anything else, a FIFO for instance, is an error and never waited for.
func readFile(path string) (data []byte, whole bool, err error) {
	// Opening a device can have effects, so it is not even opened.
	if info, err := os.Stat(path); err != nil {
		return nil, false, err
	} else if !info.Mode().IsRegular() {
		return nil, false, errNotRegular
	}
	// It may have been replaced since: O_NONBLOCK keeps a FIFO from blocking.
	file, err := open(path)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return nil, false, err
	} else if !info.Mode().IsRegular() {
		return nil, false, errNotRegular
	}
	data, err = io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, false, err
	}
	if len(data) > maxFile {
		return data[:maxFile], false, nil
	}
	return data, true, nil
}

// leaseBound is how long a lease of another process may stand in the way, and
// leasePause the time between two looks.
const (
	leaseBound = 2 * time.Second
	leasePause = 5 * time.Millisecond
)

// open opens what is to be read without waiting for the other end of a FIFO. A
// lease on the file is EAGAIN then, and its holder is told to give it up:
// fcntl(2), "Leases". File servers take them.
func open(path string) (*os.File, error) {
	for deadline := time.Now().Add(leaseBound); ; time.Sleep(leasePause) {
		file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.EAGAIN) || time.Now().After(deadline) {
			return file, err
		}
	}
}

// list returns at most n entries of a directory, in the directory's order. With
// an error the entries are those before it.
func list(dir string, n int) ([]os.DirEntry, error) {
	if n <= 0 {
		return nil, nil
	}
	file, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	entries, err := file.ReadDir(n)
	if err == io.EOF {
		err = nil
	}
	return entries, err
}

// exists reports whether something is at path, a dangling link included.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isDirectory follows links.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isRepository reports whether dir looks like a directory that holds a whole
// repository, by the signs that git takes (setup.c, is_git_directory).
func isRepository(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) &&
		isDirectory(filepath.Join(dir, "objects")) && isDirectory(filepath.Join(dir, "refs"))
}

// isBare reports whether dir is a repository itself. It asks for nothing but
// the configuration, which stays protected: a command could take the other
// signs away to have the rest unprotected the next time.
func (f *finder) isBare(dir string) bool {
	data, _, err := readFile(filepath.Join(dir, "config"))
	f.unseen(err)
	if err != nil {
		return false
	}
	entries, _ := parseConfig(data)
	_, versioned := last(entries, "core", "repositoryformatversion")
	_, bare := last(entries, "core", "bare")
	return versioned || bare
}

// sameDirectory reports whether path, taken from dir, resolves to want.
func sameDirectory(dir, path, want string) bool {
	real, err := realpath.Resolve(realpath.Join(dir, path))
	return err == nil && real == want
}
