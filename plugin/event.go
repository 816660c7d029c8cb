package plugin

import (
	"context"
	"errors"
	"sync"

	"hardshell/internal/fault"
)

// Emit is an event that observers are told of. The zero value is not usable.
type Emit[T any] struct {
	Listeners[func(context.Context, T) error]
}

// NewEmit returns an event without listeners.
func NewEmit[T any](name string) *Emit[T] {
	e := &Emit[T]{}
	e.name = name
	return e
}

// Tell calls every listener. Their errors and panics are logged by the scope of
// the listener and concern nobody else, except errors with the code INVARIANT:
// those are joined and returned, after all listeners were called.
func (e *Emit[T]) Tell(ctx context.Context, about *Scope, v T) error {
	var broken []error
	for _, l := range e.now() {
		_, panicked, err := l.call(ctx, e.name, about, func(ctx context.Context) error { return l.fn(ctx, v) })
		switch {
		case err == nil:
		case !panicked && errors.Is(err, fault.Invariant):
			broken = append(broken, err)
		case !panicked: // a panic is in the log already
			l.scope.log.Warn("a listener failed", "event", e.name, "scope", l.scope.name, "error", err)
		}
	}
	return errors.Join(broken...)
}

// Serial is a question that the first listener with an answer decides. The zero
// value is not usable.
type Serial[T, R any] struct {
	Listeners[Answer[T, R]]
}

// Answer is a listener of a Serial. With false it has no answer; with true, any
// value is one, the zero value too.
type Answer[T, R any] func(context.Context, T) (R, bool, error)

// NewSerial returns an event without listeners.
func NewSerial[T, R any](name string) *Serial[T, R] {
	e := &Serial[T, R]{}
	e.name = name
	return e
}

// Ask asks one listener after the other until one has an answer, and reports
// whether one had. An error or a panic ends the asking and is returned.
func (e *Serial[T, R]) Ask(ctx context.Context, about *Scope, v T) (answer R, answered bool, err error) {
	for _, l := range e.now() {
		var r R
		var ok bool
		_, _, err := l.call(ctx, e.name, about, func(ctx context.Context) (err error) {
			r, ok, err = l.fn(ctx, v)
			return err
		})
		if err != nil {
			return answer, false, err
		}
		if ok {
			return r, true, nil
		}
	}
	return answer, false, nil
}

// Waterfall is a chain of listeners around a last step. The zero value is not
// usable.
type Waterfall[T, R any] struct {
	Listeners[Wrapper[T, R]]
}

// Next is the rest of a chain: the later listeners and the last step.
type Next[T, R any] func(context.Context, T) (R, error)

// Wrapper is a listener of a Waterfall. It calls next, at most once and before
// it returns, or answers without it. With false it has no answer of its own, and
// what next returned, its error too, stands.
type Wrapper[T, R any] func(ctx context.Context, v T, next Next[T, R]) (answer R, own bool, err error)

// NewWaterfall returns an event without listeners.
func NewWaterfall[T, R any](name string) *Waterfall[T, R] {
	e := &Waterfall[T, R]{}
	e.name = name
	return e
}

// Run runs the chain. Every listener has a continuation of its own: a second
// call of it, or a late one, gets an INVARIANT error and runs nothing. A
// listener that neither calls it nor answers makes Run fail with INVARIANT, as a
// panic does.
func (e *Waterfall[T, R]) Run(ctx context.Context, about *Scope, v T, last Next[T, R]) (R, error) {
	return e.from(ctx, e.now(), about, v, last)
}

func (e *Waterfall[T, R]) from(ctx context.Context, ls []*listener[Wrapper[T, R]], about *Scope, v T, last Next[T, R]) (answer R, err error) {
	for i, l := range ls {
		c := &continuation[T, R]{event: e.name, run: func(ctx context.Context, v T) (R, error) {
			return e.from(ctx, ls[i+1:], about, v, last)
		}}
		var own bool
		called, _, err := l.call(ctx, e.name, about, func(ctx context.Context) (err error) {
			answer, own, err = l.fn(ctx, v, c.next)
			return err
		})
		if called {
			return c.settle(answer, own, err)
		}
	}
	return last(ctx, v)
}

// continuation is the Next of one listener.
type continuation[T, R any] struct {
	event string
	run   Next[T, R]

	mu     sync.Mutex // guards what follows
	begun  bool
	ended  bool // the listener has returned
	done   bool // run has returned
	answer R
	err    error
}

func (c *continuation[T, R]) next(ctx context.Context, v T) (none R, err error) {
	c.mu.Lock()
	begun, ended := c.begun, c.ended
	c.begun = true
	c.mu.Unlock()
	switch {
	case ended:
		return none, fault.New(fault.Invariant, "event %s: a listener called its continuation after it had returned", c.event)
	case begun:
		return none, fault.New(fault.Invariant, "event %s: a listener called its continuation twice", c.event)
	}
	answer, err := c.run(ctx, v)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done, c.answer, c.err = true, answer, err
	return answer, err
}

// settle says what the listener's return means.
func (c *continuation[T, R]) settle(answer R, own bool, err error) (R, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	switch {
	case err != nil || own:
		return answer, err
	case c.done:
		return c.answer, c.err
	case c.begun:
		return answer, fault.New(fault.Invariant, "event %s: a listener returned before its continuation", c.event)
	default:
		return answer, fault.New(fault.Invariant, "event %s: a listener neither called its continuation nor answered", c.event)
	}
}
