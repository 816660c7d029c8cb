//go:build unix

package host

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/record"
	"hardshell/internal/textutil"
	"hardshell/subprocess"
)

// recordedHandle shows a recorded command in the words of the seam.
type recordedHandle struct {
	*Recorded
	pid  int
	max  [2]int64
	stop func() bool // ends the watch over the spawn's context
	ctx  context.Context
}

var _ subprocess.Handle = (*recordedHandle)(nil)

// spawnRecorded has the host spawn a command and keep its record.
func (r *Runtime) spawnRecorded(ctx context.Context, spec *subprocess.Spec, request *hostwire.Spawn) (subprocess.Handle, error) {
	dir, err := record.Open(spec.Record)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the record of the command cannot be opened: %w", err)
	}
	ask, err := dir.ReadAsk()
	dir.Close()
	if err != nil {
		return nil, err
	}
	l, err := r.attached(ctx)
	if err != nil {
		return nil, err
	}
	files := make([]int, 0, len(spec.ExtraFiles))
	for _, file := range spec.ExtraFiles {
		files = append(files, int(file.Fd()))
	}
	if err := checkFiles(string(request.Path), files); err != nil {
		return nil, err
	}
	w := newRecorded(r, spec.Record, ask)
	// Whoever finds the record meanwhile follows the same command.
	known, err := r.register(w)
	if err != nil {
		return nil, err
	}
	if known != nil {
		w = known
	} else {
		defer func() { go w.follow() }()
	}
	l.watch(w)
	request.Record = []byte(spec.Record)
	answer, err := l.begin(&hostwire.Message{Spawn: request}, files...)
	if err != nil {
		l.unwatch(w)
		if err == hostwire.ErrClosed {
			err = l.lost()
		}
		return nil, err
	}
	m, err := l.awaitSpawn(ctx, answer)
	switch {
	case err != nil:
		l.unwatch(w)
		w.abandon()
		return nil, err
	case m.Spawned == nil:
		l.unwatch(w)
		l.conn.Close()
		return nil, errAnswer
	case m.Spawned.Failure != nil:
		l.unwatch(w)
		return nil, m.Spawned.Failure.Err()
	}
	h := &recordedHandle{Recorded: w, pid: m.Spawned.PID, max: [2]int64{spec.Stdout.MaxBytes, spec.Stderr.MaxBytes}, ctx: ctx}
	h.stop = context.AfterFunc(ctx, h.Terminate)
	return h, nil
}

// PID implements subprocess.Handle.
func (h *recordedHandle) PID() int { return h.pid }

// Stdin implements subprocess.Handle: the record's is written through Input.
func (h *recordedHandle) Stdin() io.WriteCloser { return nil }

// Output implements subprocess.Handle.
func (h *recordedHandle) Output(subprocess.Stream) io.ReadCloser { return nil }

// Reader implements subprocess.Handle.
func (h *recordedHandle) Reader(stream subprocess.Stream) subprocess.Reader {
	i := index(stream)
	return &recordedReader{command: h.Recorded, stream: i, max: int(min(h.max[i], maxReader))}
}

// maxReader keeps what a reader returns addressable on 32-bit platforms.
const maxReader = 1 << 30

// Exited implements subprocess.Handle. How it ended comes with the record.
func (h *recordedHandle) Exited() <-chan struct{} { return h.Done() }

// Exit implements subprocess.Handle.
func (h *recordedHandle) Exit() subprocess.Exit {
	s := h.Status()
	if s == nil {
		return subprocess.Exit{}
	}
	exit := subprocess.Exit{
		Code: -1, Signal: s.Signal, Duration: time.Duration(s.DurationMs) * time.Millisecond, Limit: subprocess.Limit(s.Limit()),
	}
	if s.ExitCode != nil {
		exit.Code = *s.ExitCode
	}
	if s.Usage != nil {
		exit.Usage = subprocess.Usage{
			User:   time.Duration(s.Usage.UserMs) * time.Millisecond,
			System: time.Duration(s.Usage.SystemMs) * time.Millisecond, MaxRSS: s.Usage.MaxRSS,
		}
	}
	switch {
	case s.Cause == record.CauseLost:
		exit.Cause = fault.New(fault.SpawnFailed, "how the command ended is not known: %s", s.Detail)
	case s.Cause == record.CauseStopped && !h.stop() && h.ctx.Err() != nil:
		exit.Cause = context.Cause(h.ctx)
	}
	return exit
}

// Terminate implements subprocess.Handle.
func (h *recordedHandle) Terminate() { go h.Stop("", false) }

// Kill implements subprocess.Handle.
func (h *recordedHandle) Kill() { go h.Stop("", true) }

// WaitTree implements subprocess.Handle.
func (h *recordedHandle) WaitTree(ctx context.Context) error {
	select {
	case <-h.cleared:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Survivors implements subprocess.Handle.
func (h *recordedHandle) Survivors() []int {
	if s := h.Status(); s != nil {
		return s.Survivors
	}
	return nil
}

// recordedReader shows the last bytes of a log in the words of the seam.
type recordedReader struct {
	command *Recorded
	stream  int
	max     int
}

// open opens the log; nil when it is gone.
func (r *recordedReader) open() *record.Reader {
	dir, err := record.Open(r.command.Path())
	if err != nil {
		return nil
	}
	defer dir.Close()
	log, err := dir.OpenLog(r.command.ask, r.stream)
	if err != nil {
		return nil
	}
	return log
}

// ReadFrom implements subprocess.Reader.
func (r *recordedReader) ReadFrom(offset int64) subprocess.Chunk {
	sealed := isClosed(r.command.done) // before the read: what follows it is then in it
	log := r.open()
	if log == nil {
		return subprocess.Chunk{Next: offset, Lossy: true}
	}
	defer log.Close()
	piece, err := log.Tail(max(offset, 0), r.max)
	if err != nil {
		return subprocess.Chunk{Next: offset, Lossy: true}
	}
	chunk := subprocess.Chunk{Lossy: piece.Skipped > 0, Next: piece.Next}
	data := piece.Data
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

// Collected implements subprocess.Reader.
func (r *recordedReader) Collected() subprocess.CollectedOutput {
	chunk := r.ReadFrom(0)
	out := subprocess.CollectedOutput{Text: chunk.Text, Truncated: chunk.Lossy, Bytes: chunk.Next, Next: chunk.Next}
	if log := r.open(); log != nil {
		out.Bytes = log.Size()
		log.Close()
	}
	if out.Truncated {
		out.SpillPath = r.SpillPath()
	}
	return out
}

// SpillPath implements subprocess.Reader: the log, while it has no gap and holds
// more than the window.
func (r *recordedReader) SpillPath() string {
	log := r.open()
	if log == nil {
		return ""
	}
	defer log.Close()
	if _, gap := log.Gap(); gap || log.Size() <= int64(r.max) {
		return ""
	}
	return filepath.Join(r.command.Path(), []string{r.command.ask.Stdout, r.command.ask.Stderr}[r.stream])
}
