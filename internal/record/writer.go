//go:build unix

package record

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Writer moves one stream into its log. Splice and Write belong to one
// goroutine, which also calls Close; the other methods are safe for concurrent
// use.
type Writer struct {
	file   *os.File
	index  *index
	stream int
	keep   keep
	punch  func(file int, from, n int64) error

	total atomic.Int64
	last  atomic.Int64 // when bytes came; since epoch

	copying bool // the file system refuses splice(2)
	probed  bool // whether holes can be punched is known

	mu     sync.Mutex // guards what follows: written by the goroutine above, read by Status
	slot   slot
	closed bool
	failed error // of Close
}

// epoch makes LastWrite immune to changes of the clock.
var epoch = time.Now()

func newWriter(file *os.File, index *index, stream int, limit int64) *Writer {
	w := &Writer{file: file, index: index, stream: stream, keep: keepOf(limit), punch: punch}
	w.last.Store(int64(time.Since(epoch)))
	return w
}

// Total returns how many bytes of the stream came so far, kept or not.
func (w *Writer) Total() int64 { return w.total.Load() }

// LastWrite returns when bytes came last, or when the log was created.
func (w *Writer) LastWrite() time.Time { return epoch.Add(time.Duration(w.last.Load())) }

// Status returns what came and what of it is kept.
func (w *Writer) Status() StreamStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.slot
	total := w.total.Load()
	s.total = total
	status := streamStatus(s, s.extent(total))
	if status.Error == "" && w.failed != nil {
		status.Error = "close: " + w.failed.Error()
	}
	return status
}

// streamStatus describes a log to which s applies.
func streamStatus(s slot, e extent) StreamStatus {
	status := StreamStatus{Bytes: e.size}
	if gap, ok := e.gap(); ok {
		status.Gap = &gap
	}
	if s.errno != 0 {
		status.Error = s.errno.Error()
	}
	return status
}

// Write appends to the stream as Splice does. It takes all of p and never
// fails: what the disk does not take is counted and thrown away.
func (w *Writer) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		room := w.room()
		if room == 0 {
			w.count(len(p))
			break
		}
		n, err := unix.Pwrite(int(w.file.Fd()), p[:min(room, int64(len(p)))], w.total.Load())
		switch {
		case err == unix.EINTR:
		case err != nil:
			w.freeze(err.(syscall.Errno))
		case n == 0:
			w.freeze(unix.EIO)
		default:
			w.count(n)
			p = p[n:]
		}
	}
	return written, nil
}

// Close closes the log. Closing again does nothing.
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	if err := w.file.Close(); err != nil { // a late failure: NFS, quota
		w.failed = unwrapErrno(err)
	}
	w.index.release()
}

// room returns how many bytes the log takes at once now; 0 when it is frozen.
func (w *Writer) room() int64 {
	if w.slot.frozen {
		return 0
	}
	total := w.total.Load()
	if total < w.keep.limit {
		return min(maxMove, w.keep.limit-total)
	}
	if !w.probed {
		w.probed = true
		// A hole beyond the end changes nothing and shows whether there can be any.
		beyond := (total + punchStep) &^ (pageSize - 1)
		if w.punch(int(w.file.Fd()), beyond, pageSize) != nil {
			w.freeze(0)
			return 0
		}
	}
	return punchStep
}

// count adds n bytes that were just moved, and gives up what is too much.
func (w *Writer) count(n int) {
	total := w.total.Add(int64(n))
	w.last.Store(int64(time.Since(epoch)))
	if w.slot.frozen {
		w.publish(func(s *slot) { s.total = total })
		return
	}
	from, to, due := w.keep.excess(w.slot.gapTo, total)
	if !due {
		return
	}
	// The index goes first: a reader that finds zeros finds there why.
	if !w.publish(func(s *slot) { s.gapFrom, s.gapTo = w.keep.head, to }) {
		w.freeze(0)
		return
	}
	if err := w.punch(int(w.file.Fd()), from, to-from); err != nil {
		w.freeze(err.(syscall.Errno))
	}
}

// freeze ends the keeping. An errno of 0 is the cap.
func (w *Writer) freeze(errno syscall.Errno) {
	w.mu.Lock()
	w.slot.frozen, w.slot.errno = true, errno
	w.slot.end, w.slot.total = w.total.Load(), w.total.Load()
	w.mu.Unlock()
	w.index.write(w.stream, w.slot)
}

// publish changes the slot. When readers cannot be told, a gap is not made.
func (w *Writer) publish(change func(*slot)) bool {
	next := w.slot
	change(&next)
	if !w.index.write(w.stream, next) {
		return false
	}
	w.mu.Lock()
	w.slot = next
	w.mu.Unlock()
	return true
}

func unwrapErrno(err error) error {
	if path, ok := err.(*os.PathError); ok {
		return path.Err
	}
	return err
}
