//go:build unix

package proctree

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/spawn"
)

// Set owns the trees that it started until they are gone. It is safe for
// concurrent use.
type Set struct {
	tags *spawn.Tags
	born time.Time

	mu       sync.Mutex
	closed   bool
	entered  sync.WaitGroup // Add under mu, so that Close sees every tree
	live     map[*Tree]struct{}
	firstPID int
	maxGrace time.Duration
}

// NewSet returns a set without trees.
func NewSet() *Set {
	return &Set{tags: spawn.NewTags(), born: time.Now(), live: map[*Tree]struct{}{}}
}

// errClosed refuses a start after Close.
var errClosed = fault.New(fault.SpawnFailed, "the subprocess runtime is closed: no more commands are run")

// Enter counts a start in, before anything is started. Close waits for the
// Leave that belongs to it. After Close it is a SPAWN_FAILED error.
func (s *Set) Enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.entered.Add(1)
	return nil
}

// Leave ends what Enter began.
func (s *Set) Leave() { s.entered.Done() }

// NextTag returns a fresh tag for Start, 0 where there are none.
func (s *Set) NextTag() uint64 { return s.tags.Next() }

// Issued reports whether NextTag has returned tag.
func (s *Set) Issued(tag uint64) bool { return s.tags.Issued(tag) }

// Start starts the leader of a new tree, between Enter and Leave. Its errors
// are those of start. The set owns the tree until Forget.
func (s *Set) Start(start func(*spawn.Attr) (*spawn.Child, error), attr *spawn.Attr, grace time.Duration) (*Tree, error) {
	began := time.Now()
	proc, err := start(attr)
	if err != nil {
		return nil, err
	}
	t := newTree(proc, attr.Tag, grace, began)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[t] = struct{}{}
	if s.firstPID == 0 || t.pid < s.firstPID {
		s.firstPID = t.pid
	}
	s.maxGrace = max(s.maxGrace, grace)
	return t, nil
}

// Forget lets go of a tree of which nothing is left, or nothing but what left
// its leader's group and its streams: the tag finds that.
func (s *Set) Forget(t *Tree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, t)
}

// Close terminates every tree and returns when all are gone, also what left the
// session of a tree that is long over, as far as tags find it. When ctx ends,
// the grace is cut short. The error, INVARIANT, names what resisted. It is
// called once.
func (s *Set) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.entered.Wait()

	s.mu.Lock()
	trees := make([]*Tree, 0, len(s.live))
	for t := range s.live {
		trees = append(trees, t)
	}
	s.mu.Unlock()

	for _, t := range trees {
		t.Terminate()
	}
	cutShort := context.AfterFunc(ctx, func() {
		for _, t := range trees {
			t.Kill()
		}
	})
	defer cutShort()

	var failures []error
	var known []int
	for _, t := range trees {
		select {
		case <-t.gone:
		case <-t.ended:
		}
		if left := t.Survivors(); len(left) > 0 && !isClosed(t.gone) {
			failures = append(failures, stillAlive(left))
		}
		known = append(known, t.Survivors()...)
	}
	if left := s.endStrays(ctx, known); len(left) > 0 {
		failures = append(failures, stillAlive(left))
	}
	switch len(failures) {
	case 0:
		return nil
	case 1:
		return failures[0]
	default:
		joined := errors.Join(failures...)
		return &fault.Error{Code: fault.Invariant, Message: "not every command could be ended: " + joined.Error(), Err: joined}
	}
}

// stillAlive names processes that outlived SIGKILL.
func stillAlive(pids []int) error {
	return fault.New(fault.Invariant, "processes still alive after SIGKILL: %s", fmt.Sprint(pids))
}
