package file

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hardshell/internal/document"
	"hardshell/internal/fault"
)

// stamp tells one state of a file from another without reading it. The zero
// value is that of an absent file.
type stamp struct {
	device, inode     uint64
	size              int64
	modified, changed int64 // ns since 1970
}

// snapshot is the file as it was read at one moment.
type snapshot struct {
	absent bool
	data   []byte
	stamp  stamp
	mode   fs.FileMode
	owner  owner
	// changed is when the file became as it is, by the file system's clock.
	changed time.Time
	// torn is set when the file changed while it was read.
	torn bool
	// young is set when a change that followed at once could have left the same
	// stamp: file systems count time in ticks.
	young bool
}

// same reports whether two snapshots hold the same.
func (s snapshot) same(other snapshot) bool {
	return s.absent == other.absent && bytes.Equal(s.data, other.data)
}

// blank reports whether there is nothing in the file, or no file.
func (s snapshot) blank() bool { return s.stamp.size == 0 }

// tick is longer than the clock of any file system stands still.
const tick = 50 * time.Millisecond

// read reads the file at a place. It never waits for what is no plain file.
func (p *Provider) read(at place) (snapshot, error) {
	f, err := os.OpenFile(at.target, os.O_RDONLY|openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return p.peek(at)
	}
	if err != nil {
		return snapshot{}, unreadable(p.path, err)
	}
	defer f.Close()
	before, err := p.stat(f)
	if err != nil {
		return snapshot{}, err
	}
	if at.linked() {
		if err := errors.Join(at.checkTarget(), before.owner.trusted(p.path)); err != nil {
			return snapshot{}, fault.New(fault.DocumentInvalid, "%w", err)
		}
	}
	if before.stamp.size > document.MaxSize {
		return snapshot{}, fault.New(fault.DocumentInvalid, "the settings file %s is larger than %d MiB: make it smaller", p.path, document.MaxSize>>20)
	}
	data := make([]byte, 0, before.stamp.size+1)
	buffer := bytes.NewBuffer(data)
	if _, err := buffer.ReadFrom(io.LimitReader(f, document.MaxSize+1)); err != nil {
		return snapshot{}, unreadable(p.path, err)
	}
	after, err := p.stat(f)
	if err != nil {
		return snapshot{}, err
	}
	after.data = buffer.Bytes()
	after.torn = before.stamp != after.stamp || after.stamp.size != int64(len(after.data))
	return after, nil
}

// peek is read without the content.
func (p *Provider) peek(at place) (snapshot, error) {
	info, err := os.Lstat(at.target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s := snapshot{absent: true}
		// The entry went when the directory last changed, at the latest.
		if dir, err := os.Stat(filepath.Dir(at.target)); err == nil {
			s.changed = time.Unix(0, stampOf(dir).changed)
		}
		return s, nil
	case err != nil:
		return snapshot{}, unreadable(p.path, err)
	}
	return p.examine(info)
}

func (p *Provider) stat(f *os.File) (snapshot, error) {
	info, err := f.Stat()
	if err != nil {
		return snapshot{}, unreadable(p.path, err)
	}
	return p.examine(info)
}

func (p *Provider) examine(info fs.FileInfo) (snapshot, error) {
	if !info.Mode().IsRegular() {
		return snapshot{}, errKind(p.path, info.Mode())
	}
	s := snapshot{stamp: stampOf(info), mode: info.Mode(), owner: ownerOf(info)}
	s.changed = time.Unix(0, s.stamp.changed)
	s.young = time.Since(s.changed) < tick
	return s, nil
}

// sight is since when the file has had one stamp, as far as this process saw.
type sight struct {
	stamp stamp
	since time.Time
	begun bool
}

// unrest is how much longer the file must stay as it is before it counts; not
// more than 0 when it has for long enough. The clock of the file system is
// believed when it says that the last change was long ago, so that reading a file
// usually waits for nothing, and never when it is ahead.
func (p *Provider) unrest(s snapshot) time.Duration {
	if !p.sight.begun || p.sight.stamp != s.stamp || s.torn {
		p.sight = sight{stamp: s.stamp, since: time.Now(), begun: true}
	}
	quiet := time.Since(p.sight.since)
	if age := time.Since(s.changed); !s.torn && !s.changed.IsZero() {
		quiet = max(quiet, age)
	}
	need := p.times.debounce
	if s.blank() {
		need = p.times.grace
	}
	if s.torn {
		need = max(need, time.Millisecond)
	}
	return need - quiet
}

// errUnrest is what a write fails with that met a file which never came to rest.
func (p *Provider) errUnrest() error {
	return fault.New(fault.DocumentInvalid,
		"the settings file %s is being changed by another program: nothing was written; try again when that program is done: %w", p.path, ErrUnrest)
}

// ErrUnrest is in the error of a write that another program's writing kept from
// happening. The same write can succeed a moment later.
var ErrUnrest = errors.New("the file did not come to rest")
