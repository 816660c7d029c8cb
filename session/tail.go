package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"hardshell/internal/fault"
)

// glance is how much of the end of a log is read at first, in bytes: more than a
// few events have.
const glance = 4 << 10

// last returns the number of the last event, 0 for none. It reads the end of the
// log, and more only where that holds no event.
func (l *Log) last() (int64, error) {
	log, err := l.open()
	if log == nil || err != nil {
		return 0, err
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return 0, l.unreadable(err)
	}
	for length := int64(glance); ; length *= 8 {
		from := max(0, info.Size()-length)
		data := make([]byte, info.Size()-from)
		if _, err := log.ReadAt(data, from); err != nil && err != io.EOF {
			return 0, l.unreadable(err)
		}
		if from > 0 { // the first line may have begun before
			_, data, _ = bytes.Cut(data, []byte{'\n'})
		}
		if seq := lastSeq(data); seq > 0 || from == 0 {
			return seq, nil
		}
	}
}

// lastSeq is the number of the last event among lines, 0 for none. Broken lines are
// passed over.
func lastSeq(lines []byte) int64 {
	for len(lines) > 0 {
		lines = bytes.TrimSuffix(lines, []byte{'\n'})
		begin := bytes.LastIndexByte(lines, '\n') + 1
		var e Event
		if json.Unmarshal(lines[begin:], &e) == nil && e.Seq > 0 {
			return e.Seq
		}
		lines = lines[:begin]
	}
	return 0
}

// find returns the number of an event of the same type of the same job, 0 for none.
func (l *Log) find(like Event) (int64, error) {
	log, err := l.open()
	if log == nil || err != nil || like.Job == nil {
		return 0, err
	}
	defer log.Close()
	// Few lines hold the key, or the id where there is no key: only those are
	// decoded.
	sought := []byte(like.Job.Key)
	if len(sought) == 0 {
		sought = []byte(like.Job.ID)
	}
	for lines := bufio.NewReaderSize(log, 64<<10); ; {
		line, err := lines.ReadBytes('\n')
		if bytes.Contains(line, sought) {
			var e Event
			if json.Unmarshal(line, &e) == nil && e.Seq > 0 && e.Type == like.Type && e.Job != nil &&
				e.Job.ID == like.Job.ID && e.Job.Key == like.Job.Key {
				return e.Seq, nil
			}
		}
		switch {
		case err == io.EOF:
			return 0, nil
		case err != nil:
			return 0, l.unreadable(err)
		}
	}
}

// open opens the log, nil while there is none.
func (l *Log) open() (*os.File, error) {
	log, err := os.Open(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, l.unreadable(err)
	}
	return log, nil
}

func (l *Log) unreadable(err error) error {
	return fault.New(fault.Invariant, "the log of the session in %s cannot be read: %w", filepath.Dir(l.path), err)
}
