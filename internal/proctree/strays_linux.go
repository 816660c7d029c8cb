package proctree

import (
	"context"
	"slices"
	"time"
)

// endStrays ends the processes that carry a tag of this set and belong to no
// live tree: daemons that left the session of a command which is long over. It
// returns those that resisted, but for those that are known to.
func (s *Set) endStrays(ctx context.Context, known []int) []int {
	strays := s.strays(known)
	if strays == nil {
		return nil
	}
	found := false
	strays.find(func(process) bool {
		found = true
		return false
	})
	if !found {
		return nil
	}
	defer context.AfterFunc(ctx, strays.Kill)()
	strays.Terminate()
	<-strays.ended
	return strays.Survivors()
}

// AwaitStrays waits until no process carries a tag of this set (true) or ctx
// ends (false).
func (s *Set) AwaitStrays(ctx context.Context) bool {
	strays := s.strays(nil)
	return strays == nil || strays.awaitEnd(ctx, time.Second)
}

// strays is what carries a tag of this set, but for the processes in known; nil
// when nothing was ever started.
func (s *Set) strays(known []int) *Tree {
	s.mu.Lock()
	first, grace := s.firstPID, s.maxGrace
	s.mu.Unlock()
	if first == 0 {
		return nil
	}
	floor := s.pidFloor(first)
	stray := func(p process) bool { return isStray(p, s.tags) && !slices.Contains(known, p.pid) }
	return newHerd(func(visit func(process) bool) {
		processes(floor, func(p process) bool { return !stray(p) || visit(p) })
	}, func(pid int) bool { return isNow(pid, stray) }, grace)
}

// pidFloor is the smallest process id that a descendant of this set can have.
// Ids are given in ascending order until they wrap around at 32,768 or more, so
// that in its first second a set knows all its own to be above its first
// child's, which spares a one-shot command the walk over the whole system.
func (s *Set) pidFloor(first int) int {
	if time.Since(s.born) > time.Second {
		return 0
	}
	if lastPID() < first {
		return 0
	}
	return first
}
