package durable

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"

	"hardshell/internal/fault"
	"hardshell/internal/record"
	"hardshell/internal/state"
)

// numbersFile holds the largest number of each kind that was given. It lies beside
// the cursors: who removes the records makes no id be given again.
const numbersFile = ".numbers.json"

func (s *Store) numbersPath() string { return filepath.Join(s.places, numbersFile) }

// numbers returns the largest numbers that are noted. An empty file is what a
// power cut leaves.
func (s *Store) numbers() (map[string]int, error) {
	numbers := map[string]int{}
	data, err := state.ReadFile(s.numbersPath(), maxPlaceFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0:
		return numbers, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(data, &numbers); err != nil {
		return nil, fault.New(fault.Invariant, "%s cannot be read: remove it, and ids may be given again (%w)", s.numbersPath(), err)
	}
	return numbers, nil
}

// noteNumber notes that the numbers of a kind up to n were given. The caller holds
// the lock on the ids.
func (s *Store) noteNumber(kind string, n int) error {
	return s.changeNumbers(func(numbers map[string]int) { numbers[kind] = max(numbers[kind], n) })
}

// keepNumbers notes ids whose directories are about to go: not even a power cut
// may take the numbers from then on. The caller holds the lock on the ids.
func (s *Store) keepNumbers(ids []string) error {
	numbers, err := s.numbers()
	if err != nil {
		return err
	}
	for _, id := range ids {
		kind, n, _ := parseID(id)
		numbers[kind] = max(numbers[kind], n)
	}
	data, err := json.Marshal(numbers)
	if err != nil {
		return err
	}
	return state.WriteFile(s.numbersPath(), data, 0o600)
}

// giveBack takes back that an id was given, when it was the last one. The caller
// holds the lock on the ids.
func (s *Store) giveBack(id string) error {
	kind, n, _ := parseID(id)
	return s.changeNumbers(func(numbers map[string]int) {
		if numbers[kind] == n {
			numbers[kind] = n - 1
		}
	})
}

func (s *Store) changeNumbers(change func(map[string]int)) error {
	numbers, err := s.numbers()
	if err != nil {
		return err
	}
	before := maps.Clone(numbers)
	change(numbers)
	if maps.Equal(numbers, before) {
		return nil
	}
	data, err := json.Marshal(numbers)
	if err != nil {
		return err
	}
	return state.ReplaceFile(s.numbersPath(), data)
}

// release ends a reservation of which nothing has come. The number of an id that
// others may have seen is not given again.
func (s *Store) release(id string, dir *record.Dir) {
	seen := record.Asked(s.path(id))
	_ = dir.Remove() // what stays is a job that was never started
	if seen {
		return
	}
	lock, err := s.lock()
	if err != nil {
		return // its number is lost, and that is all
	}
	defer lock.Release()
	if !s.exists(id) {
		_ = s.giveBack(id)
	}
}
