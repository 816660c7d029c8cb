package local

import (
	"context"
	"slices"
	"time"
)

// endStrays ends the processes that carry a tag of this runtime and belong to
// no live tree: daemons that left the session of a command which is long over.
// It returns those that resisted, but for those that are known to.
func (r *Runtime) endStrays(ctx context.Context, known []int) []int {
	r.mu.Lock()
	first, grace := r.firstPID, r.maxGrace
	r.mu.Unlock()
	if first == 0 {
		return nil
	}
	floor := r.pidFloor(first)
	find := func(visit func(process) bool) {
		visitStrays(r.tags, floor, func(p process) bool {
			return slices.Contains(known, p.pid) || visit(p)
		})
	}

	found := false
	find(func(process) bool {
		found = true
		return false
	})
	if !found {
		return nil
	}
	strays := newHerd(find, grace)
	defer context.AfterFunc(ctx, strays.kill)()
	strays.terminate()
	<-strays.ended
	return strays.resisted()
}

// pidFloor is the smallest process id that a descendant of this runtime can
// have. Ids are given in ascending order until they wrap around at 32,768 or
// more, so that in its first second a runtime knows all its own to be above its
// first child's, which spares a one-shot command the walk over the whole system.
func (r *Runtime) pidFloor(first int) int {
	if time.Since(r.born) > time.Second {
		return 0
	}
	if lastPID() < first {
		return 0
	}
	return first
}
