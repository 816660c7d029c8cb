// Package tool holds the tools that a model is given and the one pipeline that
// every call of one goes through, whatever face it came from.
//
// It promises:
//
//   - Arguments are checked against the published schema before anything else
//     sees them. Every mistake is reported; undeclared keys go no further.
//   - A call passes pre listeners, approval, guards, around wrappers, the body,
//     rendering, post listeners and observers, in this order. A guard can only
//     deny, and nothing that ran before it can overrule it.
//   - Stages fail closed: a listener that panics or errs ends the call as an
//     error result. Observers change nothing.
//   - A body that began is awaited, and its success under an ended context is
//     reported as an abort.
//   - Execute returns a Result for everything that can happen; it has no error.
//
// Cards are pure functions of the arguments and the result, so that a live and
// a replayed view agree.
package tool
