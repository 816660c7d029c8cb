package record

const (
	// maxMove is the most that one call moves.
	maxMove = 1 << 20
	// punchStep is how much is given up at once. With what one call adds beyond
	// the cap, a log holds at most twice as much more than its cap.
	punchStep = 512 << 10
	// pageSize is the smallest block of common file systems: holes begin and end
	// at its multiples, for part of a block is zeroed and not freed.
	pageSize = 4096
)

// keep says what of a long stream is kept: its first head bytes, its newest
// tail bytes, and for a while up to punchStep before the tail.
type keep struct{ limit, head, tail int64 }

func keepOf(limit int64) keep {
	head := limit / 2 &^ (pageSize - 1)
	return keep{limit: limit, head: head, tail: limit - head}
}

// excess returns the bytes to give up of a stream of total bytes whose gap ends
// at gapTo (0 when there is none).
func (k keep) excess(gapTo, total int64) (from, to int64, due bool) {
	from = max(k.head, gapTo)
	to = (total - k.tail) &^ (pageSize - 1)
	return from, to, to-from >= punchStep-pageSize
}
