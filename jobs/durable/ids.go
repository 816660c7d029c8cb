package durable

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
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
	names, err := state.ReadNames(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
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
	live, last := 0, 0
	for _, id := range s.unsettled(ids) {
		if !s.removeStale(id) {
			live++
		}
	}
	for _, id := range ids {
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
	// Stale directories have given their numbers back, in the file too.
	numbers, err := s.numbers()
	if err != nil {
		return nil, err
	}
	last = max(last, numbers[kind]) + 1
	slot, err := s.take(fmt.Sprintf("%s-%d", kind, last))
	if err != nil {
		return nil, err
	}
	if err := s.noteNumber(kind, last); err != nil {
		slot.Release()
		return nil, err
	}
	return slot, nil
}

// unsettled lists those of the ids whose jobs live, or are being started: those
// of a dead host do not, whoever completes their records.
func (s *Store) unsettled(ids []string) (live []string) {
	hostLives := sync.OnceValue(s.hostLives)
	for _, id := range ids {
		if path := s.path(id); !record.Settled(path) && !s.isLost(path, hostLives) {
			live = append(live, id)
		}
	}
	return live
}

// isLost reports whether nobody looks after the command of an unsettled record
// any more.
func (s *Store) isLost(path string, hostLives func() bool) bool {
	if !record.Asked(path) {
		return false
	}
	dir, err := record.Open(path)
	if err != nil {
		return false
	}
	defer dir.Close()
	process, err := dir.ReadProcess()
	if err != nil {
		process = nil
	}
	return s.orphaned(dir, process, hostLives) != ""
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
	lock, ok, err := state.TryLock(s.startLock(id))
	if !ok {
		dir.Close()
		return nil, errors.Join(err, os.Remove(path), fault.New(fault.LockTimeout, "the job %s is being started by another process", id))
	}
	unlock := func() {
		os.Remove(s.startLock(id)) // while it is held: nobody starts this id again
		lock.Release()
		dir.Close()
	}
	return &jobs.Slot{
		ID: id, Dir: path,
		Keep: unlock,
		Release: func() {
			s.release(id, dir)
			unlock()
		},
	}, nil
}

// startLock is held by who starts a job.
func (s *Store) startLock(id string) string {
	return hostwire.FilesOf(s.config.Home.Run(), s.config.SessionID).Starting(id)
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
	if state.Held(s.startLock(id)) || dir.Remove() != nil {
		return false
	}
	os.Remove(s.startLock(id))
	_ = s.giveBack(id)
	return true
}
