package tool

import (
	"context"

	"hardshell/internal/fault"
)

// PreListener decides about a call before anything of it runs.
type PreListener = Listener[Call, Decision]

// Decision is what a pre listener says. The zero value is no decision: it ends
// the call as a defect.
type Decision struct {
	Action Action
	// Reason goes to the model with a denial, and to the person with an ask.
	Reason string
}

// Action is the substance of a decision.
type Action string

// The closed vocabulary of actions.
const (
	Allow Action = "allow"
	Deny  Action = "deny"
	Ask   Action = "ask"
)

// Guard returns why a call is denied, or "". It runs after everybody else who
// could deny has allowed the call, a person included.
type Guard func(ctx context.Context, call Call) (reason string)

// Approver has a person, or a standing policy, answer a question. It returns
// at the end of ctx at the latest. Its error ends the call.
type Approver interface {
	Approve(ctx context.Context, question Question) (Answer, error)
}

// Question asks whether one call may run.
type Question struct {
	Call   Call
	Reason string
}

// Answer is an approver's outcome. One outside the vocabulary never grants.
type Answer string

// The closed vocabulary of answers. Only the first grants, and only the one
// call that was asked about.
const (
	AllowedOnce Answer = "allowed-once"
	Rejected    Answer = "rejected"
	Cancelled   Answer = "cancelled"
	Unavailable Answer = "unavailable"
)

// OnPre adds a pre listener until remove is called; the first added is asked
// first.
func (p *Pipeline) OnPre(l PreListener) (remove func()) { return p.pre.add(l) }

// OnGuard adds a guard until remove is called.
func (p *Pipeline) OnGuard(g Guard) (remove func()) { return p.guards.add(g) }

// admit decides whether a call may run: nil when it may.
func (p *Pipeline) admit(ctx context.Context, call Call) error {
	allow := func(context.Context) (Decision, error) { return Decision{Action: Allow}, nil }
	decision, err := waterfall(p.log, "pre", p.pre.all(), call, allow)(ctx)
	if err != nil {
		return &stageError{err}
	}
	switch decision.Action {
	case Allow:
	case Deny:
		return denied(decision.Reason, "tool %q was denied", call.Tool)
	case Ask:
		if err := p.ask(ctx, Question{Call: call, Reason: decision.Reason}); err != nil {
			return err
		}
	default:
		return &stageError{fault.New(fault.Invariant, "a pre listener of tool %q decided %q: use allow, deny or ask", call.Tool, decision.Action)}
	}
	if err := p.guard(ctx, call); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return abortedBeforeDispatch()
	}
	return nil
}

// ask is nil when the question was answered with a grant.
func (p *Pipeline) ask(ctx context.Context, question Question) error {
	name := question.Call.Tool
	if p.approver == nil {
		return denied(question.Reason, "tool %q requires approval (not yet supported)", name)
	}
	if question.Call.Session == nil {
		return denied("", "tool %q requires approval, but the call has no agent to route it through", name)
	}
	var answer Answer
	_, err := contain(p.log, "approver", func() (err error) {
		answer, err = p.approver.Approve(ctx, question)
		return err
	})
	if err != nil {
		return &stageError{err}
	}
	switch answer {
	case AllowedOnce:
		return nil
	case Rejected:
		return denied("", "the user rejected tool %q", name)
	case Cancelled:
		if ctx.Err() != nil {
			return abortedBeforeDispatch()
		}
		return denied("", "approval for tool %q was cancelled", name)
	case Unavailable:
		return denied("", "tool %q requires approval, but no approval channel is available", name)
	default:
		return &stageError{fault.New(fault.Invariant, "the approver of tool %q answered %q, which is no answer", name, answer)}
	}
}

// guard is the first guard's denial, nil when there is none.
func (p *Pipeline) guard(ctx context.Context, call Call) error {
	for _, guard := range p.guards.all() {
		var reason string
		_, err := contain(p.log, "guard", func() error {
			reason = guard(ctx, call)
			return nil
		})
		if err != nil {
			return &stageError{err}
		}
		if reason != "" {
			return denied(reason, "")
		}
	}
	return nil
}

// denied is a refusal with the reason, or with the formatted text where there
// is none.
func denied(reason, format string, args ...any) error {
	if reason == "" {
		return fault.New(Denied, format, args...)
	}
	return &fault.Error{Code: Denied, Message: reason}
}
