package durable

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"hardshell/internal/fault"
	"hardshell/internal/record"
	"hardshell/internal/state"
)

// cursor is the model's place in the output of a job, the same for all processes
// of the session.
type cursor struct {
	// Key is that of the record which the cursor is about: a record that was
	// removed may have left one under an id that was given again.
	Key    string `json:"key"`
	Stdout int64  `json:"stdout"`
	Stderr int64  `json:"stderr"`
	// Noted says that the notes of the sandbox were read, Reported that somebody
	// who cares knows of the end.
	Noted    bool `json:"noted,omitempty"`
	Reported bool `json:"reported,omitempty"`
	// Noticed says that a notice of the end was delivered.
	Noticed bool `json:"noticed,omitempty"`
	// Logged is the number of the end's event in the session's log, 0 while there
	// is none.
	Logged int64 `json:"logged,omitempty"`
}

func (s *Store) cursorPath(id string) string { return filepath.Join(s.places, id+".json") }

// cursor returns the place in the output of a record. One that cannot be read, or
// is another record's, is the beginning: bytes are then read twice, and none is
// lost.
func (s *Store) cursor(id, key string) cursor {
	c, _ := s.readCursor(id, key)
	return c
}

// maxPlaceFile is more bytes than a cursor, or the numbers of all kinds, have.
const maxPlaceFile = 64 << 10

// readCursor is cursor, and says why the file cannot be read.
func (s *Store) readCursor(id, key string) (cursor, error) {
	c := cursor{Key: key}
	data, err := state.ReadFile(s.cursorPath(id), maxPlaceFile)
	if err != nil || json.Unmarshal(data, &c) != nil || c.Key != key {
		return cursor{Key: key}, err
	}
	c.Stdout, c.Stderr = max(0, c.Stdout), max(0, c.Stderr)
	return c, nil
}

// MarkNoticed says that a notice of a job's end was delivered, and is not to be
// delivered again. When that cannot be kept it is, which is the lesser harm.
func (s *Store) MarkNoticed(id string) {
	if key, ok := s.key(id); ok {
		_ = s.move(id, key, func(c *cursor) { c.Noticed = true })
	}
}

// Skip takes the beginning of a job's output for read.
func (s *Store) Skip(id string, stdout, stderr int64) {
	if key, ok := s.key(id); ok {
		_ = s.move(id, key, func(c *cursor) { c.Stdout, c.Stderr = max(c.Stdout, stdout), max(c.Stderr, stderr) })
	}
}

// LogEnd has the end of a job logged unless it is known to be. Append appends the
// event unless it is there already, and returns its number, as LogEnd does. Key
// is that of the job's record.
func (s *Store) LogEnd(id, key string, append func() (seq int64, err error)) (seq int64, err error) {
	if seq := s.cursor(id, key).Logged; seq > 0 {
		return seq, nil
	}
	if seq, err = append(); err != nil {
		return 0, err
	}
	// Without the mark the log is searched the next time, which finds the event.
	_ = s.change(id, key, func(c *cursor) { c.Logged = seq }, state.ReplaceFile)
	return seq, nil
}

// key is the key of the record that a job has now.
func (s *Store) key(id string) (key string, ok bool) {
	dir, err := record.Open(s.path(id))
	if err != nil {
		return "", false
	}
	defer dir.Close()
	ask, err := dir.ReadAsk()
	if err != nil {
		return "", false
	}
	return ask.Key, true
}

// move changes the place in the output of a record, while no other process does.
func (s *Store) move(id, key string, change func(*cursor)) error {
	return s.change(id, key, change, func(path string, data []byte) error { return state.WriteFile(path, data, 0o600) })
}

// change is move with a way of writing.
func (s *Store) change(id, key string, change func(*cursor), write func(path string, data []byte) error) error {
	if err := s.ensure(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock, err := state.Lock(ctx, filepath.Join(s.places, ".cursors"))
	if err != nil {
		return err
	}
	defer lock.Release()
	before, err := s.readCursor(id, key)
	if errors.Is(err, fault.Invariant) {
		// A pipe or a link that somebody has put there is not written to.
		if err := os.Remove(s.cursorPath(id)); err != nil {
			return err
		}
	}
	after := before
	change(&after)
	if after == before {
		return nil
	}
	data, err := json.Marshal(after)
	if err != nil {
		return err
	}
	return write(s.cursorPath(id), data)
}
