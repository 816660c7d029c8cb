package settings

import (
	"context"
	"sync"
)

// watcher calls one callback of an owner, one change at a time. Its goroutine
// lives while there are changes to tell.
type watcher struct {
	of   *registration
	call func(ctx context.Context, next, prev any) error

	mu      sync.Mutex
	pending []change
	stopped bool
	running chan struct{} // closed at the end of the goroutine; nil when there is none
}

// change is a step of a value, boxed.
type change struct{ next, prev any }

func (w *watcher) enqueue(c change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	w.pending = append(w.pending, c)
	if w.running == nil {
		w.running = make(chan struct{})
		w.of.service.watching.Add(1)
		go w.run()
	}
}

// stop lets no further call start.
func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped, w.pending = true, nil
}

// idle is closed when no call is running, for good once the watcher has stopped.
func (w *watcher) idle() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running != nil {
		return w.running
	}
	quiet := make(chan struct{})
	close(quiet)
	return quiet
}

func (w *watcher) isIdle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running == nil
}

func (w *watcher) run() {
	defer w.of.service.watching.Done()
	for {
		w.mu.Lock()
		if len(w.pending) == 0 {
			stopped := w.stopped
			close(w.running)
			w.running = nil
			w.mu.Unlock()
			if stopped {
				w.of.service.mu.Lock()
				w.of.forget(w)
				w.of.service.mu.Unlock()
			}
			return
		}
		c := w.pending[0]
		w.pending = w.pending[1:]
		w.mu.Unlock()
		if err := contained(func() error { return w.call(w.of.life, c.next, c.prev) }); err != nil {
			w.of.service.log.Warn("a watcher of settings failed", "ns", string(w.of.ns), errorCode(err))
		}
	}
}
