//go:build unix

package record

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
)

// summary is a Piece without its bytes.
type summary struct{ At, N, Skipped, Gone, Next, Size int64 }

func summarize(t testing.TB, p Piece) summary {
	t.Helper()
	wantStream(t, p.Data, p.Offset)
	return summary{p.Offset, int64(len(p.Data)), p.Skipped, p.Gone, p.Next, p.Size}
}

// newGapped returns a reader of 1000 bytes of which [100,300) are given up, as
// far as the index says, and when frozen is not 0 nothing is kept from there.
func newGapped(t testing.TB, frozen int64) *Reader {
	t.Helper()
	_, _, logs, r := newLogs(t, 0)
	w := logs.Stream(Stdout)
	feed(t, w, 1000, 1000)
	s := slot{gapFrom: 100, gapTo: 300}
	if frozen > 0 {
		s.frozen, s.errno, s.end, s.total = true, unix.ENOSPC, frozen, 1000
	}
	if !w.index.write(Stdout, s) {
		t.Fatal("the index is not written")
	}
	return r
}

func TestReadAtAGap(t *testing.T) {
	t.Parallel()
	r := newGapped(t, 0)
	for name, c := range map[string]struct {
		offset int64
		limit  int
		want   summary
	}{
		"a part of the head":              {10, 20, summary{At: 10, N: 20, Next: 30, Size: 1000}},
		"up to the gap":                   {10, 500, summary{At: 10, N: 90, Next: 100, Size: 1000}},
		"from where the gap begins":       {100, 50, summary{At: 300, N: 50, Skipped: 200, Gone: 200, Next: 350, Size: 1000}},
		"from the middle of the gap":      {250, 5000, summary{At: 300, N: 700, Skipped: 50, Gone: 50, Next: 1000, Size: 1000}},
		"from where the gap ends":         {300, 50, summary{At: 300, N: 50, Next: 350, Size: 1000}},
		"the end":                         {1000, 50, summary{At: 1000, Next: 1000, Size: 1000}},
		"beyond the end":                  {2000, 50, summary{At: 2000, Next: 2000, Size: 1000}},
		"nothing of the head":             {10, 0, summary{At: 10, Next: 10, Size: 1000}},
		"nothing of the gap":              {150, 0, summary{At: 300, Skipped: 150, Gone: 150, Next: 300, Size: 1000}},
		"the largest offset":              {math.MaxInt64, math.MaxInt, summary{At: math.MaxInt64, Next: math.MaxInt64, Size: 1000}},
		"everything from the tail's half": {650, math.MaxInt, summary{At: 650, N: 350, Next: 1000, Size: 1000}},
	} {
		if got := summarize(t, readAt(t, r, c.offset, c.limit)); got != c.want {
			t.Errorf("%s: %s", name, cmp.Diff(c.want, got))
		}
	}
	if gap, ok := r.Gap(); !ok || gap != (Gap{100, 300}) {
		t.Errorf("the gap is %v, %v", gap, ok)
	}
}

func TestReadAFrozenLogWithAGap(t *testing.T) {
	t.Parallel()
	r := newGapped(t, 600)
	for name, c := range map[string]struct {
		offset int64
		want   summary
	}{
		"the island":        {200, summary{At: 300, N: 300, Skipped: 100, Gone: 100, Next: 600, Size: 1000}},
		"what is lost":      {600, summary{At: 1000, Skipped: 400, Gone: 400, Next: 1000, Size: 1000}},
		"more that is lost": {900, summary{At: 1000, Skipped: 100, Gone: 100, Next: 1000, Size: 1000}},
	} {
		if got := summarize(t, readAt(t, r, c.offset, math.MaxInt)); got != c.want {
			t.Errorf("%s: %s", name, cmp.Diff(c.want, got))
		}
	}
	want := StreamStatus{Bytes: 1000, Gap: &Gap{100, 1000}, Error: unix.ENOSPC.Error()}
	if got, err := r.Status(); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v %s", err, cmp.Diff(want, got))
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frozen int64
		from   int64
		limit  int
		want   summary
	}{
		"the newest bytes":               {0, 0, 50, summary{At: 950, N: 50, Skipped: 950, Gone: 200, Next: 1000, Size: 1000}},
		"everything new":                 {0, 900, 500, summary{At: 900, N: 100, Next: 1000, Size: 1000}},
		"never across the gap":           {0, 0, 950, summary{At: 300, N: 700, Skipped: 300, Gone: 200, Next: 1000, Size: 1000}},
		"from inside the gap":            {0, 150, 2000, summary{At: 300, N: 700, Skipped: 150, Gone: 150, Next: 1000, Size: 1000}},
		"nothing new":                    {0, 1000, 50, summary{At: 1000, Next: 1000, Size: 1000}},
		"beyond the end":                 {0, 1001, 50, summary{At: 1001, Next: 1001, Size: 1000}},
		"no bytes at all":                {0, 0, 0, summary{At: 1000, Skipped: 1000, Gone: 200, Next: 1000, Size: 1000}},
		"of a frozen log":                {600, 0, 50, summary{At: 550, N: 50, Skipped: 950, Gone: 600, Next: 1000, Size: 1000}},
		"of the lost part":               {600, 700, 50, summary{At: 1000, Skipped: 300, Gone: 300, Next: 1000, Size: 1000}},
		"of a log frozen before its gap": {300, 0, 70, summary{At: 30, N: 70, Skipped: 930, Gone: 900, Next: 1000, Size: 1000}},
	} {
		p, err := newGapped(t, c.frozen).Tail(c.from, c.limit)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := summarize(t, p); got != c.want {
			t.Errorf("%s: %s", name, cmp.Diff(c.want, got))
		}
	}
}

func TestNegativeReadsAreRefused(t *testing.T) {
	t.Parallel()
	r := newGapped(t, 0)
	for _, read := range []func(int64, int) (Piece, error){r.ReadAt, r.Tail} {
		for _, c := range []struct {
			offset int64
			limit  int
		}{{-1, 5}, {5, -1}, {math.MinInt64, 5}} {
			if _, err := read(c.offset, c.limit); !errors.Is(err, fault.InvalidArgument) {
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
}

func TestADamagedIndexIsReported(t *testing.T) {
	t.Parallel()
	sums := slot{gapFrom: 100, gapTo: 300}.encode()
	sums[8]++
	disorder := slot{gapFrom: 300, gapTo: 100}.encode()
	beyond := slot{gapFrom: 100, gapTo: 5000}.encode()
	for name, content := range map[string][]byte{
		"with wrong sums":             sums[:],
		"with a gap that ends early":  disorder[:],
		"with a gap beyond the bytes": beyond[:],
	} {
		d, ask, logs, r := newLogs(t, 0)
		feed(t, logs.Stream(Stdout), 1000, 1000)
		if err := os.WriteFile(filepath.Join(d.Path(), ask.Index), append(content, make([]byte, slotSize)...), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := r.ReadAt(0, 10); !errors.Is(err, fault.Invariant) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if _, err := r.Status(); !errors.Is(err, fault.Invariant) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnIndexThatTheDiskHadNoRoomForMeansNoGap(t *testing.T) {
	t.Parallel()
	d, ask, logs, r := newLogs(t, 0)
	feed(t, logs.Stream(Stdout), 1000, 1000)
	if err := os.Truncate(filepath.Join(d.Path(), ask.Index), 0); err != nil {
		t.Fatal(err)
	}
	if got := summarize(t, readAt(t, r, 0, 5000)); got != (summary{N: 1000, Next: 1000, Size: 1000}) {
		t.Errorf("%+v", got)
	}
}

func TestAReaderSurvivesTheRemovalOfTheRecord(t *testing.T) {
	t.Parallel()
	d, ask, logs, r := newLogs(t, 0)
	feed(t, logs.Stream(Stdout), 1000, 1000)
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if p := readAt(t, r, 0, 5000); len(p.Data) != 1000 {
		t.Errorf("%d bytes", len(p.Data))
	}
	if _, err := d.OpenLog(ask, Stdout); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestAFileThatSomebodyCutDoesNotHangAReader(t *testing.T) {
	t.Parallel()
	r := newGapped(t, 0)
	if err := os.Truncate(r.log.Name(), 200); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadAt(0, 500); !errors.Is(err, fault.Invariant) {
		t.Errorf("a gap beyond the end: %v", err)
	}
}
