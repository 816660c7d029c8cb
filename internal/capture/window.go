//go:build unix

package capture

import (
	"sync"

	"hardshell/internal/textutil"
)

// Window keeps the last bytes of a stream in a ring and hands the rest to a
// spill file. One goroutine pushes; any number read. Its methods do what those
// of subprocess.Reader promise.
type Window struct {
	max int

	// pushing serialises push and seal; it guards spill, which is nil when
	// the stream must not spill. Readers do not wait for the disk.
	pushing sync.Mutex
	spill   *spillFile

	mu        sync.Mutex
	ring      []byte // grows to max, then wraps
	head      int    // where the oldest byte stands in a full ring
	total     int64  // bytes seen
	sealed    bool   // nothing is added any more; changes under both locks
	spillPath string // "" while there is no complete file
}

// Chunk is what one ReadFrom saw, as subprocess.Chunk has it.
type Chunk struct {
	Text  string
	Next  int64
	Lossy bool
}

// Collected is a stream as it is reported, as subprocess.CollectedOutput has it.
type Collected struct {
	Text      string
	Truncated bool
	Bytes     int64
	SpillPath string
}

func newWindow(o Output, spills *SpillDir, stream string) *Window {
	w := &Window{max: int(min(o.MaxBytes, maxWindow))}
	if o.MaxSpill > 0 {
		w.spill = &spillFile{dir: spills, stream: stream, max: o.MaxSpill}
	}
	return w
}

// maxWindow keeps a window addressable on 32-bit platforms.
const maxWindow = 1 << 30

// push adds bytes at the end of the stream, unless it is sealed.
func (w *Window) push(p []byte) {
	w.pushing.Lock()
	defer w.pushing.Unlock()
	if w.sealed {
		return
	}
	path := w.spillBefore(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spillPath = path
	w.total += int64(len(p))
	if len(p) > w.max {
		p = p[len(p)-w.max:]
	}
	room := min(w.max-len(w.ring), len(p))
	w.ring = append(w.ring, p[:room]...)
	for p = p[room:]; len(p) > 0; {
		n := copy(w.ring[w.head:], p)
		w.head = (w.head + n) % w.max
		p = p[n:]
	}
}

// spillBefore writes p to the spill file, preceded by what the window holds
// when p is the first chunk that does not fit. It returns the path of a file
// that holds the whole stream including p, or "".
func (w *Window) spillBefore(p []byte) string {
	// ring and total change under both locks, so one of them lets read.
	total := w.total + int64(len(p))
	if w.spill == nil || total <= int64(w.max) {
		return ""
	}
	if !w.spill.begun() {
		w.spill.begin(total)
		w.spill.write(w.ring, total)
	}
	w.spill.write(p, total)
	return w.spill.path
}

// seal ends the stream and completes its file: what is pushed later is dropped.
// It is idempotent.
func (w *Window) seal() {
	w.pushing.Lock()
	defer w.pushing.Unlock()
	if w.sealed {
		return
	}
	path := ""
	if w.spill != nil {
		path = w.spill.close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sealed = true
	w.spillPath = path
}

// ReadFrom returns the text from a byte offset of the stream to its current end.
func (w *Window) ReadFrom(offset int64) Chunk {
	data, start, sealed := w.copyFrom(offset)
	chunk := Chunk{Lossy: start > max(offset, 0), Next: start + int64(len(data))}
	if !sealed {
		held := textutil.IncompleteSuffix(data)
		data = data[:len(data)-held]
		chunk.Next -= int64(held)
	}
	if chunk.Lossy {
		data = textutil.TrimLeadingContinuation(data)
	}
	chunk.Text = textutil.Decode(data)
	return chunk
}

// Collected summarises the stream so far.
func (w *Window) Collected() Collected {
	chunk := w.ReadFrom(0)
	w.mu.Lock()
	defer w.mu.Unlock()
	return Collected{
		Text: chunk.Text, Truncated: chunk.Lossy, Bytes: w.total, SpillPath: w.spillPath,
	}
}

// SpillPath is the file that holds the complete stream so far, or "".
func (w *Window) SpillPath() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.spillPath
}

// copyFrom returns a copy of the bytes from offset on, or of the whole window
// when they begin before it, and the offset of the first byte returned.
func (w *Window) copyFrom(offset int64) (data []byte, start int64, sealed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	oldest := w.total - int64(len(w.ring))
	start = min(max(offset, oldest, 0), w.total)
	skip := int(start - oldest)
	data = make([]byte, 0, len(w.ring)-skip)
	older, newer := w.ring[w.head:], w.ring[:w.head]
	if skip < len(older) {
		data = append(data, older[skip:]...)
		skip = 0
	} else {
		skip -= len(older)
	}
	return append(data, newer[skip:]...), start, w.sealed
}
