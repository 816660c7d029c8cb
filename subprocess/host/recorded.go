//go:build unix

package host

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/record"
)

// Recorded is a command of the session of which a record is kept, whoever
// started it. It is safe for concurrent use.
type Recorded struct {
	runtime *Runtime
	ask     *record.Ask
	again   chan struct{} // holds one when it is to be looked at again

	mu     sync.Mutex // guards what follows, and the closing of channels
	path   string
	status *record.Status

	done, cleared chan struct{}
}

// Watch follows a recorded command, from its record alone: the same Recorded for
// all who ask while something is left of the command. A command that nobody looks
// after any more is ended, and its record completed.
func (r *Runtime) Watch(path string) (*Recorded, error) {
	dir, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	ask, err := dir.ReadAsk()
	if err != nil {
		return nil, err
	}
	status, ok, err := dir.ReadStatus()
	if err != nil {
		return nil, err
	}
	w := newRecorded(r, path, ask)
	if ok {
		w.settle(status)
		w.clear()
		return w, nil
	}
	if known, err := r.register(w); known != nil || err != nil {
		return known, err
	}
	// The record of a dead host is completed at once: whoever looks at it next
	// may not stay for long.
	if r.current() == nil && !r.hostLives() && w.recover(false) {
		w.clear()
	}
	go w.follow()
	return w, nil
}

// register makes a command the one that is followed for its key. When there is
// one already it is returned.
func (r *Runtime) register(w *Recorded) (known *Recorded, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed
	}
	if known := r.watched[w.ask.Key]; known != nil {
		return known, nil
	}
	r.watched[w.ask.Key] = w
	return nil, nil
}

func newRecorded(r *Runtime, path string, ask *record.Ask) *Recorded {
	return &Recorded{
		runtime: r, path: path, ask: ask, again: make(chan struct{}, 1),
		done: make(chan struct{}), cleared: make(chan struct{}),
	}
}

// Ask is what was asked for. It must not be changed.
func (w *Recorded) Ask() *record.Ask { return w.ask }

// Path is where the record lies.
func (w *Recorded) Path() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.path
}

// Done is closed when the command has settled.
func (w *Recorded) Done() <-chan struct{} { return w.done }

// Status is how, once Done is closed; nil before. It must not be changed.
func (w *Recorded) Status() *record.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status
}

// Stop begins the end of the command, with kill at once. It returns without
// waiting for it.
func (w *Recorded) Stop(reason string, kill bool) error {
	if isClosed(w.done) {
		return nil
	}
	if dir, err := record.Open(w.Path()); err == nil {
		_ = dir.MarkStopping(reason) // for those who look; the host is told itself
		dir.Close()
	}
	return w.tell(context.Background(), &hostwire.Tell{Stop: &hostwire.Stop{Reason: reason, Kill: kill}})
}

// Input hands the command bytes, and with eof ends its input.
func (w *Recorded) Input(ctx context.Context, data []byte, eof bool) error {
	return w.tell(ctx, &hostwire.Tell{Input: &hostwire.Input{Data: data, EOF: eof}})
}

// Promote keeps the command from ending with this process. Its record lies at
// path by now.
func (w *Recorded) Promote(ctx context.Context, path string) error {
	w.mu.Lock()
	w.path = path
	w.mu.Unlock()
	err := w.tell(ctx, &hostwire.Tell{Promote: true})
	if err == errSettled {
		return nil
	}
	return err
}

// errSettled is said of a command that has just ended.
var errSettled = fault.New(fault.InvalidArgument, "the job has already finished")

// tell says something to the command, and waits until the host has heard it.
func (w *Recorded) tell(ctx context.Context, t *hostwire.Tell) error {
	t.Key = w.ask.Key
	if w.runtime.current() == nil && !w.runtime.hostLives() {
		return errSettled // its host is dead: a new one knows nothing of it
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if isClosed(w.done) {
		return errSettled
	}
	l, err := w.runtime.attachEntered(ctx)
	if err != nil {
		return err
	}
	answer, err := l.begin(&hostwire.Message{Tell: t})
	if err != nil {
		return l.lost()
	}
	select {
	case m := <-answer:
		switch {
		case m.Failure != nil:
			return m.Failure.Err()
		case m.Told == nil:
			return errAnswer
		case !m.Told.Found:
			return errSettled
		}
		return nil
	case <-l.dead:
		return l.lost()
	case <-ctx.Done():
		return fault.New(fault.SpawnFailed, "the session host does not answer: end the session")
	}
}

// follow waits for the end of a command, also when its host dies or another one
// takes its place.
func (w *Recorded) follow() {
	r := w.runtime
	defer r.unwatch(w)
	if isClosed(w.cleared) {
		return
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		l := r.current()
		if l != nil {
			l.watch(w)
		}
		if w.readStatus() {
			if l != nil {
				l.unwatch(w)
			}
			w.clear()
			return
		}
		switch {
		case l != nil && w.known(l):
			if w.listen(l) {
				return
			}
			pause = 10 * time.Millisecond
		case l != nil, !r.hostLives():
			// Its host is dead, and another may have taken its place.
			if w.recover(false) {
				if l != nil {
					l.unwatch(w)
				}
				w.clear()
				return
			}
		default:
			ctx, cancel := context.WithTimeout(r.closing, attaching)
			if _, err := r.attachEntered(ctx); err == nil {
				pause = 0
			}
			cancel()
		}
		select {
		case <-time.After(pause):
		case <-r.closing.Done():
			w.letGo()
			return
		}
	}
}

// known reports whether the host looks after the command.
func (w *Recorded) known(l *link) bool {
	m, err := l.call(&hostwire.Message{Tell: &hostwire.Tell{Key: w.ask.Key}})
	return err != nil || m.Told == nil || m.Told.Found // when in doubt, the link has ended
}

// listen hears what the host tells until nothing is left of the command (true),
// or the connection is lost (false).
func (w *Recorded) listen(l *link) (over bool) {
	select {
	case <-w.cleared:
		if !isClosed(w.done) && !w.readStatus() {
			// It settled before this process heard of it, and that could not be
			// written.
			w.settle(lost(w.ask, nil, "how it ended could not be recorded"))
		}
		return true
	case <-w.again:
		return false
	case <-l.dead:
		return isClosed(w.cleared)
	case <-w.runtime.closing.Done():
		w.letGo()
		return true
	}
}

// readStatus settles a command of which the end is recorded.
func (w *Recorded) readStatus() bool {
	dir, err := record.Open(w.Path())
	if err != nil {
		return false
	}
	defer dir.Close()
	status, ok, err := dir.ReadStatus()
	switch {
	case err != nil && !errors.Is(err, fault.Invariant):
		return false
	case err != nil: // it is damaged, and stays so
		status = lost(w.ask, nil, "how it ended cannot be read")
	case !ok:
		return false
	}
	w.settle(status)
	return true
}

// heard takes what the host tells.
func (w *Recorded) heard(m *hostwire.Message) {
	switch {
	case m.Recorded != nil:
		status := new(record.Status)
		if json.Unmarshal(m.Recorded.Status, status) == nil {
			w.settle(status)
		}
	case m.Cleared != nil && m.Cleared.Unstarted:
		select {
		case w.again <- struct{}{}:
		default:
		}
	case m.Cleared != nil:
		w.clear()
	}
}

// settle tells how the command ended, once.
func (w *Recorded) settle(status *record.Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status != nil {
		return
	}
	w.status = status
	close(w.done)
}

// clear hears that nothing is left of the command.
func (w *Recorded) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !isClosed(w.cleared) {
		close(w.cleared)
	}
}

// letGo settles a command that this process does not follow any more.
func (w *Recorded) letGo() {
	w.settle(&record.Status{Status: record.Failed, Detail: "this process follows it no more", Cause: record.CauseLost})
	w.clear()
}
