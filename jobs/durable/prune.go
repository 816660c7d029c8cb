package durable

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hardshell/internal/record"
)

// Prune takes away the settled jobs that are older than the retention, and the
// oldest beyond what is kept, those that were reported first; never one that
// lives. With everything, all that have settled go. It returns their ids.
func (s *Store) Prune(everything bool) ([]string, error) {
	lock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	s.pruneRuns()
	keep := s.config.Keep
	if everything {
		keep = 0
	}
	return s.prune(ids, keep), nil
}

// prune is Prune under the lock, of the jobs among ids.
func (s *Store) prune(ids []string, keep int) (gone []string) {
	type settled struct {
		id       string
		finished int64
		reported bool
	}
	var jobs []settled
	for _, id := range ids {
		if !s.isSettled(id) {
			continue
		}
		job, _, err := s.read(id)
		if err != nil {
			continue
		}
		jobs = append(jobs, settled{id, job.FinishedAt, s.cursor(id).Reported})
	}
	slices.SortStableFunc(jobs, func(a, b settled) int {
		if a.reported != b.reported {
			if a.reported {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.finished, b.finished)
	})
	oldest := time.Now().Add(-s.config.Retention).UnixMilli()
	for i, job := range jobs {
		if len(jobs)-i > keep || s.config.Retention > 0 && job.finished < oldest {
			if s.remove(job.id) == nil {
				gone = append(gone, job.id)
			}
		}
	}
	return gone
}

// remove takes a settled job away.
func (s *Store) remove(id string) error {
	if err := s.notePruned(id); err != nil {
		return err
	}
	dir, err := record.Open(s.path(id))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Remove(); err != nil {
		return err
	}
	_ = os.Remove(s.cursorPath(id))
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
	delete(s.settled, id)
	return nil
}

// pruneRuns takes away what foreground runs have left: the records of those that
// were long, for as long as spill files are kept, and of those whose harness died.
func (s *Store) pruneRuns() {
	runs, _ := filepath.Glob(filepath.Join(s.dir, runPrefix+"*"))
	for _, path := range runs {
		info, err := os.Lstat(path)
		if err != nil || !strings.HasPrefix(filepath.Base(path), runPrefix) || !record.Settled(path) ||
			s.config.Retention > 0 && time.Since(info.ModTime()) < s.config.Retention {
			continue
		}
		if dir, err := record.Open(path); err == nil {
			_ = dir.Remove() // the next time, perhaps
			dir.Close()
		}
	}
}
