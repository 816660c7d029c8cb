package plugin_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"hardshell/internal/fault"
	"hardshell/plugin"
)

var ctx = context.Background()

func TestRowsAreAppliedWhenTheirNeedsAreThere(t *testing.T) {
	t.Parallel()
	var tr trace
	h := newHost(t, tr.part("A", "s", "", "a"), tr.part("P", "", "", "s"), tr.part("B", "a s", "", ""))
	must(t, h.Load(ctx, rows("B A")))
	want(t, "before", states(h), "B:pending A:pending")
	wantErr(t, h.Audit(), fault.InvalidArgument,
		"B: pending (waiting for service: a, s)\nA: pending (waiting for service: s)", `add or enable a row of plugin "P"`)
	must(t, h.Add(ctx, plugin.Row{ID: "P", Plugin: "P", Config: 1}))
	want(t, "trace", tr.take(), "+P() +A(P/1) +B(A,P/1)")
	must(t, h.Audit())
	must(t, h.Unload(ctx, "P"))
	want(t, "users end first", tr.take(), "-B -A -P")
	want(t, "unloaded", states(h), "B:pending A:pending P:disposed")
	must(t, h.Reload(ctx, plugin.Row{ID: "P", Plugin: "P", Config: 2}))
	want(t, "afresh", tr.take(), "+P() +A(P/2) +B(A,P/2)")
	must(t, h.Close(ctx))
	want(t, "the end", tr.take(), "-B -A -P")
	want(t, "closed", states(h), "B:disposed A:disposed P:disposed")
	wantErr(t, h.Add(ctx, plugin.Row{ID: "x", Plugin: "P"}), fault.Invariant)
}

func TestTheOrderOfRowsDoesNotMatterForActivation(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"A B C", "A C B", "B A C", "B C A", "C A B", "C B A"} {
		var tr trace
		h := newHost(t, tr.part("A", "", "", "a"), tr.part("B", "a", "", "b"), tr.part("C", "a", "b", ""))
		must(t, h.Load(ctx, rows(order)))
		want(t, order, tr.take(), "+A() +B(A) +C(A,B)")
	}
}

func TestAFailedApplyIsUndoneAndLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	var tr trace
	k := plugin.NewKey[string]("s")
	bad := plugin.Plugin{Name: "bad", Provides: keys("s"), Apply: func(ctx context.Context, a *plugin.Activation) error {
		must(t, plugin.Provide(a.Scope, k, "half"))
		for _, name := range []string{"1", "2", "3"} {
			must(t, a.Scope.Defer(tr.deferred(name)))
		}
		if a.Config == "panic" {
			panic("a secret")
		}
		return fault.New(fault.ShellNotFound, "no shell")
	}}
	h := newHost(t, bad, tr.part("sibling", "", "", ""), tr.part("user", "s", "", ""))
	wantErr(t, h.Load(ctx, rows("bad user sibling")), fault.ShellNotFound, `row "bad": no shell`)
	want(t, "trace", tr.take(), "3 2 1 +sibling()")
	want(t, "states", states(h), "bad:failed user:pending sibling:active")
	if _, ok := plugin.Service(h, k); ok {
		t.Error("a failed row provides")
	}
	wantErr(t, h.Audit(), fault.ShellNotFound, "bad: failed: no shell", "user: pending (waiting for service: s)")
	err := h.Reload(ctx, plugin.Row{ID: "bad", Plugin: "bad", Config: "panic"})
	wantErr(t, err, fault.Invariant, "the plugin panicked")
	if strings.Contains(err.Error(), "a secret") {
		t.Error("the value of a panic shows")
	}
	want(t, "undone again", tr.take(), "3 2 1")
}

func TestOnlyOneRowProvidesAService(t *testing.T) {
	t.Parallel()
	var tr trace
	h := newHost(t, tr.part("A", "", "", "s"), tr.part("B", "", "", "s"), tr.part("user", "s", "", ""))
	wantErr(t, h.Load(ctx, rows("A B user")), fault.InvalidArgument, `service "s"`, `"A"`, `"B"`)
	want(t, "the first serves", tr.take(), "+A() +user(A)")
	want(t, "states", states(h), "A:active B:failed user:active")
	must(t, h.Unload(ctx, "A"))
	want(t, "the second follows", tr.take(), "-user -A +B() +user(B)")
	wantErr(t, h.Reload(ctx, plugin.Row{ID: "A", Plugin: "A"}), fault.InvalidArgument, `"B" provides it already`)
	want(t, "nothing moved", tr.take(), "")
	want(t, "states", states(h), "A:failed B:active user:active")
	if v, _ := plugin.Service(h, plugin.NewKey[string]("s")); v != "B" {
		t.Errorf("the service is of %q", v)
	}
	must(t, h.Unload(ctx, "A"))
}

func TestReloadLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	var tr trace
	h := newHost(t, tr.part("runtime", "", "", "r"), tr.part("executor", "r", "", "x"), tr.part("jobs", "r", "", "j"), tr.part("tool", "x j", "", ""))
	must(t, h.Load(ctx, rows("runtime executor jobs tool")))
	tr.take()
	must(t, h.Reload(ctx, plugin.Row{ID: "executor", Plugin: "executor", Config: 2}))
	want(t, "trace", tr.take(), "-tool -executor +executor(runtime) +tool(executor/2,jobs)")
	wantErr(t, h.Reload(ctx, plugin.Row{ID: "executor", Plugin: "executor", Config: "fail"}), "", `row "executor": it was told to fail`)
	want(t, "failed", states(h), "runtime:active executor:failed jobs:active tool:pending")
	tr.take()
	must(t, h.Reload(ctx, plugin.Row{ID: "executor", Plugin: "executor", Config: 2}))
	want(t, "back", tr.take(), "+executor(runtime) +tool(executor/2,jobs)")
	must(t, h.Reload(ctx, plugin.Row{ID: "executor", Plugin: "executor", Disabled: true}))
	want(t, "disabled", states(h), "runtime:active executor:disposed jobs:active tool:pending")
	wantErr(t, h.Reload(ctx, plugin.Row{ID: "nobody", Plugin: "tool"}), fault.InvalidArgument, `there is no row "nobody"`)
}

func TestAFailureBelongsToTheServicesItHappenedWith(t *testing.T) {
	t.Parallel()
	var tr trace
	k := plugin.NewKey[string]("s")
	picky := plugin.Plugin{Name: "picky", Needs: keys("s"), Apply: func(_ context.Context, a *plugin.Activation) error {
		if plugin.Get(a, k) != "P/good" {
			return errors.New("not this one")
		}
		return nil
	}}
	h := newHost(t, tr.part("P", "", "", "s"), picky)
	if err := h.Load(ctx, rows("P picky")); err == nil {
		t.Fatal("no error")
	}
	must(t, h.Reload(ctx, plugin.Row{ID: "P", Plugin: "P", Config: "good"}))
	want(t, "states", states(h), "P:active picky:active")
}

func TestAnOptionalServiceIsUsedWhileItIsThere(t *testing.T) {
	t.Parallel()
	var tr trace
	h := newHost(t, tr.part("X", "", "o", "x"), tr.part("U", "x", "", ""), tr.part("O", "", "", "o"))
	must(t, h.Load(ctx, rows("X U")))
	want(t, "without", tr.take(), "+X() +U(X)")
	must(t, h.Add(ctx, plugin.Row{ID: "O", Plugin: "O"}))
	want(t, "it comes", tr.take(), "+O() -U -X +X(O) +U(X)")
	must(t, h.Reload(ctx, plugin.Row{ID: "O", Plugin: "O", Config: 2}))
	want(t, "it is replaced", tr.take(), "-U -X -O +O() +X(O/2) +U(X)")
	must(t, h.Unload(ctx, "O"))
	want(t, "it goes", tr.take(), "-U -X -O +X() +U(X)")
}

func TestOptionalServicesInACircleComeToAnEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parts [][4]string
		want  string
	}{
		"two that may use each other":  {[][4]string{{"A", "", "b", "a"}, {"B", "", "a", "b"}}, "+A() +B(A)"},
		"one needs what may use it":    {[][4]string{{"A", "", "b", "a"}, {"B", "a", "", "b"}}, "+A() +B(A)"},
		"the optional one never comes": {[][4]string{{"A", "", "b", ""}, {"B", "x", "", "b"}}, "+A()"},
		"two crossed pairs": {[][4]string{
			{"R1", "", "p1", "r1"}, {"R2", "", "p2", "r2"}, {"P1", "r2", "", "p1"}, {"P2", "r1", "", "p2"},
		}, "+R1() +P2(R1) +R2(P2) +P1(R2)"},
	} {
		t.Run(name, func(t *testing.T) {
			var tr trace
			var plugins []plugin.Plugin
			var names []string
			for _, p := range c.parts {
				plugins, names = append(plugins, tr.part(p[0], p[1], p[2], p[3])), append(names, p[0])
			}
			h := newHost(t, plugins...)
			must(t, h.Load(ctx, rows(strings.Join(names, " "))))
			want(t, "trace", tr.take(), c.want)
		})
	}
}

func TestACircleOfNeedsIsNamed(t *testing.T) {
	t.Parallel()
	var tr trace
	h := newHost(t, tr.part("A", "b", "", "a"), tr.part("B", "a", "", "b"), tr.part("off", "", "", ""))
	must(t, h.Load(ctx, append(rows("A B"), plugin.Row{ID: "off", Plugin: "off", Disabled: true})))
	want(t, "audit", h.Audit().Error(), "A: pending (waiting for service: b)\nB: pending (waiting for service: a)")
}

func TestRowsThatCannotBe(t *testing.T) {
	t.Parallel()
	var tr trace
	h := newHost(t, tr.part("A", "", "", ""), tr.part("B", "", "", ""))
	wantErr(t, h.Load(ctx, []plugin.Row{{ID: "x", Plugin: "A"}, {ID: "x", Plugin: "B"}}), fault.InvalidArgument, `row id "x"`, `"A"`, `"B"`)
	wantErr(t, h.Load(ctx, []plugin.Row{{Plugin: "A"}}), fault.InvalidArgument, "has no id")
	want(t, "nothing was added", states(h), "")
	wantErr(t, h.Load(ctx, append(rows("ghost"), rows("A")...)), fault.InvalidArgument, `row "ghost": there is no plugin "ghost"`)
	want(t, "the other runs", states(h), "ghost:failed A:active")
	wantErr(t, h.Add(ctx, plugin.Row{ID: "A", Plugin: "B"}), fault.InvalidArgument, `row id "A"`)
	must(t, h.Unload(ctx, "A"))
	must(t, h.Add(ctx, plugin.Row{ID: "A", Plugin: "B"}))
	want(t, "a disposed row is replaced", states(h), "ghost:failed A:active")
}

func TestPluginsThatCannotBe(t *testing.T) {
	t.Parallel()
	apply := func(context.Context, *plugin.Activation) error { return nil }
	s := keys("s")
	for name, c := range map[string]struct {
		plugins []plugin.Plugin
		text    string
	}{
		"without a name":       {[]plugin.Plugin{{Apply: apply}}, "a name"},
		"without an Apply":     {[]plugin.Plugin{{Name: "A"}}, "Apply"},
		"two of one name":      {[]plugin.Plugin{{Name: "A", Apply: apply}, {Name: "A", Apply: apply}}, `"A" stands twice`},
		"one needs itself":     {[]plugin.Plugin{{Name: "A", Apply: apply, Needs: s, Provides: s}}, `declares service "s" twice`},
		"one name, two types":  {[]plugin.Plugin{{Name: "A", Apply: apply, Needs: s}, {Name: "B", Apply: apply, Provides: []plugin.AnyKey{plugin.NewKey[int]("s")}}}, "another type"},
		"a key without a name": {[]plugin.Plugin{{Name: "A", Apply: apply, Needs: []plugin.AnyKey{plugin.Key[int]{}}}}, "NewKey"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plugin.NewHost(c.plugins, nil)
			wantErr(t, err, fault.Invariant, c.text)
		})
	}
}

func TestAPluginHasWhatItDeclares(t *testing.T) {
	t.Parallel()
	k, other := plugin.NewKey[string]("s"), plugin.NewKey[string]("other")
	for name, c := range map[string]struct {
		apply func(context.Context, *plugin.Activation) error
		text  string
	}{
		"Get of another service": {func(_ context.Context, a *plugin.Activation) error {
			plugin.Get(a, other)
			return nil
		}, `does not declare that it needs service "other"`},
		"Get of an optional service": {func(_ context.Context, a *plugin.Activation) error {
			plugin.Get(a, plugin.NewKey[string]("o"))
			return nil
		}, `does not declare that it needs service "o"`},
		"Lookup of another service": {func(_ context.Context, a *plugin.Activation) error {
			plugin.Lookup(a, other)
			return nil
		}, `does not declare that it may use service "other"`},
		"Provide of another service": {func(_ context.Context, a *plugin.Activation) error {
			return plugin.Provide(a.Scope, other, "x")
		}, `does not declare that it provides service "other"`},
		"Provide in a child": {func(_ context.Context, a *plugin.Activation) error {
			child, err := a.Scope.Child("inner")
			must(t, err)
			return plugin.Provide(child, k, "x")
		}, "on the scope of the row"},
		"no Provide": {func(context.Context, *plugin.Activation) error { return nil }, `did not provide service "s"`},
		"Close of the row": {func(ctx context.Context, a *plugin.Activation) error {
			return a.Scope.Close(ctx)
		}, "closed by its host"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, plugin.Plugin{Name: "A", Optional: keys("o"), Provides: keys("s"), Apply: c.apply})
			wantErr(t, h.Load(ctx, rows("A")), fault.Invariant, c.text)
			want(t, "state", states(h), "A:failed")
		})
	}
}

func TestAServiceMayBeANilInterface(t *testing.T) {
	t.Parallel()
	k := plugin.NewKey[error]("s")
	h := newHost(t, plugin.Plugin{Name: "A", Provides: []plugin.AnyKey{k}, Apply: func(_ context.Context, a *plugin.Activation) error {
		return plugin.Provide(a.Scope, k, nil)
	}})
	must(t, h.Load(ctx, rows("A")))
	if v, ok := plugin.Service(h, k); v != nil || !ok {
		t.Errorf("%v %v", v, ok)
	}
	if _, ok := plugin.Service(h, plugin.NewKey[string]("s")); ok {
		t.Error("a service was found by a key of another type")
	}
}

func TestTheWorkOfARowCannotChangeTheComposition(t *testing.T) {
	t.Parallel()
	bounded, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	var h *plugin.Host
	var late context.Context
	tried := map[string]error{}
	e := plugin.NewEmit[string]("changed")
	h = newHost(t, plugin.Plugin{Name: "A", Apply: func(ctx context.Context, a *plugin.Activation) error {
		late = ctx
		tried["Apply"] = h.Unload(ctx, "A")
		tried["Close in Apply"] = h.Close(ctx)
		want(t, "Status in Apply", states(h), "A:loading")
		must(t, e.Listen(a.Scope, func(ctx context.Context, _ string) error {
			tried["listener"] = h.Unload(ctx, "A")
			return nil
		}))
		return a.Scope.Defer(func(ctx context.Context) error {
			tried["deferred work"] = h.Add(ctx, plugin.Row{ID: "B", Plugin: "A"})
			want(t, "Status in deferred work", states(h), "A:unloading")
			return nil
		})
	}})
	must(t, h.Load(bounded, rows("A")))
	must(t, e.Tell(bounded, nil, "x"))
	must(t, h.Unload(bounded, "A"))
	for _, where := range []string{"Apply", "Close in Apply", "listener", "deferred work"} {
		wantErr(t, tried[where], fault.Invariant, "cannot change the composition")
	}
	must(t, h.Unload(late, "A")) // the Apply is over: its context is as good as another
}

func TestListenersOfRowsAreCalledInTheOrderOfRows(t *testing.T) {
	t.Parallel()
	var tr trace
	e := plugin.NewEmit[string]("changed")
	listens := func(name, needs, provides string) plugin.Plugin {
		p := tr.part(name, needs, "", provides)
		apply := p.Apply
		p.Apply = func(ctx context.Context, a *plugin.Activation) error {
			must(t, apply(ctx, a))
			child, err := a.Scope.Child("inner")
			must(t, err)
			return e.Listen(child, tr.observer(a.Row))
		}
		return p
	}
	h := newHost(t, listens("A", "b", ""), listens("B", "", "b"), listens("C", "", ""))
	must(t, h.Load(ctx, rows("A B C")))
	outside := plugin.NewScope("outside", nil)
	must(t, e.Listen(outside, tr.observer("outside")))
	tr.take()
	must(t, e.Tell(ctx, nil, "1"))
	want(t, "first", tr.take(), "outside:1 A:1 B:1 C:1")
	must(t, h.Reload(ctx, plugin.Row{ID: "B", Plugin: "B"}))
	tr.take()
	must(t, e.Tell(ctx, nil, "2"))
	want(t, "after a reload", tr.take(), "outside:2 A:2 B:2 C:2")
	must(t, h.Unload(ctx, "B"))
	tr.take()
	must(t, e.Tell(ctx, nil, "3"))
	want(t, "after an unload", tr.take(), "outside:3 C:3")
}

func TestAnEndedContextStopsBetweenRows(t *testing.T) {
	t.Parallel()
	var tr trace
	ended, cancel := context.WithCancel(ctx)
	defer cancel()
	stops := plugin.Plugin{Name: "stops", Apply: func(context.Context, *plugin.Activation) error {
		cancel()
		return nil
	}}
	h := newHost(t, stops, tr.part("A", "", "", ""))
	wantErr(t, h.Load(ended, rows("stops A")), fault.Aborted, `row "A" was not applied`)
	wantErr(t, h.Audit(), fault.InvalidArgument, "A: pending (not applied yet)")
	wantErr(t, h.Add(ended, plugin.Row{ID: "B", Plugin: "A"}), fault.Aborted, "was not changed")
	want(t, "so far", tr.take(), "")
	must(t, h.Unload(ctx, "stops"))
	want(t, "the next change goes on", tr.take(), "+A()")
}

func TestAnApplyThatIsCancelledIsUndoneInFull(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(ctx)
	defer cancel()
	undone := errors.New("not called")
	h := newHost(t, plugin.Plugin{Name: "A", Apply: func(ctx context.Context, a *plugin.Activation) error {
		must(t, a.Scope.Defer(func(ctx context.Context) error {
			undone = ctx.Err()
			return nil
		}))
		cancel()
		return ctx.Err()
	}})
	if err := h.Load(ended, rows("A")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	must(t, undone)
}

func TestEndsThatFailAreReported(t *testing.T) {
	t.Parallel()
	h, err := plugin.NewHost([]plugin.Plugin{{Name: "A", Apply: func(_ context.Context, a *plugin.Activation) error {
		return a.Scope.Defer(func(context.Context) error { return fault.New(fault.LockTimeout, "it is stuck") })
	}}}, nil)
	must(t, err)
	must(t, h.Load(ctx, rows("A")))
	wantErr(t, h.Reload(ctx, plugin.Row{ID: "A", Plugin: "A"}), fault.LockTimeout, `row "A" did not end well`, "it is stuck")
	want(t, "state", states(h), "A:active")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for range 2 {
		wantErr(t, h.Close(ended), fault.LockTimeout, "it is stuck")
	}
}

func TestAHostCanBeUsedFromManySides(t *testing.T) {
	t.Parallel()
	var tr trace
	h := newHost(t, tr.part("P", "", "", "s"), tr.part("U", "s", "o", ""), tr.part("O", "", "", "o"))
	must(t, h.Load(ctx, rows("U P O")))
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 20 {
				_ = h.Reload(ctx, plugin.Row{ID: "P", Plugin: "P", Config: n})
				if i%2 == 0 {
					_ = h.Unload(ctx, "O")
				} else {
					_ = h.Reload(ctx, plugin.Row{ID: "O", Plugin: "O"})
				}
				_ = h.Status()
				_ = h.Audit()
				plugin.Service(h, plugin.NewKey[string]("s"))
			}
		})
	}
	all.Wait()
	must(t, h.Reload(ctx, plugin.Row{ID: "O", Plugin: "O"}))
	want(t, "states", states(h), "U:active P:active O:active")
}
