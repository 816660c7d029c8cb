package record

import (
	"syscall"
	"testing"
)

func TestASlotReadsAsItWasWritten(t *testing.T) {
	for name, s := range map[string]slot{
		"nothing":             {},
		"a gap":               {gapFrom: 4096, gapTo: 1 << 40},
		"frozen at the cap":   {frozen: true, end: 7, total: 9},
		"frozen by the disk":  {gapFrom: 1, gapTo: 2, frozen: true, errno: syscall.ENOSPC, end: 5, total: 1<<62 + 3},
		"frozen before bytes": {frozen: true, errno: syscall.EIO},
	} {
		if got, ok := decodeSlot(s.encode()); !ok || got != s {
			t.Errorf("%s: %+v becomes %+v, %v", name, s, got, ok)
		}
	}
}

func TestANewIndexSaysNothing(t *testing.T) {
	if s, ok := decodeSlot([slotSize]byte{}); !ok || s != (slot{}) {
		t.Errorf("it says %+v, %v", s, ok)
	}
}

func TestHalfASlotIsNoticed(t *testing.T) {
	before := slot{gapFrom: 4096, gapTo: 1 << 20}.encode()
	after := slot{gapFrom: 4096, gapTo: 1<<20 + 512<<10 + 4096, frozen: true, total: 1 << 21, end: 1 << 21}.encode()
	for cut := range slotSize {
		mixed := before
		copy(mixed[:cut], after[:cut])
		if mixed == before || mixed == after {
			continue
		}
		if s, ok := decodeSlot(mixed); ok {
			t.Errorf("with %d new bytes it is read as %+v", cut, s)
		}
	}
}
