package tool

import (
	"context"
	"slices"

	"hardshell/internal/fault"
)

// Outcome is a call with what it came to.
type Outcome struct {
	Call Call
	// Result has no card yet when post listeners see it.
	Result Result
	// Ran is true when the body began; false for a call that was refused.
	Ran bool
}

// PostListener reviews the outcome of a call, also of a refused one. It sees
// the outcome of the call itself, whatever other listeners make of it.
type PostListener = Listener[Outcome, Review]

// Review is what a post listener says. The zero value accepts.
type Review struct {
	// Block makes the call an error result with the feedback as its text.
	Block    bool
	Feedback string
	// Content replaces what the model reads; nil leaves it.
	Content []Content
	// Value replaces the tool's value, of the same type, and is rendered anew;
	// nil leaves it. It goes with a success only, and not with Content.
	Value any
}

// Observer is told of the final result. Nothing that it does changes it.
type Observer func(ctx context.Context, outcome Outcome)

// OnPost adds a post listener until remove is called; the first added is the
// outermost.
func (p *Pipeline) OnPost(l PostListener) (remove func()) { return p.post.add(l) }

// OnResult adds an observer until remove is called.
func (p *Pipeline) OnResult(o Observer) (remove func()) { return p.observers.add(o) }

// review has the post listeners judge an outcome, and returns the result that
// stands.
func (p *Pipeline) review(ctx context.Context, tool *Tool, outcome Outcome) Result {
	accept := func(context.Context) (Review, error) { return Review{}, nil }
	review, err := waterfall(p.log, "post", p.post.all(), outcome.shared(), accept)(ctx)
	result := outcome.Result
	switch {
	case err != nil:
		return failure(err)
	case review.Block:
		return failure(denied(review.Feedback, "the result of tool %q was blocked", outcome.Call.Tool))
	case review.Value != nil && (review.Content != nil || result.IsError):
		return failure(fault.New(fault.Invariant, "a post listener of tool %q replaced a value beside content or an error", outcome.Call.Tool))
	case review.Value != nil:
		if result, err = p.render(tool, review.Value); err != nil {
			return failure(err)
		}
	case review.Content != nil:
		result.Content = review.Content
	}
	return result
}

// observe tells the observers, each contained.
func (p *Pipeline) observe(ctx context.Context, outcome Outcome) {
	for _, observer := range p.observers.all() {
		_, _ = contain(p.log, "result observer", func() error {
			observer(ctx, outcome.shared())
			return nil
		})
	}
}

// shared is a copy whose content may be written to without changing the
// result.
func (o Outcome) shared() Outcome {
	o.Result.Content = slices.Clone(o.Result.Content)
	return o
}
