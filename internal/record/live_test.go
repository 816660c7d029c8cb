//go:build unix

package record

import (
	"sync/atomic"
	"testing"
)

// A reader that is faster or slower than the writer never sees a byte that is
// not the stream's: every byte is a function of its offset, and none is zero.
func TestReadersOfALogThatLosesItsMiddle(t *testing.T) {
	t.Parallel()
	const total = 48 << 20
	d, ask, logs, _ := newLogs(t, 1<<20)
	w := logs.Stream(Stdout)
	holes(t, w)
	var over atomic.Bool
	done := make(chan struct{})
	for reader := range 4 {
		r := openLog(t, d, ask, Stdout)
		limit := []int{1000, 70_000, 300_000, 2 << 20}[reader]
		go func() {
			defer func() { done <- struct{}{} }()
			for round := 0; !over.Load() && !t.Failed(); round++ {
				if reader%2 == 0 {
					readFromGap(t, r, limit)
				} else {
					followTail(t, r, limit)
				}
			}
		}()
	}
	feed(t, w, total, 61_003)
	over.Store(true)
	for range 4 {
		<-done
	}
	if gap, ok := openLog(t, d, ask, Stdout).Gap(); !ok || gap.To < total-3<<20 {
		t.Errorf("the gap is %v, %v: it did not race", gap, ok)
	}
}

// readFromGap reads where bytes are about to be given up.
func readFromGap(t *testing.T, r *Reader, limit int) {
	at := int64(0)
	if gap, ok := r.Gap(); ok {
		at = gap.To
	}
	for range 3 {
		p, err := r.ReadAt(at, limit)
		if err != nil {
			t.Error(err)
			return
		}
		checkLive(t, p, at)
		at = p.Next
	}
}

func followTail(t *testing.T, r *Reader, limit int) {
	at := max(0, r.Size()-1_500_000)
	p, err := r.Tail(at, limit)
	if err != nil {
		t.Error(err)
		return
	}
	checkLive(t, p, at)
	if p.Next != max(at, p.Size) || p.Skipped != p.Next-at-int64(len(p.Data)) || p.Gone > p.Skipped {
		t.Errorf("a tail at %d, %d bytes: %+v", at, len(p.Data), summary{p.Offset, 0, p.Skipped, p.Gone, p.Next, p.Size})
	}
}

func checkLive(t *testing.T, p Piece, at int64) {
	if p.Offset < at || p.Next < p.Offset+int64(len(p.Data)) {
		t.Errorf("a read at %d brings %d bytes at %d, next %d", at, len(p.Data), p.Offset, p.Next)
	}
	for i, b := range p.Data {
		if want := pattern[(p.Offset+int64(i))%period]; b != want {
			t.Errorf("byte %d is %#x, want %#x", p.Offset+int64(i), b, want)
			return
		}
	}
}

func TestTheIndexIsReadWholeWhileItIsWritten(t *testing.T) {
	t.Parallel()
	_, _, logs, r := newLogs(t, 0)
	w := logs.Stream(Stdout)
	a := slot{frozen: true, end: 1, total: 1}
	b := slot{gapFrom: 1<<62 + 1, gapTo: 1<<62 + 2, frozen: true, errno: 28, end: 1<<62 + 3, total: 1<<62 + 4}
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				w.index.write(Stdout, a)
				w.index.write(Stdout, b)
			}
		}
	}()
	seen := map[slot]int{}
	for range 20_000 {
		s, err := r.loadSlot()
		if err != nil {
			t.Error(err)
			break
		}
		seen[s]++
	}
	close(stop)
	<-ended
	delete(seen, slot{})
	for s := range seen {
		if s != a && s != b {
			t.Errorf("it reads as %+v", s)
		}
	}
}
