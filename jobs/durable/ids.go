package durable

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hardshell/internal/fault"
	"hardshell/internal/record"
	"hardshell/internal/state"
	"hardshell/jobs"
)

// parseID takes an id apart: <kind>-<n>, n from 1 without leading zeros. Kinds
// are lower-case words, so that an id is one safe element of a path.
func parseID(id string) (kind string, n int, ok bool) {
	i := strings.LastIndexByte(id, '-')
	if i < 1 || len(id) > 64 {
		return "", 0, false
	}
	kind, digits := id[:i], id[i+1:]
	if !validKind(kind) {
		return "", 0, false
	}
	n, err := strconv.Atoi(digits)
	return kind, n, err == nil && n > 0 && strconv.Itoa(n) == digits
}

func validKind(kind string) bool {
	for i := range len(kind) {
		if c := kind[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9' || i == 0) && c != '_' {
			return false
		}
	}
	return kind != "" && len(kind) <= 32
}

// ids lists the directories that are called like jobs, in the order of their
// numbers.
func (s *Store) ids() ([]string, error) {
	dir, err := os.Open(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, _, ok := parseID(name); return !ok })
	slices.SortFunc(names, func(a, b string) int {
		kindA, nA, _ := parseID(a)
		kindB, nB, _ := parseID(b)
		return cmp.Or(cmp.Compare(nA, nB), cmp.Compare(kindA, kindB))
	})
	return names, nil
}

// Reserve implements jobs.Records. The directory is the id: making it is what
// takes it, and a lock on it tells that its starter is at work.
func (s *Store) Reserve(kind string, limit int) (*jobs.Slot, error) {
	if !validKind(kind) {
		return nil, fault.New(fault.InvalidArgument, "invalid job kind: %q is no lower-case word", kind)
	}
	lock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	last, err := s.lastPruned(kind)
	if err != nil {
		return nil, err
	}
	live := 0
	for _, id := range ids {
		if !s.isSettled(id) && !s.removeStale(id) {
			live++
		}
		if k, n, _ := parseID(id); k == kind && s.exists(id) {
			last = max(last, n)
		}
	}
	if live >= limit {
		return nil, fault.New(fault.JobLimit,
			"background job limit reached for this owner (limit: %d); use job_kill to stop an unneeded job, wait for it to finish, then retry", limit)
	}
	if len(ids)-live > s.config.Keep {
		s.prune(ids, s.config.Keep)
	}
	id := fmt.Sprintf("%s-%d", kind, last+1)
	return s.take(id)
}

// take makes the directory of an id.
func (s *Store) take(id string) (*jobs.Slot, error) {
	path := s.path(id)
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	dir, err := record.Open(path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	unlock, ok, err := dir.TryLock()
	if !ok {
		dir.Close()
		return nil, errors.Join(err, os.Remove(path), fault.New(fault.LockTimeout, "the job %s is being started by another process", id))
	}
	return &jobs.Slot{
		ID: id, Dir: path,
		Keep: func() {
			unlock()
			dir.Close()
		},
		Release: func() {
			_ = dir.Remove() // what stays is a job that was never started
			unlock()
			dir.Close()
		},
	}, nil
}

// isSettled reports whether a job has settled, or was never one.
func (s *Store) isSettled(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settled[id] {
		return true
	}
	if !record.Settled(s.path(id)) {
		return false
	}
	s.settled[id] = true
	return true
}

func (s *Store) exists(id string) bool {
	_, err := os.Lstat(s.path(id))
	return err == nil
}

// removeStale removes the directory of an id whose starter died before it had
// asked for anything.
func (s *Store) removeStale(id string) (removed bool) {
	if record.Asked(s.path(id)) {
		return false
	}
	dir, err := record.Open(s.path(id))
	if err != nil {
		return true
	}
	defer dir.Close()
	unlock, ok, err := dir.TryLock()
	if !ok || err != nil {
		return false
	}
	defer unlock()
	return dir.Remove() == nil
}

// prunedFile holds the largest number of each kind that was taken away, so that
// none is given again.
const prunedFile = ".pruned.json"

func (s *Store) lastPruned(kind string) (int, error) {
	numbers, err := s.readPruned()
	return numbers[kind], err
}

func (s *Store) readPruned() (map[string]int, error) {
	numbers := map[string]int{}
	data, err := os.ReadFile(filepath.Join(s.dir, prunedFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return numbers, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(data, &numbers); err != nil {
		return nil, fault.New(fault.Invariant, "%s cannot be read: remove it, and ids may be given again (%w)", filepath.Join(s.dir, prunedFile), err)
	}
	return numbers, nil
}

// notePruned remembers that an id was given, before it is taken away.
func (s *Store) notePruned(id string) error {
	numbers, err := s.readPruned()
	if err != nil {
		return err
	}
	kind, n, _ := parseID(id)
	if numbers[kind] >= n {
		return nil
	}
	numbers[kind] = n
	data, err := json.Marshal(numbers)
	if err != nil {
		return err
	}
	return state.WriteFile(filepath.Join(s.dir, prunedFile), data, 0o600)
}
