//go:build unix

package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// period is prime, so that bytes that ended up at a wrong offset show.
const period = 65521

// pattern holds no zero: zeros are what a hole gives.
var pattern = func() []byte {
	p := make([]byte, 64*period)
	for i := range p {
		p[i] = byte(1 + (i%period)*(i%period+7)%255)
	}
	return p
}()

// streamBytes returns n bytes of the stream at an offset; every byte is a
// function of its offset.
func streamBytes(offset int64, n int) []byte {
	if at := int(offset % period); at+n <= len(pattern) {
		return pattern[at : at+n]
	}
	panic("too many bytes at once")
}

// wantStream checks that data is what the stream has at offset.
func wantStream(t testing.TB, data []byte, offset int64) {
	t.Helper()
	for len(data) > 0 {
		n := min(len(data), 32*period)
		if want := streamBytes(offset, n); !bytes.Equal(data[:n], want) {
			for i := range want {
				if data[i] != want[i] {
					t.Fatalf("byte %d is %#x, want %#x", offset+int64(i), data[i], want[i])
				}
			}
		}
		data, offset = data[n:], offset+int64(n)
	}
}

func newDir(t testing.TB) *Dir {
	t.Helper()
	path := filepath.Join(t.TempDir(), "record")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return openDir(t, path)
}

func openDir(t testing.TB, path string) *Dir {
	t.Helper()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// newLogs creates logs with a cap, and a reader of stdout.
func newLogs(t testing.TB, limit int64) (*Dir, *Ask, *Logs, *Reader) {
	t.Helper()
	d := newDir(t)
	ask := NewAsk()
	ask.MaxBytes = limit
	logs, err := d.CreateLogs(ask)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(logs.Close)
	return d, ask, logs, openLog(t, d, ask, Stdout)
}

func openLog(t testing.TB, d *Dir, ask *Ask, stream int) *Reader {
	t.Helper()
	r, err := d.OpenLog(ask, stream)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// feed writes the next n bytes of the stream, at most step at once.
func feed(t testing.TB, w *Writer, n int64, step int) {
	t.Helper()
	for n > 0 {
		p := streamBytes(w.Total(), int(min(n, int64(step))))
		if m, err := w.Write(p); m != len(p) || err != nil {
			t.Fatalf("Write gave %d, %v for %d bytes", m, err, len(p))
		}
		n -= int64(len(p))
	}
}

// newPipe returns a pipe whose read end does not block.
func newPipe(t testing.TB) (r int, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := errors.Join(unix.Pipe(fds[:]), unix.SetNonblock(fds[0], true)); err != nil {
		t.Fatal(err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	w = os.NewFile(uintptr(fds[1]), "pipe")
	t.Cleanup(func() { w.Close(); unix.Close(fds[0]) })
	return fds[0], w
}

// spliceAll moves a pipe until its end, waiting with poll(2).
func spliceAll(t testing.TB, w *Writer, pipe int) (total int64) {
	t.Helper()
	for {
		n, err := w.Splice(pipe)
		total += n
		switch {
		case err == unix.EAGAIN:
			unix.Poll([]unix.PollFd{{Fd: int32(pipe), Events: unix.POLLIN}}, 10_000)
		case err != nil:
			t.Fatal(err)
		case n == 0:
			return total
		}
	}
}

func readAt(t testing.TB, r *Reader, offset int64, limit int) Piece {
	t.Helper()
	p, err := r.ReadAt(offset, limit)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// diskUse returns how many bytes of disk a log takes.
func diskUse(t testing.TB, d *Dir, name string) int64 {
	t.Helper()
	var stat unix.Stat_t
	if err := unix.Stat(filepath.Join(d.Path(), name), &stat); err != nil {
		t.Fatal(err)
	}
	return int64(stat.Blocks) * 512
}
