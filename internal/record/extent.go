package record

// extent says which bytes of a stream of size bytes are in its log: those
// before gapFrom, and those from gapTo up to end. All 0 is an empty stream; a
// log without a gap has gapFrom and gapTo 0.
//
//	0 ≤ gapFrom ≤ gapTo ≤ end ≤ size
type extent struct{ size, gapFrom, gapTo, end int64 }

// valid reports whether the offsets are in order.
func (e extent) valid() bool {
	return 0 <= e.gapFrom && e.gapFrom <= e.gapTo && e.gapTo <= e.end && e.end <= e.size
}

// run returns the kept bytes that hold pos or, when it is lost, the first after
// it: an empty run at the size or pos, whichever is larger, when there are none.
func (e extent) run(pos int64) (from, to int64) {
	if pos < e.gapFrom {
		return pos, e.gapFrom
	}
	if pos = max(pos, e.gapTo); pos < e.end {
		return pos, e.end
	}
	pos = max(pos, e.size)
	return pos, pos
}

// newest returns the newest kept bytes at or after from without a gap between
// them, at most n: an empty run at the size when there are none.
func (e extent) newest(from, n int64) (start, end int64) {
	if start = max(from, e.gapTo, e.end-n); start < e.end {
		return start, e.end
	}
	if start = max(from, e.gapFrom-n); e.gapTo == e.end && start < e.gapFrom {
		return start, e.gapFrom
	}
	return e.size, e.size
}

// lost returns how many bytes from offset from on are not kept.
func (e extent) lost(from int64) int64 {
	middle := max(0, e.gapTo-max(from, e.gapFrom))
	rest := max(0, e.size-max(from, e.end))
	return middle + rest
}

// gap returns the part outside which everything is kept.
func (e extent) gap() (Gap, bool) {
	g := Gap{From: e.gapFrom, To: e.gapTo}
	if e.end < e.size {
		g.To = e.size
		if e.gapFrom == e.gapTo {
			g.From = e.end
		}
	}
	return g, g.From < g.To
}

// trim returns the part of data, which was read at offset from, that is kept
// by e. Data never has kept bytes on both sides of a gap: a gap only grows at
// its end.
func (e extent) trim(data []byte, from int64) ([]byte, int64) {
	to := from + int64(len(data))
	switch {
	case to <= e.gapFrom || from >= e.gapTo:
		return data, from
	case from < e.gapFrom:
		return data[:e.gapFrom-from], from
	case to > e.gapTo:
		return data[e.gapTo-from:], e.gapTo
	}
	return nil, to
}

// until returns what e says about the first size bytes of the stream.
func (e extent) until(size int64) extent {
	return extent{size: size, gapFrom: min(e.gapFrom, size), gapTo: min(e.gapTo, size), end: min(e.end, size)}
}
