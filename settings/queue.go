package settings

import (
	"context"
	"slices"
)

// queue lets the writes of one namespace through one at a time, in the order in
// which they came. The service's mu guards it.
type queue struct {
	busy    bool
	waiting []chan struct{}
}

// enter waits for the turn of a write. The service's mu is held when it is called
// and is released when it returns: so the order of calls is that of their checks.
// After nil, leave must follow.
func (s *Service) enter(ctx context.Context, ns Namespace) error {
	q := s.queues[ns]
	if q == nil {
		q = &queue{}
		s.queues[ns] = q
	}
	if !q.busy {
		q.busy = true
		s.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	q.waiting = append(q.waiting, turn)
	s.mu.Unlock()

	var refusal error
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		refusal = context.Cause(ctx)
	case <-s.life.Done():
		refusal = errClosedBefore(ns)
	}
	s.mu.Lock()
	if i := slices.Index(q.waiting, turn); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		s.mu.Unlock()
		return refusal
	}
	s.mu.Unlock()
	// The turn came at the same moment: hand it on.
	s.leave(ns)
	return refusal
}

// leave hands the turn to the next.
func (s *Service) leave(ns Namespace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[ns]
	if len(q.waiting) == 0 {
		delete(s.queues, ns)
		return
	}
	close(q.waiting[0])
	q.waiting = q.waiting[1:]
}
