package record

import "testing"

func TestHeadAndTailTogetherAreTheCap(t *testing.T) {
	for _, c := range []struct{ limit, head, tail int64 }{
		{1, 0, 1},
		{8191, 0, 8191},
		{8192, 4096, 4096},
		{10_000, 4096, 5904},
		{64 << 20, 32 << 20, 32 << 20},
	} {
		if k := keepOf(c.limit); k.head != c.head || k.tail != c.tail {
			t.Errorf("of %d: head %d and tail %d, want %d and %d", c.limit, k.head, k.tail, c.head, c.tail)
		}
	}
}

func TestWhatIsGivenUpIsNeverKept(t *testing.T) {
	for _, limit := range []int64{1, 5000, 1 << 20, 3<<20 + 17} {
		k := keepOf(limit)
		gapTo := int64(0)
		for total := int64(0); total < 8<<20; total += 40_001 {
			from, to, due := k.excess(gapTo, total)
			if !due {
				if held := k.head + total - max(k.head, gapTo); total > limit && held > limit+punchStep {
					t.Fatalf("limit %d: %d bytes are held of %d", limit, held, total)
				}
				continue
			}
			if from%pageSize != 0 || to%pageSize != 0 || from < k.head || from < gapTo || to > total-k.tail || to <= from {
				t.Fatalf("limit %d, total %d, gap to %d: [%d,%d) is given up", limit, total, gapTo, from, to)
			}
			gapTo = to
		}
		if gapTo == 0 {
			t.Errorf("limit %d: nothing was given up", limit)
		}
	}
}
