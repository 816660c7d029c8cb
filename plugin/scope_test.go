package plugin_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hardshell/internal/fault"
	"hardshell/plugin"
)

func TestAScopeUndoesInReverseAndOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var tr trace
	s := plugin.NewScope("outer", nil)
	must(t, s.Defer(tr.deferred("first")))
	parent := s
	for _, name := range []string{"a", "b", "c"} { // three nested children
		child, err := parent.Child(name)
		must(t, err)
		must(t, child.Defer(tr.deferred(name+"1")))
		parent = child
		must(t, child.Defer(tr.deferred(name+"2")))
	}
	must(t, s.Defer(tr.deferred("last")))
	select {
	case <-s.Done():
		t.Error("Done before Close")
	default:
	}
	must(t, s.Close(ctx))
	<-s.Done()
	<-parent.Done()
	want(t, "order", tr.take(), "last c2 c1 b2 b1 a2 a1 first")
	must(t, s.Close(ctx))
	must(t, parent.Close(ctx))
	want(t, "the second time", tr.take(), "")
}

func TestAClosedScopeTakesNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var tr trace
	s := plugin.NewScope("outer", nil)
	child, err := s.Child("inner")
	must(t, err)
	refuses := func(when string, s *plugin.Scope) {
		t.Helper()
		_, childErr := s.Child("x")
		for what, err := range map[string]error{
			"Defer":   s.Defer(tr.deferred("kept")),
			"Child":   childErr,
			"Provide": plugin.Provide(s, plugin.NewKey[int](when), 1),
			"Listen":  plugin.NewEmit[int]("e").Listen(s, func(context.Context, int) error { return nil }),
		} {
			if !errors.Is(err, plugin.ErrInactive) || !errors.Is(err, fault.Invariant) {
				t.Errorf("%s %s: %v, want ErrInactive", what, when, err)
			}
		}
	}
	must(t, s.Defer(func(context.Context) error {
		refuses("while it closes", s)
		return nil
	}))
	must(t, s.Defer(func(context.Context) error {
		refuses("in a scope that closes", child)
		return nil
	}))
	must(t, s.Close(ctx))
	refuses("after", s)
	want(t, "kept", tr.take(), "")
}

func TestEveryErrorOfAScopeIsReturned(t *testing.T) {
	t.Parallel()
	var l logged
	s := plugin.NewScope("outer", l.logger())
	child, err := s.Child("inner")
	must(t, err)
	one, two := errors.New("one"), fault.New(fault.SpawnFailed, "two")
	must(t, s.Defer(func(context.Context) error { return one }))
	must(t, child.Defer(func(context.Context) error { return two }))
	must(t, s.Defer(func(context.Context) error { panic("a secret") }))
	var undone bool
	must(t, child.Defer(func(context.Context) error { undone = true; return nil }))
	err = s.Close(context.Background())
	if !errors.Is(err, one) || !undone {
		t.Errorf("error %v, undone %v", err, undone)
	}
	wantErr(t, err, fault.SpawnFailed, `scope "inner": two`, `scope "outer": one`)
	wantErr(t, err, fault.Invariant, "deferred work panicked: a string")
	for _, text := range []string{err.Error(), l.String()} {
		if text == "" {
			t.Error("no text")
		}
		if strings.Contains(text, "a secret") {
			t.Errorf("the value of a panic shows: %s", text)
		}
	}
	if !strings.Contains(l.String(), "scope_test.go") {
		t.Errorf("the log does not say where: %s", l.String())
	}
	if again := s.Close(context.Background()); again.Error() != err.Error() {
		t.Errorf("the second Close returns %v", again)
	}
}

func TestASecondCloseWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := plugin.NewScope("outer", nil)
	begun, release := make(chan bool), make(chan bool)
	must(t, s.Defer(func(context.Context) error {
		close(begun)
		<-release
		return errors.New("late")
	}))
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- s.Close(ctx) }()
	receive(t, begun, "Close")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	wantErr(t, s.Close(ended), fault.Aborted, "still closes")
	go func() { second <- s.Close(ctx) }()
	select {
	case err := <-second:
		t.Fatalf("the second Close did not wait: %v", err)
	default:
	}
	close(release)
	for _, c := range []chan error{first, second} {
		if err := receive(t, c, "the end of Close"); err == nil {
			t.Error("no error")
		}
	}
}

func TestWorkThatACloseWaitsForCannotWaitForIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	s := plugin.NewScope("outer", nil)
	child, err := s.Child("inner")
	must(t, err)
	must(t, child.Defer(func(ctx context.Context) error { return s.Close(ctx) }))
	wantErr(t, s.Close(ctx), fault.Invariant, "its Close waits for the work that calls Close")
	must(t, ctx.Err())
}

func TestAChildThatClosesIsForgotten(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var tr trace
	s := plugin.NewScope("outer", nil)
	child, err := s.Child("inner")
	must(t, err)
	must(t, child.Defer(func(context.Context) error {
		tr.add("child")
		return errors.New("told once")
	}))
	if err := child.Close(ctx); err == nil {
		t.Error("no error")
	}
	must(t, s.Close(ctx))
	want(t, "order", tr.take(), "child")
}

func TestAServiceHasOneProvider(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := plugin.NewScope("outer", nil)
	a, err := s.Child("first row")
	must(t, err)
	b, err := s.Child("second row")
	must(t, err)
	k := plugin.NewKey[int]("answer")
	must(t, plugin.Provide(a, k, 42))
	wantErr(t, plugin.Provide(b, k, 43), fault.InvalidArgument, "answer", "first row", "second row")
	wantErr(t, plugin.Provide(b, plugin.NewKey[string]("answer"), "x"), fault.InvalidArgument, "first row")
	wantErr(t, plugin.Provide(b, plugin.Key[int]{}, 1), fault.Invariant, "NewKey")
	must(t, a.Close(ctx))
	must(t, plugin.Provide(b, k, 43))
	must(t, s.Close(ctx))
}
