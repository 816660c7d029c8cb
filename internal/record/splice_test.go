//go:build unix

package record

import (
	"math"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSpliceSaysWhenThereIsNothingAndWhenItIsOver(t *testing.T) {
	t.Parallel()
	_, _, logs, r := newLogs(t, 0)
	w := logs.Stream(Stdout)
	pipe, in := newPipe(t)
	if n, err := w.Splice(pipe); n != 0 || err != unix.EAGAIN {
		t.Errorf("an empty pipe: %d, %v", n, err)
	}
	in.Write(streamBytes(0, 5000))
	if n, err := w.Splice(pipe); n != 5000 || err != nil {
		t.Errorf("5000 bytes: %d, %v", n, err)
	}
	if n, err := w.Splice(pipe); n != 0 || err != unix.EAGAIN {
		t.Errorf("an emptied pipe: %d, %v", n, err)
	}
	in.Write(streamBytes(5000, 10))
	in.Close()
	if n, err := w.Splice(pipe); n != 10 || err != nil {
		t.Errorf("the rest: %d, %v", n, err)
	}
	for range 2 {
		if n, err := w.Splice(pipe); n != 0 || err != nil {
			t.Errorf("the end: %d, %v", n, err)
		}
	}
	p := readAt(t, r, 0, math.MaxInt)
	wantStream(t, p.Data, 0)
	if len(p.Data) != 5010 || w.Total() != 5010 {
		t.Errorf("%d bytes, total %d", len(p.Data), w.Total())
	}
	if w.copying != (runtime.GOOS != "linux") {
		t.Errorf("copying is %v", w.copying)
	}
}

// feedPipe writes n bytes of the stream into a pipe and closes it.
func feedPipe(t *testing.T, in interface {
	Write([]byte) (int, error)
	Close() error
}, from, n int64, step int) {
	go func() {
		defer in.Close()
		for at := from; at < from+n; {
			m, err := in.Write(streamBytes(at, int(min(from+n-at, int64(step)))))
			if err != nil {
				t.Error(err)
				return
			}
			at += int64(m)
		}
	}()
}

func TestSpliceKeepsWhatWriteKeeps(t *testing.T) {
	t.Parallel()
	refuseHoles := func(w *Writer) { w.punch = func(int, int64, int64) error { return unix.EOPNOTSUPP } }
	appendOnly := func(w *Writer) { // splice(2) to such a file is EINVAL
		if _, err := unix.FcntlInt(w.file.Fd(), unix.F_SETFL, unix.O_APPEND); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		prepare func(*Writer)
		limit   int64
		total   int64
	}{
		"below the cap":                         {func(*Writer) {}, 0, 6<<20 + 11},
		"over the cap":                          {func(*Writer) {}, 2<<20 + 5, 9<<20 + 11},
		"over the cap, without holes":           {refuseHoles, 2<<20 + 5, 9<<20 + 11},
		"where splice is refused":               {appendOnly, 0, 6<<20 + 11},
		"where splice is refused, over the cap": {appendOnly, 2<<20 + 5, 9<<20 + 11},
		"with a disk that takes nothing":        {func(w *Writer) { w.freeze(unix.EIO) }, 0, 5 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, logs, r := newLogs(t, c.limit)
			w := logs.Stream(Stdout)
			c.prepare(w)
			pipe, in := newPipe(t)
			feedPipe(t, in, 0, c.total, 100_000)
			if total := spliceAll(t, w, pipe); total != c.total || w.Total() != c.total {
				t.Fatalf("%d bytes came, total %d, want %d", total, w.Total(), c.total)
			}
			kept := int64(0)
			for at := int64(0); at < c.total; {
				p := readAt(t, r, at, 1<<20)
				wantStream(t, p.Data, p.Offset)
				kept += int64(len(p.Data))
				if p.Next <= at || p.Size != c.total {
					t.Fatalf("%+v", p)
				}
				at = p.Next
			}
			status, err := r.Status()
			if err != nil {
				t.Fatal(err)
			}
			lost := int64(0)
			if status.Gap != nil {
				lost = status.Gap.To - status.Gap.From
			}
			if kept+lost != c.total {
				t.Errorf("%d bytes are kept and %d lost of %d", kept, lost, c.total)
			}
			if c.limit > 0 && kept < c.limit {
				t.Errorf("only %d bytes are kept of %d that may be", kept, c.limit)
			}
		})
	}
}

func TestErrorsOfThePipeAreReturned(t *testing.T) {
	t.Parallel()
	_, _, logs, _ := newLogs(t, 0)
	w := logs.Stream(Stdout)
	for _, frozen := range []bool{false, true} {
		if frozen {
			w.freeze(unix.EIO)
		}
		if n, err := w.Splice(-1); n != 0 || err != unix.EBADF {
			t.Errorf("frozen %v: %d, %v", frozen, n, err)
		}
	}
}
