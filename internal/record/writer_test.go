//go:build unix

package record

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// holes skips a test where the temporary directory has none.
func holes(t testing.TB, w *Writer) {
	t.Helper()
	if err := w.punch(int(w.file.Fd()), 1<<30, pageSize); err != nil {
		t.Skipf("no holes here: %v", err)
	}
}

func TestAShortStreamIsKeptWhole(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{1, 4096, 1 << 20, DefaultMaxBytes} {
		d, ask, logs, r := newLogs(t, limit)
		n := min(limit, 1<<20)
		feed(t, logs.Stream(Stdout), n, 1000)
		logs.Close()
		p := readAt(t, r, 0, math.MaxInt)
		wantStream(t, p.Data, 0)
		if p.Size != n || int64(len(p.Data)) != n || p.Skipped != 0 || p.Next != n {
			t.Errorf("limit %d: %d bytes of %d, skipped %d", limit, len(p.Data), p.Size, p.Skipped)
		}
		if got := logs.Stream(Stdout).Status(); got != (StreamStatus{Bytes: n}) {
			t.Errorf("limit %d: %+v", limit, got)
		}
		if info, err := os.Stat(filepath.Join(d.Path(), ask.Stdout)); err != nil || info.Mode() != 0o600 || info.Size() != n {
			t.Errorf("limit %d: %v %v", limit, info, err)
		}
		if openLog(t, d, ask, Stderr).Size() != 0 {
			t.Errorf("limit %d: stderr is not empty", limit)
		}
	}
}

func TestALongStreamLosesItsMiddle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit, total int64
		step         int
	}{
		"in small steps":       {1 << 20, 5<<20 + 123, 3001},
		"in large writes":      {2 << 20, 9 << 20, 3 << 20},
		"with an odd cap":      {1<<20 + 12_345, 7<<20 + 1, 65536},
		"with hardly any tail": {1, 4 << 20, 65536},
		"with a large cap":     {16 << 20, 40 << 20, 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, ask, logs, r := newLogs(t, c.limit)
			w := logs.Stream(Stdout)
			holes(t, w)
			for w.Total() < c.total {
				feed(t, w, min(int64(c.step), c.total-w.Total()), c.step)
				if use := diskUse(t, d, ask.Stdout); use > c.limit+1<<20+64<<10 { // 64 KiB for the file system's own blocks
					t.Fatalf("after %d bytes the log takes %d", w.Total(), use)
				}
			}
			logs.Close()

			status := w.Status()
			head := c.limit / 2 &^ 4095
			if status.Bytes != c.total || status.Error != "" || status.Gap == nil || status.Gap.From != head || status.Gap.To > c.total-(c.limit-head) {
				t.Fatalf("%+v %+v", status, status.Gap)
			}
			if live, err := r.Status(); err != nil || cmp.Diff(live, status) != "" {
				t.Errorf("a reader sees %+v, %v", live, err)
			}
			first := readAt(t, r, 0, math.MaxInt)
			wantStream(t, first.Data, first.Offset)
			if int64(len(first.Data)) != head && head > 0 {
				t.Errorf("the head has %d bytes", len(first.Data))
			}
			last := readAt(t, r, head, math.MaxInt)
			wantStream(t, last.Data, last.Offset)
			if last.Offset != status.Gap.To || last.Skipped != status.Gap.To-head || last.Next != c.total {
				t.Errorf("after the gap: offset %d, skipped %d, next %d", last.Offset, last.Skipped, last.Next)
			}
		})
	}
}

func TestWithoutHolesALogIsFrozenAtItsCap(t *testing.T) {
	t.Parallel()
	d, ask, logs, r := newLogs(t, 100_000)
	w := logs.Stream(Stdout)
	w.punch = func(int, int64, int64) error { return unix.EOPNOTSUPP }
	feed(t, w, 300_000, 7000)
	want := StreamStatus{Bytes: 300_000, Gap: &Gap{From: 100_000, To: 300_000}}
	if diff := cmp.Diff(want, w.Status()); diff != "" {
		t.Error(diff)
	}
	if live, err := r.Status(); err != nil || cmp.Diff(want, live) != "" {
		t.Errorf("a reader sees %+v, %v", live, err)
	}
	p := readAt(t, r, 0, math.MaxInt)
	wantStream(t, p.Data, 0)
	if len(p.Data) != 100_000 {
		t.Errorf("it has %d bytes", len(p.Data))
	}
	if info, err := os.Stat(filepath.Join(d.Path(), ask.Stdout)); err != nil || info.Size() != 100_000 {
		t.Errorf("%v %v", info.Size(), err)
	}
	if p := readAt(t, r, 100_000, 10); p.Skipped != 200_000 || p.Next != 300_000 || len(p.Data) != 0 {
		t.Errorf("%+v", p)
	}
}

func TestWithoutAnIndexNothingIsPunched(t *testing.T) {
	t.Parallel()
	_, _, logs, r := newLogs(t, 100_000)
	w := logs.Stream(Stdout)
	feed(t, w, 100_000, 7000)
	w.index.file.Close()
	feed(t, w, 2<<20, 7000)
	if status := w.Status(); status.Bytes != 100_000+2<<20 || status.Gap == nil {
		t.Errorf("%+v", status)
	}
	p := readAt(t, r, 0, math.MaxInt)
	wantStream(t, p.Data, 0)
	if len(p.Data) < 100_000 {
		t.Errorf("it has %d bytes", len(p.Data))
	}
}

func TestAFailureOfPunchingFreezes(t *testing.T) {
	t.Parallel()
	_, _, logs, r := newLogs(t, 100_000)
	w := logs.Stream(Stdout)
	calls := 0
	w.punch = func(int, int64, int64) error {
		if calls++; calls > 1 {
			return unix.ENOSPC
		}
		return nil
	}
	feed(t, w, 2<<20, 7000)
	status := w.Status()
	if status.Bytes != 2<<20 || status.Error != unix.ENOSPC.Error() || status.Gap == nil || status.Gap.To != 2<<20 || calls != 2 {
		t.Errorf("%+v after %d calls", status, calls)
	}
	p, err := r.Tail(0, 1000)
	wantStream(t, p.Data, p.Offset)
	if err != nil || len(p.Data) != 1000 || p.Next != 2<<20 || p.Gone >= p.Skipped {
		t.Errorf("%d bytes at %d, gone %d of %d, %v", len(p.Data), p.Offset, p.Gone, p.Skipped, err)
	}
}

func TestLastWriteMovesWithTheStream(t *testing.T) {
	t.Parallel()
	before := time.Now()
	_, _, logs, _ := newLogs(t, 0)
	w := logs.Stream(Stdout)
	created := w.LastWrite()
	if created.Before(before) || created.After(time.Now()) {
		t.Errorf("created at %v", created)
	}
	middle := time.Now()
	feed(t, w, 1, 1)
	if last := w.LastWrite(); last.Before(middle) || last.After(time.Now()) {
		t.Errorf("written at %v", last)
	}
	if logs.Stream(Stderr).LastWrite().After(middle) {
		t.Error("the other stream moved")
	}
}

func TestAWriterThatIsClosedHarmsNobody(t *testing.T) {
	t.Parallel()
	_, _, logs, r := newLogs(t, 0)
	feed(t, logs.Stream(Stdout), 10, 10)
	logs.Stream(Stdout).Close()
	logs.Stream(Stdout).Close()
	feed(t, logs.Stream(Stdout), 10, 10)
	feed(t, logs.Stream(Stderr), 10, 10)
	if p := readAt(t, r, 0, 100); len(p.Data) != 10 {
		t.Errorf("%+v", p)
	}
	if got := logs.Stream(Stderr).Status(); got != (StreamStatus{Bytes: 10}) {
		t.Errorf("%+v", got)
	}
	logs.Close()
}
