//go:build unix

package capture

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// SpillDir is where a runtime's spill files live: Given, or a private directory
// under the temporary directory when that is "". It is made when first needed,
// and safe for concurrent use.
type SpillDir struct {
	Given string

	mu    sync.Mutex
	path  string
	count int
}

// create makes a new file that only this user can read, and returns its path.
func (d *SpillDir) create(stream string) (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.ensure(); err != nil {
		return nil, err
	}
	var random [6]byte
	rand.Read(random[:])
	d.count++
	name := fmt.Sprintf("dsh-subprocess-%d-%d-%s-%s.log", os.Getpid(), d.count, hex.EncodeToString(random[:]), stream)
	return os.OpenFile(filepath.Join(d.path, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
}

func (d *SpillDir) ensure() error {
	if d.path != "" {
		return nil
	}
	if d.Given != "" {
		if err := os.MkdirAll(d.Given, 0o700); err != nil {
			return err
		}
		if !private(d.Given) {
			return fmt.Errorf("others can write to %s", d.Given)
		}
		d.path = d.Given
		return nil
	}
	path, err := os.MkdirTemp("", "dsh-subprocess-")
	d.path = path
	return err
}

// private reports whether only this user can put files into a directory.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid()
}

// Used reports whether any file was ever made.
func (d *SpillDir) Used() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count > 0
}

// spillFile holds one stream that outgrew its window: the complete stream or
// nothing. Its failures are contained: they end the spilling, not the command.
type spillFile struct {
	dir    *SpillDir
	stream string
	max    int64

	started bool
	file    *os.File
	path    string // "" when there is no complete file
}

// begun reports whether begin was called.
func (s *spillFile) begun() bool { return s.started }

// begin opens the file, unless the stream is already too long for it.
func (s *spillFile) begin(total int64) {
	s.started = true
	if total > s.max {
		return
	}
	file, err := s.dir.create(s.stream)
	if err != nil {
		return
	}
	s.file, s.path = file, file.Name()
}

// write appends to the file. A stream of total bytes that is longer than the
// limit, or a failure, removes it.
func (s *spillFile) write(p []byte, total int64) {
	if s.file == nil {
		return
	}
	if total <= s.max {
		if _, err := s.file.Write(p); err == nil {
			return
		}
	}
	s.discard()
}

// close completes the file and returns its path, "" when there is none.
func (s *spillFile) close() string {
	if s.file != nil {
		file := s.file
		s.file = nil
		there := isAt(file, s.path)
		// A close can report a failed write (NFS, quota).
		if err := file.Close(); err != nil && there {
			os.Remove(s.path)
			there = false
		}
		if !there {
			s.path = ""
		}
	}
	return s.path
}

// isAt reports whether path still names the file: its directory may have been
// removed.
func isAt(file *os.File, path string) bool {
	own, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(own, named)
}

func (s *spillFile) discard() {
	s.file.Close()
	os.Remove(s.path)
	s.file, s.path = nil, ""
}
