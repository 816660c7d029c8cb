package plugin_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hardshell/internal/fault"
	"hardshell/plugin"
)

type observer = func(context.Context, string) error

func (t *trace) observer(name string) observer {
	return func(_ context.Context, v string) error {
		t.add("%s:%s", name, v)
		return nil
	}
}

func TestEmitTellsEveryObserverWhateverOthersDo(t *testing.T) {
	t.Parallel()
	var tr trace
	var l logged
	s := plugin.NewScope("outer", l.logger())
	e := plugin.NewEmit[string]("changed")
	broken := fault.New(fault.Invariant, "the books do not balance")
	for _, f := range []observer{
		tr.observer("a"),
		func(context.Context, string) error { return errors.New("an ordinary failure") },
		func(context.Context, string) error { panic("a secret") },
		func(context.Context, string) error { return broken },
		func(context.Context, string) error { return broken },
		tr.observer("z"),
	} {
		must(t, e.Listen(s, f))
	}
	err := e.Tell(context.Background(), nil, "v")
	want(t, "told", tr.take(), "a:v z:v")
	wantErr(t, err, fault.Invariant, "the books do not balance\nthe books do not balance")
	if strings.Contains(err.Error(), "panic") || strings.Contains(err.Error(), "ordinary") {
		t.Errorf("an observer's failure reached the emitter: %v", err)
	}
	for text, want := range map[string]bool{"an ordinary failure": true, "panic in a listener of event changed": true, "a secret": false} {
		if strings.Contains(l.String(), text) != want {
			t.Errorf("log has %q: %v: %s", text, !want, l.String())
		}
	}
	must(t, s.Close(context.Background()))
	must(t, e.Tell(context.Background(), nil, "v"))
	want(t, "told after the end", tr.take(), "")
}

func TestADispatchHasTheListenersOfItsBeginning(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var tr trace
	s := plugin.NewScope("outer", nil)
	child, err := s.Child("inner")
	must(t, err)
	e := plugin.NewEmit[string]("changed")
	must(t, e.Listen(s, func(ctx context.Context, v string) error {
		must(t, e.Listen(s, tr.observer("late")))
		return child.Close(ctx)
	}))
	must(t, e.Listen(child, tr.observer("closed meanwhile")))
	must(t, e.Listen(s, tr.observer("z")))
	must(t, e.Tell(ctx, nil, "1"))
	want(t, "told", tr.take(), "z:1")
}

func TestAListenerHearsWhatItIsAbout(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var tr trace
	s := plugin.NewScope("outer", nil)
	scope := func(parent *plugin.Scope, name string) *plugin.Scope {
		child, err := parent.Child(name)
		must(t, err)
		return child
	}
	parent := scope(s, "parent")
	child, sibling := scope(parent, "child"), scope(s, "sibling")
	e := plugin.NewEmit[string]("changed")
	must(t, e.Listen(s, tr.observer("all")))
	must(t, e.ListenAbout(s, parent, tr.observer("parent")))
	must(t, e.ListenAbout(s, child, tr.observer("child")))
	must(t, e.ListenAbout(s, sibling, tr.observer("sibling")))
	for name, c := range map[string]struct {
		about *plugin.Scope
		want  string
	}{
		"nothing":   {nil, "all:x"},
		"a child":   {child, "all:x parent:x child:x"},
		"a parent":  {parent, "all:x parent:x"},
		"a sibling": {sibling, "all:x sibling:x"},
	} {
		must(t, e.Tell(ctx, c.about, "x"))
		want(t, "about "+name, tr.take(), c.want)
	}
}

func TestCloseWaitsForARunningListener(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := plugin.NewScope("outer", nil)
	e := plugin.NewEmit[string]("changed")
	begun, release := make(chan bool), make(chan bool)
	must(t, e.Listen(s, func(context.Context, string) error {
		close(begun)
		<-release
		return nil
	}))
	told, closed := make(chan error, 1), make(chan error, 1)
	go func() { told <- e.Tell(ctx, nil, "x") }()
	receive(t, begun, "the call")
	go func() { closed <- s.Close(ctx) }()
	receive(t, s.Done(), "Close")
	must(t, e.Tell(ctx, nil, "no new call, which would close begun again"))
	select {
	case <-closed:
		t.Error("Close did not wait")
	default:
	}
	close(release)
	must(t, receive(t, closed, "the end of Close"))
	must(t, receive(t, told, "the end of the dispatch"))
}

func TestCloseWaitsForAListenerNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	s := plugin.NewScope("outer", nil)
	e := plugin.NewEmit[string]("changed")
	begun, release, told := make(chan bool), make(chan bool), make(chan error, 1)
	must(t, e.Listen(s, func(context.Context, string) error {
		close(begun)
		<-release
		return nil
	}))
	go func() { told <- e.Tell(context.Background(), nil, "x") }()
	receive(t, begun, "the call")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	wantErr(t, s.Close(ctx), fault.Aborted, `a listener of event "changed" still runs`)
	close(release)
	must(t, receive(t, told, "the end of the dispatch"))
}

func TestAListenerMayCloseItsOwnScope(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	s := plugin.NewScope("outer", nil)
	e := plugin.NewEmit[string]("changed")
	var err error
	calls := 0
	must(t, e.Listen(s, func(ctx context.Context, v string) error {
		if calls++; v == "again" {
			return e.Tell(ctx, nil, "close")
		}
		err = s.Close(ctx)
		return nil
	}))
	must(t, e.Tell(ctx, nil, "again"))
	must(t, err)
	must(t, e.Tell(ctx, nil, "again"))
	if calls != 2 {
		t.Errorf("%d calls", calls)
	}
}

func TestSerialTakesTheFirstAnswer(t *testing.T) {
	t.Parallel()
	type answer = plugin.Answer[string, int]
	gives := func(n int) answer { return func(context.Context, string) (int, bool, error) { return n, true, nil } }
	none := func(context.Context, string) (int, bool, error) { return 7, false, nil }
	for name, c := range map[string]struct {
		listeners []answer
		want      int
		answered  bool
		code      fault.Code
	}{
		"nobody listens":             {nil, 0, false, ""},
		"nobody answers":             {[]answer{none, none}, 0, false, ""},
		"zero is an answer":          {[]answer{none, none, gives(0), gives(5)}, 0, true, ""},
		"the first wins":             {[]answer{gives(5), gives(6)}, 5, true, ""},
		"an error ends the question": {[]answer{none, func(context.Context, string) (int, bool, error) { return 1, true, fault.JobLimit }, gives(5)}, 0, false, fault.JobLimit},
		"a panic ends the question":  {[]answer{func(context.Context, string) (int, bool, error) { panic("x") }, gives(5)}, 0, false, fault.Invariant},
	} {
		t.Run(name, func(t *testing.T) {
			s := plugin.NewScope("outer", nil)
			e := plugin.NewSerial[string, int]("ask")
			for _, l := range c.listeners {
				must(t, e.Listen(s, l))
			}
			got, answered, err := e.Ask(context.Background(), nil, "q")
			if got != c.want || answered != c.answered || fault.CodeOf(err) != c.code {
				t.Errorf("%d %v %v", got, answered, err)
			}
		})
	}
}

func TestAWaterfallRunsAroundItsLastStep(t *testing.T) {
	t.Parallel()
	type next = plugin.Next[string, string]
	type wrapper = plugin.Wrapper[string, string]
	around := func(name string) wrapper {
		return func(ctx context.Context, v string, next next) (string, bool, error) {
			r, err := next(ctx, v+name)
			return name + "(" + r + ")", true, err
		}
	}
	passes := func(ctx context.Context, v string, next next) (string, bool, error) {
		_, _ = next(ctx, v)
		return "", false, nil
	}
	for name, c := range map[string]struct {
		wrappers []wrapper
		want     string
		code     fault.Code
		text     string
	}{
		"without listeners it is the last step": {nil, "<v>", "", ""},
		"in order, outermost first":             {[]wrapper{around("a"), around("b")}, "a(b(<vab>))", "", ""},
		"an answer without the rest": {[]wrapper{around("a"), func(context.Context, string, next) (string, bool, error) {
			return "", true, nil
		}, around("c")}, "a()", "", ""},
		"no own answer: that of the rest stands": {[]wrapper{passes, around("b")}, "b(<vb>)", "", ""},
		"no own answer: the error of the rest stands": {[]wrapper{passes, func(context.Context, string, next) (string, bool, error) {
			return "", false, fault.JobLimit
		}}, "", fault.JobLimit, ""},
		"neither called nor answered": {[]wrapper{func(context.Context, string, next) (string, bool, error) {
			return "", false, nil
		}}, "", fault.Invariant, "neither called its continuation nor answered"},
		"called twice": {[]wrapper{func(ctx context.Context, v string, next next) (string, bool, error) {
			if _, err := next(ctx, v); err != nil {
				return "", false, err
			}
			r, err := next(ctx, v)
			return r, true, err
		}, around("b")}, "", fault.Invariant, "twice"},
		"a panic": {[]wrapper{around("a"), func(context.Context, string, next) (string, bool, error) {
			panic("x")
		}}, "a()", fault.Invariant, "panicked"},
	} {
		t.Run(name, func(t *testing.T) {
			s := plugin.NewScope("outer", nil)
			e := plugin.NewWaterfall[string, string]("run")
			for _, w := range c.wrappers {
				must(t, e.Listen(s, w))
			}
			got, err := e.Run(context.Background(), nil, "v", func(_ context.Context, v string) (string, error) {
				return "<" + v + ">", nil
			})
			if got != c.want || fault.CodeOf(err) != c.code {
				t.Errorf("%q %v, want %q", got, err, c.want)
			}
			if c.text != "" && !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v does not say %q", err, c.text)
			}
		})
	}
}

func TestAContinuationEndsWithItsListener(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := plugin.NewScope("outer", nil)
	e := plugin.NewWaterfall[string, string]("run")
	var kept plugin.Next[string, string]
	must(t, e.Listen(s, func(_ context.Context, _ string, next plugin.Next[string, string]) (string, bool, error) {
		kept = next
		return "own", true, nil
	}))
	ran := 0
	last := func(context.Context, string) (string, error) { ran++; return "last", nil }
	got, err := e.Run(ctx, nil, "v", last)
	must(t, err)
	want(t, "answer", got, "own")
	_, err = kept(ctx, "v")
	wantErr(t, err, fault.Invariant, "after it had returned")
	if ran != 0 {
		t.Error("the last step ran")
	}
}
