package proctree

import (
	"slices"
	"time"

	"hardshell/internal/spawn"
)

// EndMarked ends every process that carries one of the tags, whoever started it:
// SIGTERM, the grace, SIGKILL. It returns what resisted. It knows the tags alone.
func EndMarked(tags []uint64, grace time.Duration) (survivors []int) {
	marked := func(p process) bool {
		if p.dead {
			return false
		}
		mark := spawn.Mark(p.pid)
		return mark != 0 && slices.ContainsFunc(tags, func(tag uint64) bool { return spawn.Within(mark, tag) })
	}
	find := func(visit func(process) bool) {
		processes(0, func(p process) bool { return !marked(p) || visit(p) })
	}
	found := false
	find(func(process) bool {
		found = true
		return false
	})
	if len(tags) == 0 || !found {
		return nil
	}
	herd := newHerd(find, func(pid int) bool { return isNow(pid, marked) }, grace)
	herd.Terminate()
	<-herd.ended
	return herd.Survivors()
}
