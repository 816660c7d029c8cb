package durable

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/record"
	"hardshell/internal/state"
)

// Prune takes away the settled jobs that are older than the retention, and the
// oldest beyond what is kept, those that were reported first; never one that
// lives. With everything, all that have settled go. It returns their ids. What
// foreground runs have left goes by the same rules.
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
	s.pruneRuns(everything)
	keep := s.config.Keep
	if everything {
		keep = 0
	}
	return s.prune(ids, keep), nil
}

// tidyFile is as old as the last Tidy.
const tidyFile = ".tidied"

// Tidy is Prune, at most once a day and only when nobody else is at it. It makes
// nothing where there is nothing.
func (s *Store) Tidy() error {
	const often = 24 * time.Hour
	mark := filepath.Join(s.places, tidyFile)
	if info, err := os.Lstat(mark); err == nil && time.Since(info.ModTime()).Abs() < often {
		return nil
	}
	for _, dir := range []string{s.dir, s.places} {
		if _, err := os.Lstat(dir); err != nil {
			return nil
		}
	}
	lock, free, err := state.TryLock(s.lockPath())
	if !free || err != nil {
		return err
	}
	defer lock.Release()
	ids, err := s.ids()
	if err != nil {
		return err
	}
	s.pruneRuns(false)
	s.prune(ids, s.config.Keep)
	return state.ReplaceFile(mark, nil)
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
		if !record.Settled(s.path(id)) {
			continue
		}
		job, _, err := s.read(id)
		if err != nil || !job.Status.Terminal() {
			continue
		}
		jobs = append(jobs, settled{id, job.FinishedAt, s.cursor(id, job.Key).Reported})
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
	var old []string
	for i, job := range jobs {
		if len(jobs)-i > keep || s.config.Retention > 0 && job.finished < oldest {
			old = append(old, job.id)
		}
	}
	if len(old) == 0 || s.keepNumbers(old) != nil {
		return nil
	}
	for _, id := range old {
		if s.remove(id) == nil {
			gone = append(gone, id)
		}
	}
	return gone
}

// remove takes a settled job away, whose number is kept.
func (s *Store) remove(id string) error {
	dir, err := record.Open(s.path(id))
	if err != nil {
		return err
	}
	defer dir.Close()
	if _, settled, err := dir.ReadStatus(); !settled && err == nil {
		return fault.New(fault.Invariant, "the job %s has not settled: kill it first", id) // it is another's by now
	}
	if err := dir.Remove(); err != nil {
		return err
	}
	_ = os.Remove(s.cursorPath(id))
	return nil
}

// fresh is how long the record of a run may still be read by who ran it.
const fresh = 10 * time.Second

// pruneRuns takes away what foreground runs have left: the records of those that
// were long, for as long as jobs are kept, and of those whose harness died. The
// records of those whose host died are completed first.
func (s *Store) pruneRuns(everything bool) {
	age := fresh
	if !everything {
		age = max(age, s.config.Retention)
	}
	hostLives := sync.OnceValue(s.hostLives)
	runs, _ := filepath.Glob(filepath.Join(s.dir, runPrefix+"*"))
	for _, path := range runs {
		info, err := os.Lstat(path)
		if err != nil || time.Since(info.ModTime()) < age {
			continue
		}
		if !record.Settled(path) && !s.completes(path, hostLives) {
			continue
		}
		if dir, err := record.Open(path); err == nil {
			_ = dir.Remove() // the next time, perhaps
			dir.Close()
		}
	}
}

// completes reports whether nothing is left of an unsettled run, which it ends
// when its host is dead.
func (s *Store) completes(path string, hostLives func() bool) bool {
	switch {
	case !record.Asked(path):
		return true // its harness died at once
	case !s.isLost(path, hostLives):
		return false
	case s.config.Watch == nil: // nobody here can end what is left
		return s.isGone(path)
	}
	command, err := s.config.Watch(path)
	if err != nil {
		return false
	}
	select {
	case <-command.Done():
		return record.Settled(path)
	case <-time.After(time.Second):
		return false // the next time
	}
}

// isGone reports whether the process of a lost run is gone.
func (s *Store) isGone(path string) bool {
	dir, err := record.Open(path)
	if err != nil {
		return false
	}
	defer dir.Close()
	process, err := dir.ReadProcess()
	return err != nil || process.Boot != record.BootID() || !exists(process.PID)
}
