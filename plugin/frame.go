package plugin

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"hardshell/internal/fault"
)

// frame is a context's note that work of a scope runs: its deferred work, its
// Apply, or a listener.
type frame struct {
	scope *Scope
	gate  *gate // the listener's, nil for other work
	outer *frame
	over  atomic.Bool
}

type frameKey struct{}

func enter(ctx context.Context, s *Scope, g *gate) (context.Context, *frame) {
	f := &frame{scope: s, gate: g, outer: innermost(ctx)}
	return context.WithValue(ctx, frameKey{}, f), f
}

// leave ends the note, for goroutines that keep the context beyond the work.
func (f *frame) leave() { f.over.Store(true) }

func innermost(ctx context.Context) *frame {
	f, _ := ctx.Value(frameKey{}).(*frame)
	return f
}

// runs reports whether ctx belongs to work of s, or of a scope in it.
func runs(ctx context.Context, s *Scope) bool {
	for f := innermost(ctx); f != nil; f = f.outer {
		if !f.over.Load() && f.scope.inside(s) {
			return true
		}
	}
	return false
}

// passes returns how many of the calls in g ctx belongs to.
func passes(ctx context.Context, g *gate) int {
	n := 0
	for f := innermost(ctx); f != nil; f = f.outer {
		if f.gate == g && !f.over.Load() {
			n++
		}
	}
	return n
}

// contain turns a panic of f into an INVARIANT error. Neither the error nor the
// log has the value of the panic, which may hold anything, unless the runtime or
// this program's own errors made it.
func contain(log *slog.Logger, what string, f func() error) (panicked bool, err error) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		panicked = true
		reason := fmt.Sprintf("a %T", value)
		switch v := value.(type) {
		case *fault.Error:
			err = v
			return
		case runtime.Error:
			reason = v.Error()
		}
		log.Error("panic in "+what, "reason", reason, "stack", string(debug.Stack()))
		err = fault.New(fault.Invariant, "%s panicked: %s; the log says where", what, reason)
	}()
	return false, f()
}
