package record

import (
	"math"
	"testing"
)

// naive is an extent as one bit per byte.
func naive(e extent) []bool {
	kept := make([]bool, e.size)
	for i := range kept {
		at := int64(i)
		kept[i] = at < e.gapFrom || at >= e.gapTo && at < e.end
	}
	return kept
}

func countLost(kept []bool, from, to int64) (n int64) {
	for i := from; i < to; i++ {
		if !kept[i] {
			n++
		}
	}
	return n
}

func TestExtentsAgreeWithOneBitPerByte(t *testing.T) {
	const size = 7
	for gapFrom := int64(0); gapFrom <= size; gapFrom++ {
		for gapTo := gapFrom; gapTo <= size; gapTo++ {
			for end := gapTo; end <= size; end++ {
				e := extent{size: size, gapFrom: gapFrom, gapTo: gapTo, end: end}
				if gapFrom == gapTo {
					e.gapFrom, e.gapTo = 0, 0 // as a log without a gap says it
				}
				checkExtent(t, e)
			}
		}
	}
}

func checkExtent(t *testing.T, e extent) {
	t.Helper()
	kept := naive(e)
	for pos := int64(0); pos <= e.size+1; pos++ {
		from, to := e.run(pos)
		if from < pos || to < from || to > max(e.size, pos) {
			t.Fatalf("%+v: run(%d) is [%d,%d)", e, pos, from, to)
		}
		if pos < e.size {
			if countLost(kept, pos, from) != from-pos || countLost(kept, from, to) != 0 {
				t.Errorf("%+v: run(%d) is [%d,%d)", e, pos, from, to)
			}
			if from < e.size && from == to || to < e.size && kept[to] {
				t.Errorf("%+v: run(%d) is [%d,%d) and there is more", e, pos, from, to)
			}
		}
		if got, want := e.lost(pos), countLost(kept, min(pos, e.size), e.size); got != want {
			t.Errorf("%+v: lost(%d) is %d, want %d", e, pos, got, want)
		}
		for n := int64(0); n <= e.size+1; n++ {
			if start, end := e.newest(pos, n); !newestIs(kept, pos, n, start, end) {
				t.Errorf("%+v: newest(%d, %d) is [%d,%d)", e, pos, n, start, end)
			}
		}
		e.newest(pos, math.MaxInt64)
	}
	gap, ok := e.gap()
	first, last := int64(-1), int64(-1)
	for i, k := range kept {
		if !k && first < 0 {
			first = int64(i)
		}
		if !k {
			last = int64(i) + 1
		}
	}
	if ok != (first >= 0) || ok && (gap.From != first || gap.To != last) {
		t.Errorf("%+v: the gap is %v %v, want [%d,%d)", e, gap, ok, first, last)
	}
}

func newestIs(kept []bool, from, n, start, end int64) bool {
	size := int64(len(kept))
	// The newest kept byte, then as far back as allowed.
	wantEnd := size
	for wantEnd > from && !kept[wantEnd-1] {
		wantEnd--
	}
	wantStart := wantEnd
	for wantStart > from && wantEnd-wantStart < n && kept[wantStart-1] {
		wantStart--
	}
	if wantStart >= wantEnd {
		return start == size && end == size
	}
	return start == wantStart && end == wantEnd
}

func TestWhatTheIndexSaysOfALogMustFitIt(t *testing.T) {
	for name, e := range map[string]extent{
		"a negative gap":                 {size: 9, gapFrom: -1, end: 9},
		"a gap that ends before it":      {size: 9, gapFrom: 5, gapTo: 4, end: 9},
		"a gap beyond the end":           {size: 9, gapFrom: 5, gapTo: 10, end: 9},
		"more kept than there is":        {size: 9, end: 10},
		"an end before that of the gap":  {size: 9, gapFrom: 2, gapTo: 5, end: 4},
		"an empty stream with a gap":     {gapFrom: 0, gapTo: 1},
		"a frozen log of negative size":  {size: -1, end: -1},
		"an end that is the largest int": {size: 1, end: math.MaxInt64},
	} {
		if e.valid() {
			t.Errorf("%s is taken", name)
		}
	}
}
