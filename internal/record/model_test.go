//go:build unix

package record

import (
	"math"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// FuzzReads runs a script against a log and against what a log must be: the
// stream itself, of which only bytes that may be given up are missing. Each
// step has three bytes: what to do, and a number.
func FuzzReads(f *testing.F) {
	f.Add(uint32(100_000), false, []byte("\x00\xff\xff\x02\x00\x10\x00\xff\xff\x03\x01\x00\x02\x80\x00"))
	f.Add(uint32(5), false, []byte("\x01\xff\xff\x01\xff\xff\x01\xff\xff\x02\x00\x00\x03\x00\x00\x02\x80\x00\x02\xff\xff"))
	f.Add(uint32(70_000), true, []byte("\x01\xff\xff\x01\xff\xff\x02\x00\x00\x03\x00\x00\x02\x80\x00"))
	f.Add(uint32(1<<20), false, []byte("\x01\xff\xff\x01\xff\xff\x04\x00\x00\x00\xff\xff\x02\x00\x00\x03\x00\x00"))
	f.Fuzz(func(t *testing.T, limit uint32, refuse bool, script []byte) {
		if len(script) > 3*40 {
			return
		}
		keepAtLeast := int64(limit%(4<<20) + 1)
		_, _, logs, r := newLogs(t, keepAtLeast)
		w := logs.Stream(Stdout)
		if refuse {
			w.punch = func(int, int64, int64) error { return unix.ENOSYS }
		}
		m := model{t: t, w: w, r: r, limit: keepAtLeast, punching: !refuse && w.punch(int(w.file.Fd()), 1<<30, pageSize) == nil}
		for ; len(script) >= 3; script = script[3:] {
			m.step(script[0], int64(script[1])<<8|int64(script[2]))
		}
		m.readAll()
		logs.Close()
		m.readAll()
		// The test's directories are many: what is big goes at once.
		os.Truncate(w.file.Name(), 0)
	})
}

type model struct {
	t               *testing.T
	w               *Writer
	r               *Reader
	limit           int64
	punching        bool
	frozen          int64 // where the test froze the log, 0 when it did not
	frozenWithBytes bool
}

func (m *model) step(what byte, n int64) {
	total := m.w.Total()
	switch what % 5 {
	case 0:
		feed(m.t, m.w, n, 10_007)
	case 1:
		feed(m.t, m.w, n*37, 700_001)
	case 2:
		m.readAt(n*total/60_000, int(n))
	case 3:
		m.tail(n*total/60_000, int(n)*11)
	case 4:
		if !m.w.slot.frozen && n < 8 {
			m.w.freeze(unix.EDQUOT)
			m.frozen, m.frozenWithBytes = total, true
		}
	}
}

// mustKeep reports whether a byte may not be missing.
func (m *model) mustKeep(at int64) bool {
	total, k := m.w.Total(), keepOf(m.limit)
	end := total
	if m.frozenWithBytes {
		end = m.frozen
	}
	if m.punching {
		return at < end && (at < k.head || at >= end-k.tail || end <= m.limit)
	}
	return at < min(end, m.limit)
}

func (m *model) readAt(at int64, limit int) Piece {
	p := readAt(m.t, m.r, at, limit)
	wantStream(m.t, p.Data, p.Offset)
	total := m.w.Total()
	if p.Size != total || p.Skipped != p.Offset-at || p.Gone != p.Skipped || p.Next != p.Offset+int64(len(p.Data)) || len(p.Data) > limit {
		m.t.Fatalf("a read of %d at %d of %d: %+v", limit, at, total, summarize(m.t, p))
	}
	if p.Skipped > 0 && (m.mustKeep(at) || m.mustKeep(p.Offset-1)) {
		m.t.Fatalf("a read at %d of %d skips %d bytes", at, total, p.Skipped)
	}
	if len(p.Data) == 0 && limit > 0 && p.Next < total {
		m.t.Fatalf("a read at %d of %d brings nothing, next %d", at, total, p.Next)
	}
	return p
}

func (m *model) tail(from int64, limit int) {
	p, err := m.r.Tail(from, limit)
	if err != nil {
		m.t.Fatal(err)
	}
	wantStream(m.t, p.Data, p.Offset)
	total := m.w.Total()
	if p.Size != total || p.Next != max(from, total) || p.Skipped != p.Next-from-int64(len(p.Data)) || p.Gone > p.Skipped || len(p.Data) > limit {
		m.t.Fatalf("a tail of %d from %d of %d: %+v", limit, from, total, summarize(m.t, p))
	}
	if want := min(int64(limit), total-from); total > 0 && m.mustKeep(total-1) && from < total && !m.mustKeep(from) {
		if int64(len(p.Data)) < min(want, keepOf(m.limit).tail) && m.punching {
			m.t.Fatalf("a tail of %d from %d of %d has only %d bytes", limit, from, total, len(p.Data))
		}
	}
}

// readAll reads from the first byte to the last and counts what must be there.
func (m *model) readAll() {
	total, kept := m.w.Total(), int64(0)
	for at := int64(0); at < total; {
		p := m.readAt(at, math.MaxInt)
		kept += int64(len(p.Data))
		at = p.Next
	}
	if want := min(m.limit, total); kept < want && !m.frozenWithBytes {
		m.t.Fatalf("%d bytes of %d are kept, want %d", kept, total, want)
	}
}
