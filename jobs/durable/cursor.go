package durable

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"hardshell/internal/state"
)

// cursor is the model's place in the output of a job, the same for all processes
// of the session.
type cursor struct {
	Stdout int64 `json:"stdout"`
	Stderr int64 `json:"stderr"`
	// Noted says that the notes of the sandbox were read, Reported that somebody
	// who cares knows of the end.
	Noted    bool `json:"noted,omitempty"`
	Reported bool `json:"reported,omitempty"`
	// Noticed says that a notice of the end was delivered.
	Noticed bool `json:"noticed,omitempty"`
}

func (s *Store) cursorPath(id string) string { return filepath.Join(s.places, id+".json") }

// cursor returns the place in a job's output. One that cannot be read is the
// beginning: bytes are then read twice, and none is lost.
func (s *Store) cursor(id string) cursor {
	var c cursor
	data, err := os.ReadFile(s.cursorPath(id))
	if err != nil || json.Unmarshal(data, &c) != nil {
		return cursor{}
	}
	return c
}

// MarkNoticed says that a notice of a job's end was delivered, and is not to be
// delivered again. When that cannot be kept it is, which is the lesser harm.
func (s *Store) MarkNoticed(id string) {
	_ = s.move(id, func(c *cursor) { c.Noticed = true })
}

// Skip takes the beginning of a job's output for read.
func (s *Store) Skip(id string, stdout, stderr int64) {
	_ = s.move(id, func(c *cursor) { c.Stdout, c.Stderr = max(c.Stdout, stdout), max(c.Stderr, stderr) })
}

// move changes the place in a job's output, while no other process does.
func (s *Store) move(id string, change func(*cursor)) error {
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
	before := s.cursor(id)
	after := before
	change(&after)
	if after == before {
		return nil
	}
	data, err := json.Marshal(after)
	if err != nil {
		return err
	}
	return state.WriteFile(s.cursorPath(id), data, 0o600)
}
