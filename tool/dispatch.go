package tool

import (
	"context"

	"hardshell/internal/fault"
)

// AroundListener wraps the body of a call. It may give the body another
// context; the caller's still ends it. The value is the tool's own output.
type AroundListener = Listener[Call, any]

// OnAround adds a wrapper until remove is called; the first added is the
// outermost.
func (p *Pipeline) OnAround(l AroundListener) (remove func()) { return p.around.add(l) }

// dispatch runs the body inside its wrappers. Ran says whether it began.
func (p *Pipeline) dispatch(ctx context.Context, call Call, tool *Tool, in any) (value any, ran bool, err error) {
	unknown := func(context.Context) (any, error) {
		return nil, fault.New(fault.UnknownTool, "unknown tool %q", call.Tool)
	}
	body := func(wrapped context.Context) (value any, err error) {
		wrapped, release := fuse(wrapped, ctx)
		defer release()
		ran = true
		_, err = contain(p.log, "tool "+call.Tool, func() (err error) {
			value, err = tool.run(wrapped, call, in)
			return err
		})
		return value, err
	}
	if tool == nil {
		body = unknown
	}
	value, err = waterfall(p.log, "around", p.around.all(), call, body)(ctx)
	if err == nil && tool == nil {
		// A wrapper answered for a tool that does not exist.
		_, err = unknown(ctx)
	}
	return value, ran, settled(ctx, err)
}

// fuse returns ctx, ending also when the caller's context does.
func fuse(ctx, caller context.Context) (fused context.Context, release func()) {
	if ctx == caller {
		return ctx, func() {}
	}
	fused, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(caller, func() { cancel(context.Cause(caller)) })
	if caller.Err() != nil {
		// AfterFunc runs in its own time: a body must not begin before it.
		cancel(context.Cause(caller))
	}
	return fused, func() {
		stop()
		cancel(nil)
	}
}
