package settings

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"hardshell/internal/jsontree"
)

// Scope is what the owner of a namespace holds. It is safe for concurrent use.
type Scope[T any] struct {
	registration *registration
	check        func(T) error
	copy         copier[T]
	value        atomic.Pointer[boxed[T]]
}

// boxed is a value with the tree that it was made from.
type boxed[T any] struct {
	value T
	tree  map[string]any
}

func newScope[T any](check func(T) error) *Scope[T] {
	return &Scope[T]{check: check, copy: newCopier[T]()}
}

// Get returns the current value, in a copy of the caller's own. It waits for
// nobody. After Close it is the last value.
func (s *Scope[T]) Get() T {
	held := s.value.Load()
	if s.copy.flat {
		return held.value
	}
	return s.copy.of(held)
}

// Watch has callback called after each commit that changes the value: with the
// new value and the one before, in copies, one call at a time and in the order of
// the commits. Calls run in a goroutine of their own, so that callback may write.
// An error or panic is logged by its code and type, not by its text, which might
// quote a setting.
//
// After stop has returned no further call starts; one that has started goes on.
// The context ends when the scope or the service is closed.
func (s *Scope[T]) Watch(callback func(ctx context.Context, next, prev T) error) (stop func()) {
	r := s.registration
	w := &watcher{of: r, call: func(ctx context.Context, next, prev any) error {
		return callback(ctx, s.copy.of(next.(*boxed[T])), s.copy.of(prev.(*boxed[T])))
	}}
	r.service.mu.Lock()
	defer r.service.mu.Unlock()
	if !r.live || r.service.closing {
		return func() {}
	}
	if r.life == nil {
		r.life, r.endLife = context.WithCancel(r.service.life)
	}
	r.watch = append(slices.Clip(r.watch), w)
	return func() {
		w.stop()
		r.service.mu.Lock()
		defer r.service.mu.Unlock()
		if w.isIdle() {
			r.forget(w)
		}
	}
}

// forget drops a watcher that has stopped and that nobody needs to wait for. The
// service's mu is held.
func (r *registration) forget(w *watcher) {
	r.watch = slices.DeleteFunc(slices.Clone(r.watch), func(other *watcher) bool { return other == w })
}

// Update lays patch, a map or struct of JSON data, over the user's section and
// stores the result. It never touches the base. See Service.Update.
func (s *Scope[T]) Update(ctx context.Context, patch any) error {
	return s.registration.update(ctx, patch, Expect{})
}

// Replace makes section the user's whole section: keys that it does not have get
// the values of the layers below. See Service.Replace.
func (s *Scope[T]) Replace(ctx context.Context, section any) error {
	return s.registration.replace(ctx, section, Expect{})
}

// Close ends the registration: the namespace is free, queued writes are refused,
// and no call of a watcher starts. It waits for the calls that have started,
// until ctx ends; with the context of a call by this service it does not wait.
// What is stored stays stored. Closing twice waits again.
func (s *Scope[T]) Close(ctx context.Context) error {
	r := s.registration
	r.service.remove(r)
	if r.service.inCallback(ctx) {
		return nil
	}
	for _, w := range r.watchers() {
		select {
		case <-w.idle():
		case <-ctx.Done():
			return fmt.Errorf("waiting for the watchers of the settings of %q: %w", r.ns, context.Cause(ctx))
		}
	}
	return nil
}

func (s *Scope[T]) decode(tree map[string]any) (any, error) {
	held := &boxed[T]{tree: tree}
	if err := jsontree.Decode(tree, &held.value); err != nil {
		return nil, err
	}
	return held, nil
}

func (s *Scope[T]) checks() bool { return s.check != nil }

func (s *Scope[T]) validate(value any) error {
	return s.check(value.(*boxed[T]).value)
}

func (s *Scope[T]) store(value any) { s.value.Store(value.(*boxed[T])) }
