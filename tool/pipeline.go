package tool

import (
	"context"
	"log/slog"
	"sync"
)

// Pipeline runs every call of the tools of a registry. It is safe for
// concurrent use, and so must be what is registered with it.
type Pipeline struct {
	registry *Registry
	approver Approver
	log      *slog.Logger

	pre       listeners[PreListener]
	guards    listeners[Guard]
	around    listeners[AroundListener]
	post      listeners[PostListener]
	observers listeners[Observer]
}

// Options complete a pipeline. The zero value is ready.
type Options struct {
	// Approver answers what a pre listener asks; without one an ask denies.
	Approver Approver
	// Log is told about panics; nil discards.
	Log *slog.Logger
}

// NewPipeline returns a pipeline over a registry.
func NewPipeline(registry *Registry, options Options) *Pipeline {
	log := options.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Pipeline{registry: registry, approver: options.Approver, log: log}
}

// Execute runs one call. A call that is malformed, or whose context has ended
// already, reaches no listener. The name of an unknown tool does: whether it
// may be called is decided before whether it exists.
func (p *Pipeline) Execute(ctx context.Context, call Call) Result {
	tool, in, err := p.prepare(&call)
	if err == nil && ctx.Err() != nil {
		err = abortedBeforeDispatch()
	}
	if err != nil {
		result := failure(err)
		result.Card = tool.present(in, result)
		return result
	}
	result, ran, err := p.run(ctx, call, tool, in)
	if !isStageError(err) {
		result = p.review(ctx, tool, Outcome{Call: call, Result: result, Ran: ran})
	}
	result.Card = tool.present(in, result)
	p.observe(ctx, Outcome{Call: call, Result: result, Ran: ran})
	return result
}

// ExecuteBatch runs calls in their order, neighbours that are all safe to run
// beside others at the same time. Results have the order of the calls.
func (p *Pipeline) ExecuteBatch(ctx context.Context, calls []Call) []Result {
	results := make([]Result, len(calls))
	var parallel sync.WaitGroup
	for i, call := range calls {
		if p.parallelSafe(call) {
			parallel.Go(func() { results[i] = p.Execute(ctx, call) })
			continue
		}
		parallel.Wait()
		results[i] = p.Execute(ctx, call)
	}
	parallel.Wait()
	return results
}

// prepare gives the call's arguments their one spelling and decodes them. The
// tool is nil when it is unknown.
func (p *Pipeline) prepare(call *Call) (tool *Tool, in any, err error) {
	tool, _ = p.registry.Tool(call.Tool)
	_, err = contain(p.log, "reading of the arguments", func() (err error) {
		if tool != nil {
			call.Args, in, err = tool.arguments(call.Args)
			return err
		}
		object, err := parseArguments(call.Args)
		call.Args = encodeArguments(object)
		return err
	})
	return tool, in, err
}

// run takes a call from the decision to the rendered result. The error is the
// one that made an error result.
func (p *Pipeline) run(ctx context.Context, call Call, tool *Tool, in any) (result Result, ran bool, err error) {
	var value any
	if err = p.admit(ctx, call); err == nil {
		value, ran, err = p.dispatch(ctx, call, tool, in)
	}
	if err == nil {
		result, err = p.render(tool, value)
	}
	if err != nil {
		result = failure(err)
	}
	return result, ran, err
}

// render checks and renders a body's value.
func (p *Pipeline) render(tool *Tool, value any) (result Result, err error) {
	_, err = contain(p.log, "rendering of tool "+tool.name, func() error {
		text, err := tool.render(value)
		result = Result{Content: Text(text), Structured: value}
		return err
	})
	return result, err
}

func (p *Pipeline) parallelSafe(call Call) bool {
	tool, in, err := p.prepare(&call)
	return err == nil && tool != nil && quietly(func() bool { return tool.parallelSafe(in) })
}
