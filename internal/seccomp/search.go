//go:build linux && (amd64 || arm64)

package seccomp

import (
	"fmt"
	"slices"
)

// A segment sends the call numbers from start up to the next segment's start to
// a label. The first of a list starts at 0, the last reaches to the highest
// number.
type segment struct {
	start uint32
	to    label
}

// segments sorts rules that do not overlap and fills what lies between them
// with allow. Neighbors never have the same label.
func segments(rules []rule) []segment {
	slices.SortFunc(rules, func(a, b rule) int {
		if a.first < b.first {
			return -1
		}
		return 1
	})
	var list []segment
	add := func(start uint32, to label) {
		if len(list) == 0 || list[len(list)-1].to != to {
			list = append(list, segment{start, to})
		}
	}
	free := uint64(0) // the lowest number that no rule so far covers
	for _, r := range rules {
		if uint64(r.first) < free || r.last < r.first {
			panic(fmt.Sprintf("seccomp: rule for calls %d to %d overlaps another or is empty", r.first, r.last))
		}
		if uint64(r.first) > free {
			add(uint32(free), allow)
		}
		add(r.first, r.to)
		free = uint64(r.last) + 1
	}
	if free <= uint64(^uint32(0)) {
		add(uint32(free), allow)
	}
	return list
}

// search emits a binary search for the loaded call number. It ends at the label
// of the segment that holds the number. A list of about a hundred segments costs
// seven comparisons; a kernel since 5.11 also remembers for which numbers the
// answer is always to allow, and then runs nothing.
func (p *program) search(list []segment) {
	if len(list) == 1 {
		p.jump(list[0].to)
		return
	}
	middle := len(list) / 2
	lower, upper := list[:middle], list[middle:]
	ifLower, ifUpper := next, upper[0].to
	if len(lower) == 1 {
		ifLower = lower[0].to
	}
	if len(upper) > 1 {
		ifUpper = label(fmt.Sprintf("from %d", upper[0].start))
	}
	p.ifAtLeast(upper[0].start, ifUpper, ifLower)
	if len(lower) > 1 {
		p.search(lower)
	}
	if len(upper) > 1 {
		p.at(ifUpper)
		p.search(upper)
	}
}
