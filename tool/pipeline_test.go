package tool_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"hardshell/internal/fault"
	"hardshell/tool"
)

// trace records the stages that a call went through.
type trace struct {
	mu     sync.Mutex
	stages []string
}

func (tr *trace) add(stage string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.stages = append(tr.stages, stage)
}

func (tr *trace) want(t *testing.T, stages ...string) {
	t.Helper()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if !slices.Equal(tr.stages, stages) {
		t.Errorf("stages are %q\nwant %q", tr.stages, stages)
	}
}

// session is a live handle.
type session struct{}

func (session) ID() string        { return "s1" }
func (session) Workspace() string { return "/w" }
func (session) LogPath() string   { return "/w/log" }

// answer is an approver that always says the same.
type answer struct {
	say    tool.Answer
	err    error
	before func()
	asked  []tool.Question
}

func (a *answer) Approve(_ context.Context, q tool.Question) (tool.Answer, error) {
	a.asked = append(a.asked, q)
	if a.before != nil {
		a.before()
	}
	return a.say, a.err
}

// traced is a pipeline of which every stage leaves a trace. Body is the tool's
// body, nil for one that succeeds.
func traced(t *testing.T, options tool.Options, body func(context.Context) error) (*tool.Pipeline, *trace) {
	t.Helper()
	tr := &trace{}
	d := definition(nil)
	d.Run = func(ctx context.Context, _ tool.Call, in greeting) (greeted, error) {
		tr.add("body")
		if body != nil {
			if err := body(ctx); err != nil {
				return greeted{}, err
			}
		}
		return greeted{Text: "hello " + in.Name}, nil
	}
	d.Render = func(out greeted) string {
		tr.add("render")
		return out.Text
	}
	p := pipelineOf(t, options, mustTool(t, d))
	p.OnGuard(func(context.Context, tool.Call) string { tr.add("guard"); return "" })
	p.OnAround(func(ctx context.Context, _ tool.Call, next tool.Next[any]) (any, error) {
		tr.add("around in")
		defer tr.add("around out")
		return next(ctx)
	})
	p.OnPost(func(ctx context.Context, outcome tool.Outcome, next tool.Next[tool.Review]) (tool.Review, error) {
		if outcome.Ran {
			tr.add("post")
		} else {
			tr.add("post without a body")
		}
		return next(ctx)
	})
	p.OnResult(func(context.Context, tool.Outcome) { tr.add("result") })
	return p, tr
}

// decide is a pre listener that always decides the same.
func decide(action tool.Action, reason string) tool.PreListener {
	return func(context.Context, tool.Call, tool.Next[tool.Decision]) (tool.Decision, error) {
		return tool.Decision{Action: action, Reason: reason}, nil
	}
}

func TestACallPassesTheStagesInOrder(t *testing.T) {
	t.Parallel()
	approver := &answer{say: tool.AllowedOnce}
	p, tr := traced(t, tool.Options{Approver: approver}, nil)
	approver.before = func() { tr.add("ask") }
	p.OnPre(func(ctx context.Context, _ tool.Call, next tool.Next[tool.Decision]) (tool.Decision, error) {
		tr.add("pre in")
		defer tr.add("pre out")
		return next(ctx)
	})
	p.OnPre(decide(tool.Ask, "why"))
	call := tool.Call{ID: "c1", Tool: "greet", Args: []byte(`{"name":"Ada"}`), Session: session{}}
	result := p.Execute(t.Context(), call)
	if text, _ := result.SoleText(); result.IsError || text != "hello Ada" || result.Structured != (greeted{Text: "hello Ada"}) {
		t.Errorf("result is %+v", result)
	}
	tr.want(t, "pre in", "pre out", "ask", "guard", "around in", "body", "around out", "render", "post", "result")
	if want := []tool.Question{{Call: call, Reason: "why"}}; !reflect.DeepEqual(approver.asked, want) {
		t.Errorf("asked %+v\nwant %+v", approver.asked, want)
	}
}

func TestARefusedCallIsReviewedAndNeverRun(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		pre      tool.PreListener
		guard    string
		approver tool.Approver
		call     tool.Call
		code     fault.Code
		message  string
		stages   []string
	}{
		"denied with a reason": {
			pre: decide(tool.Deny, "not today"), code: tool.Denied, message: "not today",
			stages: []string{"post without a body", "result"},
		},
		"denied without one": {
			pre: decide(tool.Deny, ""), code: tool.Denied, message: `tool "greet" was denied`,
			stages: []string{"post without a body", "result"},
		},
		"asked without an approver": {
			pre: decide(tool.Ask, ""), code: tool.Denied, message: `tool "greet" requires approval (not yet supported)`,
			stages: []string{"post without a body", "result"},
		},
		"asked with a reason, without an approver": {
			pre: decide(tool.Ask, "needs a person"), code: tool.Denied, message: `needs a person`,
			stages: []string{"post without a body", "result"},
		},
		"asked without a session": {
			pre: decide(tool.Ask, ""), approver: &answer{say: tool.AllowedOnce}, call: greet(`{"name":"a"}`),
			code: tool.Denied, message: `tool "greet" requires approval, but the call has no agent to route it through`,
			stages: []string{"post without a body", "result"},
		},
		"rejected": {
			pre: decide(tool.Ask, ""), approver: &answer{say: tool.Rejected},
			code: tool.Denied, message: `the user rejected tool "greet"`,
			stages: []string{"post without a body", "result"},
		},
		"cancelled": {
			pre: decide(tool.Ask, ""), approver: &answer{say: tool.Cancelled},
			code: tool.Denied, message: `approval for tool "greet" was cancelled`,
			stages: []string{"post without a body", "result"},
		},
		"without a channel": {
			pre: decide(tool.Ask, ""), approver: &answer{say: tool.Unavailable},
			code: tool.Denied, message: `tool "greet" requires approval, but no approval channel is available`,
			stages: []string{"post without a body", "result"},
		},
		"answered with an unknown word": {
			pre: decide(tool.Ask, ""), approver: &answer{say: "yes"},
			code: fault.Invariant, message: `the approver of tool "greet" answered "yes", which is no answer`,
			stages: []string{"result"},
		},
		"granted with an error": {
			pre: decide(tool.Ask, ""), approver: &answer{say: tool.AllowedOnce, err: boom}, message: "boom",
			stages: []string{"result"},
		},
		"granted, and denied by a guard": {
			pre: decide(tool.Ask, ""), approver: &answer{say: tool.AllowedOnce}, guard: "never here",
			code: tool.Denied, message: "never here", stages: []string{"guard", "post without a body", "result"},
		},
		"decided with the zero decision": {
			pre: decide("", ""), code: fault.Invariant,
			message: `a pre listener of tool "greet" decided "": use allow, deny or ask`, stages: []string{"result"},
		},
		"failed to decide": {
			pre: func(context.Context, tool.Call, tool.Next[tool.Decision]) (tool.Decision, error) {
				return tool.Decision{Action: tool.Allow}, boom
			},
			message: "boom", stages: []string{"result"},
		},
		"for an unknown tool, which policy sees": {
			pre: decide(tool.Deny, "policy first"), call: tool.Call{Tool: "nope"},
			code: tool.Denied, message: "policy first", stages: []string{"post without a body", "result"},
		},
		"because the tool is unknown": {
			pre: decide(tool.Allow, ""), call: tool.Call{Tool: "nope"},
			code: fault.UnknownTool, message: `unknown tool "nope"`,
			stages: []string{"guard", "around in", "around out", "post without a body", "result"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, tr := traced(t, tool.Options{Approver: c.approver}, nil)
			p.OnPre(c.pre)
			if c.guard != "" {
				p.OnGuard(func(context.Context, tool.Call) string { return c.guard })
			}
			if c.call.Tool == "" {
				c.call = greet(`{"name":"a"}`)
				c.call.Session = session{}
			}
			wantError(t, p.Execute(t.Context(), c.call), c.code, c.message)
			tr.want(t, c.stages...)
		})
	}
}

func TestAnAbortIsReportedForWhatItCutShort(t *testing.T) {
	t.Parallel()
	own := fault.New(fault.SpawnFailed, "own failure")
	for name, c := range map[string]struct {
		before  bool // the context ends before the call
		asking  bool // it ends while a person is asked
		body    func(ctx context.Context, cancel func()) error
		code    fault.Code
		message string
		stages  []string
	}{
		"before the call nothing at all happens": {
			before: true, code: fault.AbortedBeforeDispatch, message: "tool call aborted before dispatch",
		},
		"during the question the body never runs": {
			asking: true, code: fault.AbortedBeforeDispatch, message: "tool call aborted before dispatch",
			stages: []string{"post without a body", "result"},
		},
		"a success becomes an abort": {
			body: func(_ context.Context, cancel func()) error { cancel(); return nil },
			code: fault.Aborted, message: "tool call aborted",
			stages: []string{"guard", "around in", "body", "around out", "post", "result"},
		},
		"the bare error of the context becomes an abort": {
			body: func(ctx context.Context, cancel func()) error { cancel(); return ctx.Err() },
			code: fault.Aborted, message: "tool call aborted",
			stages: []string{"guard", "around in", "body", "around out", "post", "result"},
		},
		"a failure of its own is kept": {
			body: func(_ context.Context, cancel func()) error { cancel(); return own },
			code: fault.SpawnFailed, message: "own failure",
			stages: []string{"guard", "around in", "body", "around out", "post", "result"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			approver := &answer{say: tool.Cancelled, before: cancel}
			p, tr := traced(t, tool.Options{Approver: approver}, func(ctx context.Context) error { return c.body(ctx, cancel) })
			if c.before {
				cancel()
			}
			if c.asking {
				p.OnPre(decide(tool.Ask, ""))
			}
			call := greet(`{"name":"a"}`)
			call.Session = session{}
			wantError(t, p.Execute(ctx, call), c.code, c.message)
			tr.want(t, c.stages...)
		})
	}
	t.Run("after a grant that came too late the body never runs", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		p, tr := traced(t, tool.Options{Approver: &answer{say: tool.AllowedOnce, before: cancel}}, nil)
		p.OnPre(decide(tool.Ask, ""))
		call := greet(`{"name":"a"}`)
		call.Session = session{}
		wantError(t, p.Execute(ctx, call), fault.AbortedBeforeDispatch, "tool call aborted before dispatch")
		tr.want(t, "guard", "post without a body", "result")
	})
}

func TestAPanicIsContainedInItsStage(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	around := func(context.Context, tool.Call, tool.Next[any]) (any, error) { panic(secret) }
	for name, c := range map[string]struct {
		spoil   func(*tool.Pipeline)
		body    bool
		where   string // "" for a stage of which the panic changes nothing
		stages  []string
		options tool.Options
	}{
		"pre": {
			spoil: func(p *tool.Pipeline) {
				p.OnPre(func(context.Context, tool.Call, tool.Next[tool.Decision]) (tool.Decision, error) { panic(secret) })
			},
			where: "pre listener", stages: []string{"result"},
		},
		"approver": {
			spoil:   func(p *tool.Pipeline) { p.OnPre(decide(tool.Ask, "")) },
			options: tool.Options{Approver: &answer{before: func() { panic(secret) }}},
			where:   "approver", stages: []string{"result"},
		},
		"guard": {
			spoil: func(p *tool.Pipeline) {
				p.OnGuard(func(context.Context, tool.Call) string { panic(secret) })
			},
			where: "guard", stages: []string{"guard", "result"},
		},
		"around": {
			spoil: func(p *tool.Pipeline) { p.OnAround(around) },
			where: "around listener", stages: []string{"guard", "around in", "around out", "result"},
		},
		"body": {
			body: true, where: "tool greet",
			stages: []string{"guard", "around in", "body", "around out", "post", "result"},
		},
		"post": {
			spoil: func(p *tool.Pipeline) {
				p.OnPost(func(context.Context, tool.Outcome, tool.Next[tool.Review]) (tool.Review, error) { panic(secret) })
			},
			where: "post listener", stages: []string{"guard", "around in", "body", "around out", "render", "post", "result"},
		},
		"observer": {
			spoil:  func(p *tool.Pipeline) { p.OnResult(func(context.Context, tool.Outcome) { panic(secret) }) },
			stages: []string{"guard", "around in", "body", "around out", "render", "post", "result"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logged bytes.Buffer
			c.options.Log = slog.New(slog.NewTextHandler(&logged, nil))
			p, tr := traced(t, c.options, func(context.Context) error {
				if c.body {
					panic(secret)
				}
				return nil
			})
			if c.spoil != nil {
				c.spoil(p)
			}
			call := greet(`{"name":"a"}`)
			call.Session = session{}
			result := p.Execute(t.Context(), call)
			if c.where == "" {
				if text, _ := result.SoleText(); result.IsError || text != "hello a" {
					t.Errorf("result is %+v", result)
				}
			} else {
				wantError(t, result, fault.Invariant,
					"internal error: the "+c.where+" panicked, and the call was stopped; the log of hardshell says why")
			}
			tr.want(t, c.stages...)
			if log := logged.String(); !strings.Contains(log, secret) || !strings.Contains(log, "pipeline_test.go") {
				t.Errorf("the log does not tell what panicked where: %q", log)
			}
		})
	}
}

func TestADefinitionThatPanicsIsAnErrorResult(t *testing.T) {
	t.Parallel()
	d := definition(nil)
	d.Refine = func(s *jsonschema.Schema) { s.Properties["misspelt"].Description = "x" }
	made := mustTool(t, d)
	p := pipelineOf(t, tool.Options{}, made)
	for range 2 {
		wantError(t, p.Execute(t.Context(), greet(`{"name":"a"}`)), fault.Invariant,
			"internal error: the reading of the arguments panicked, and the call was stopped; the log of hardshell says why")
	}
	if card := made.Present([]byte(`{"name":"a"}`), tool.Result{}); card.Call != nil {
		t.Errorf("card is %+v", card)
	}
}

func TestARenderingThatPanicsIsAnErrorResult(t *testing.T) {
	t.Parallel()
	d := definition(nil)
	d.Render = func(greeted) string { panic("no") }
	p := pipelineOf(t, tool.Options{}, mustTool(t, d))
	result := p.Execute(t.Context(), greet(`{"name":"a"}`))
	wantError(t, result, fault.Invariant, "internal error: the rendering of tool greet panicked, and the call was stopped; the log of hardshell says why")
}

func TestAWrapper(t *testing.T) {
	t.Parallel()
	t.Run("gives the body another context, which the caller still ends", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			p, _ := traced(t, tool.Options{}, func(ctx context.Context) error {
				time.AfterFunc(time.Second, cancel)
				<-ctx.Done()
				return errors.New("saw the end: " + context.Cause(ctx).Error())
			})
			p.OnAround(func(_ context.Context, _ tool.Call, next tool.Next[any]) (any, error) {
				return next(context.Background())
			})
			wantError(t, p.Execute(ctx, greet(`{"name":"a"}`)), "", "saw the end: context canceled")
		})
	})
	t.Run("cannot hide an end that came before the body", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		p, _ := traced(t, tool.Options{}, func(ctx context.Context) error {
			if ctx.Err() == nil {
				return errors.New("the body began with a live context")
			}
			return errors.New("began at the end: " + context.Cause(ctx).Error())
		})
		p.OnAround(func(_ context.Context, _ tool.Call, next tool.Next[any]) (any, error) {
			cancel(errors.New("enough"))
			return next(context.Background())
		})
		wantError(t, p.Execute(ctx, greet(`{"name":"a"}`)), "", "began at the end: enough")
	})
	t.Run("ends the body without the caller", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p, tr := traced(t, tool.Options{}, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
			p.OnAround(func(ctx context.Context, _ tool.Call, next tool.Next[any]) (any, error) {
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				if _, err := next(ctx); err != nil {
					return nil, errors.New("tool call timed out after 60000ms")
				}
				return nil, errors.New("not ended")
			})
			wantError(t, p.Execute(t.Context(), greet(`{"name":"a"}`)), "", "tool call timed out after 60000ms")
			tr.want(t, "guard", "around in", "body", "around out", "post", "result")
		})
	})
	t.Run("is waited for by nobody, the body is", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var finished atomic.Bool
			p, tr := traced(t, tool.Options{}, func(context.Context) error {
				time.Sleep(time.Hour)
				finished.Store(true)
				return nil
			})
			p.OnAround(func(ctx context.Context, _ tool.Call, next tool.Next[any]) (any, error) {
				go func() { _, _ = next(ctx) }()
				synctest.Wait() // the body has begun
				return nil, errors.New("left early")
			})
			wantError(t, p.Execute(t.Context(), greet(`{"name":"a"}`)), "", "left early")
			if !finished.Load() {
				t.Error("the body is still running")
			}
			tr.want(t, "guard", "around in", "body", "around out", "post", "result")
		})
	})
	t.Run("cannot continue twice", func(t *testing.T) {
		t.Parallel()
		p, tr := traced(t, tool.Options{}, nil)
		p.OnAround(func(ctx context.Context, _ tool.Call, next tool.Next[any]) (any, error) {
			if _, err := next(ctx); err != nil {
				t.Errorf("the first time: %v", err)
			}
			return next(ctx)
		})
		wantError(t, p.Execute(t.Context(), greet(`{"name":"a"}`)), fault.Invariant,
			"a around listener continued twice, or after it had returned")
		tr.want(t, "guard", "around in", "body", "around out", "post", "result")
	})
	t.Run("cannot continue after it returned", func(t *testing.T) {
		t.Parallel()
		p, tr := traced(t, tool.Options{}, nil)
		var kept tool.Next[any]
		p.OnAround(func(_ context.Context, _ tool.Call, next tool.Next[any]) (any, error) {
			kept = next
			return greeted{Text: "from a cache"}, nil
		})
		if text, _ := p.Execute(t.Context(), greet(`{"name":"a"}`)).SoleText(); text != "from a cache" {
			t.Errorf("content is %q", text)
		}
		if _, err := kept(t.Context()); !errors.Is(err, fault.Invariant) {
			t.Errorf("error is %v", err)
		}
		tr.want(t, "guard", "around in", "around out", "render", "post without a body", "result")
	})
	t.Run("cannot answer with another value", func(t *testing.T) {
		t.Parallel()
		p, _ := traced(t, tool.Options{}, nil)
		p.OnAround(func(context.Context, tool.Call, tool.Next[any]) (any, error) { return "text", nil })
		wantError(t, p.Execute(t.Context(), greet(`{"name":"a"}`)), fault.InvalidToolOutput,
			`the tool "greet" returned a value that is not its output`)
	})
	t.Run("cannot answer for a tool that does not exist", func(t *testing.T) {
		t.Parallel()
		p, _ := traced(t, tool.Options{}, nil)
		p.OnAround(func(context.Context, tool.Call, tool.Next[any]) (any, error) { return "text", nil })
		wantError(t, p.Execute(t.Context(), tool.Call{Tool: "nope"}), fault.UnknownTool, `unknown tool "nope"`)
	})
}

func TestAPostListener(t *testing.T) {
	t.Parallel()
	failing := func(context.Context) error { return errors.New("failed") }
	for name, c := range map[string]struct {
		review     tool.Review
		err        error
		body       func(context.Context) error
		isError    bool
		text       string
		structured any
	}{
		"accepts":                   {text: "hello a", structured: greeted{"hello a"}},
		"replaces the content":      {review: tool.Review{Content: tool.Text("other")}, text: "other", structured: greeted{"hello a"}},
		"replaces an error's text":  {review: tool.Review{Content: tool.Text("other")}, body: failing, isError: true, text: "other"},
		"replaces the value":        {review: tool.Review{Value: greeted{"hi"}}, text: "hi", structured: greeted{"hi"}},
		"blocks with feedback":      {review: tool.Review{Block: true, Feedback: "no"}, isError: true, text: "Error: no"},
		"blocks without":            {review: tool.Review{Block: true}, isError: true, text: `Error: the result of tool "greet" was blocked`},
		"fails":                     {err: errors.New("boom"), isError: true, text: "Error: boom"},
		"replaces a value wrongly":  {review: tool.Review{Value: 5}, isError: true, text: `Error: the tool "greet" returned a value that is not its output`},
		"replaces both":             {review: tool.Review{Value: greeted{"hi"}, Content: tool.Text("x")}, isError: true, text: `Error: a post listener of tool "greet" replaced a value beside content or an error`},
		"gives an error its value":  {review: tool.Review{Value: greeted{"hi"}}, body: failing, isError: true, text: `Error: a post listener of tool "greet" replaced a value beside content or an error`},
		"accepts an error as it is": {body: failing, isError: true, text: "Error: failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := traced(t, tool.Options{}, c.body)
			p.OnPost(func(_ context.Context, outcome tool.Outcome, _ tool.Next[tool.Review]) (tool.Review, error) {
				outcome.Result.Content[0].Text = "scribbled over"
				return c.review, c.err
			})
			var observed tool.Result
			p.OnResult(func(_ context.Context, outcome tool.Outcome) { observed = outcome.Result })
			result := p.Execute(t.Context(), greet(`{"name":"a"}`))
			text, _ := result.SoleText()
			if result.IsError != c.isError || (result.Error != nil) != c.isError || text != c.text || result.Structured != c.structured {
				t.Errorf("result is %+v, error %+v", result, result.Error)
			}
			if !reflect.DeepEqual(result.Card.Result, tool.View(tool.Console(c.text))) {
				t.Errorf("the card is not that of the final text: %+v", result.Card.Result)
			}
			if !reflect.DeepEqual(observed, result) {
				t.Errorf("the observer saw %+v", observed)
			}
		})
	}
}

func TestAnObserverChangesNothing(t *testing.T) {
	t.Parallel()
	p, _ := traced(t, tool.Options{}, nil)
	p.OnResult(func(_ context.Context, outcome tool.Outcome) { outcome.Result.Content[0].Text = "scribbled over" })
	if text, _ := p.Execute(t.Context(), greet(`{"name":"a"}`)).SoleText(); text != "hello a" {
		t.Errorf("content is %q", text)
	}
}

func TestARemovedListenerIsNotCalled(t *testing.T) {
	t.Parallel()
	p, tr := traced(t, tool.Options{}, nil)
	removals := []func(){
		p.OnPre(decide(tool.Deny, "removed")),
		p.OnGuard(func(context.Context, tool.Call) string { return "removed" }),
		p.OnAround(func(context.Context, tool.Call, tool.Next[any]) (any, error) { return nil, errors.New("removed") }),
		p.OnPost(func(context.Context, tool.Outcome, tool.Next[tool.Review]) (tool.Review, error) {
			return tool.Review{Block: true, Feedback: "removed"}, nil
		}),
		p.OnResult(func(context.Context, tool.Outcome) { tr.add("removed") }),
	}
	for _, remove := range removals {
		remove()
		remove()
	}
	if result := p.Execute(t.Context(), greet(`{"name":"a"}`)); result.IsError {
		t.Error(result.Error.Message)
	}
	tr.want(t, "guard", "around in", "body", "around out", "render", "post", "result")
}

func TestABatchKeepsItsOrderAndItsBarriers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		tr := &trace{}
		d := definition(nil)
		d.ParallelSafe = func(in greeting) bool {
			if in.Name == "panics" {
				panic("no")
			}
			return !in.Loud
		}
		d.Run = func(_ context.Context, _ tool.Call, in greeting) (greeted, error) {
			now := running.Add(1)
			defer running.Add(-1)
			most.Store(max(most.Load(), now))
			if !(now == 1 || in.Name == "a" || in.Name == "b") {
				t.Errorf("%s is not alone", in.Name)
			}
			time.Sleep(time.Second)
			tr.add(in.Name)
			return greeted{Text: in.Name}, nil
		}
		p := pipelineOf(t, tool.Options{}, mustTool(t, d))
		results := p.ExecuteBatch(t.Context(), []tool.Call{
			greet(`{"name":"a"}`), greet(`{"name":"b"}`), greet(`{"name":"loud","loud":true}`),
			greet(`{"name":"panics"}`), greet(`{}`), greet(`{"name":"c"}`),
		})
		if most.Load() != 2 {
			t.Errorf("%d ran at once, want 2", most.Load())
		}
		var texts []string
		for _, result := range results {
			text, _ := result.SoleText()
			texts = append(texts, text)
		}
		if want := []string{"a", "b", "loud", "panics", `Error: invalid arguments: missing required property "name"`, "c"}; !slices.Equal(texts, want) {
			t.Errorf("results are %q", texts)
		}
		slices.Sort(tr.stages[:2]) // neighbours may end in any order
		tr.want(t, "a", "b", "loud", "panics", "c")
	})
}
