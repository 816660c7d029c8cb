package settingstest

import (
	"context"
	"errors"
	"slices"

	"hardshell/internal/fault"
	"hardshell/settings"
)

var registrationTests = []conformance{
	{"a null section counts as absent, and is named", nullSection},
	{"a namespace has one owner at a time", func(b *bench) {
		service := b.service()
		first := looks(b, service, "look")
		_, err := settings.Register(service, "look", settings.RegisterOptions[look]{})
		refused(b, err, fault.InvalidArgument)
		must(b, first.Update(b.Context(), map[string]any{"size": 20}))
		if first.Get().Size != 20 {
			b.Error("the first owner lost it")
		}
	}},
	{"illegal names are refused by every method", func(b *bench) {
		service := b.service()
		for _, ns := range []settings.Namespace{"", "UI", "9lives", "a_b", "-lead", "a\n"} {
			_, err := settings.Register(service, ns, settings.RegisterOptions[look]{})
			refused(b, err, fault.InvalidArgument)
			refused(b, service.Update(b.Context(), ns, map[string]any{}, settings.Expect{}), fault.SettingsUnknown)
			if _, ok := service.Get(ns); ok {
				b.Errorf("%q is there", ns)
			}
		}
	}},
	{"a closed scope frees its namespace and keeps its last value", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		must(b, scope.Close(b.Context()))
		if _, ok := service.Get("look"); ok || len(service.Describe()) != 0 {
			b.Error("it is still there")
		}
		if scope.Get().Size != 20 {
			b.Error("the last value is gone")
		}
		refused(b, scope.Update(b.Context(), map[string]any{"size": 21}), fault.SettingsUnknown)
		if next := looks(b, service, "look"); next.Get().Size != 20 {
			b.Errorf("the next owner sees %d", next.Get().Size)
		}
		refused(b, scope.Update(b.Context(), map[string]any{"size": 22}), fault.SettingsUnknown)
	}},
	{"a section that changed without an owner is what the next owner gets", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		must(b, scope.Close(b.Context()))
		witness := looks(b, service, "witness")
		b.external(service, "witness", map[string]any{"look": map[string]any{"size": 30}, "witness": map[string]any{"size": 9}})
		if next := looks(b, service, "look"); next.Get().Size != 30 || witness.Get().Size != 9 {
			b.Errorf("it gets %d", next.Get().Size)
		}
	}},
	{"a stored section that does not resolve fails the registration and nothing else", func(b *bench) {
		if b.External == nil {
			b.Skip("the document cannot be edited from outside")
		}
		b.External(b.T, map[string]any{
			"kind": map[string]any{"size": "big"}, "range": map[string]any{"size": 1}, "scalar": 3, "list": []any{1}, "fine": map[string]any{"size": 9}, "null": nil,
		})
		service := b.service()
		for _, ns := range []settings.Namespace{"kind", "range", "scalar", "list"} {
			_, err := settings.Register(service, ns, settings.RegisterOptions[look]{})
			refused(b, err, fault.SettingsInvalid)
			if _, ok := service.Get(ns); ok {
				b.Errorf("%s is registered", ns)
			}
		}
		_, err := settings.Register(service, "fine", settings.RegisterOptions[look]{Validate: func(look) error { return errors.New("no") }})
		refused(b, err, fault.SettingsInvalid)
		if looks(b, service, "fine").Get().Size != 9 || looks(b, service, "null").Get().Size != 14 {
			b.Error("the others do not work")
		}
	}},
	{"a base that does not resolve fails the registration", func(b *bench) {
		service := b.service()
		for _, base := range []any{map[string]any{"size": 1}, []any{1}, map[string]any{"extra": func() {}}} {
			if _, err := settings.Register(service, "look", settings.RegisterOptions[look]{Base: base}); err == nil {
				b.Errorf("base %T is accepted", base)
			}
		}
		looks(b, service, "look")
	}},
}

var layerTests = []conformance{
	{"the user's section is over the base is over the defaults", func(b *bench) {
		service := b.service()
		base := map[string]any{"size": 16, "tags": []any{"base"}, "limits": map[string]any{"hard": 7}}
		scope := register(b, service, "look", settings.RegisterOptions[look]{Base: base})
		base["size"] = 39
		base["limits"].(map[string]any)["hard"] = 99
		must(b, scope.Update(b.Context(), map[string]any{"theme": "light", "tags": []any{}, "limits": map[string]any{"soft": 5}}))
		got := scope.Get()
		if got.Theme != "light" || got.Size != 16 || len(got.Tags) != 0 || got.Limits != (limits{Soft: 5, Hard: 7}) {
			b.Errorf("the value is %+v", got)
		}
		b.wantStored("look", `{"theme":"light","tags":[],"limits":{"soft":5}}`)
		must(b, scope.Replace(b.Context(), map[string]any{}))
		if got := scope.Get(); got.Theme != "dark" || !slices.Equal(got.Tags, []string{"base"}) {
			b.Errorf("after the reset it is %+v", got)
		}
	}},
	{"a null in the document counts as absent and is reported", func(b *bench) {
		if b.External == nil {
			b.Skip("the document cannot be edited from outside")
		}
		b.External(b.T, map[string]any{"look": map[string]any{"size": nil, "theme": "light"}})
		service := b.service()
		scope := register(b, service, "look", settings.RegisterOptions[look]{Base: map[string]any{"size": 16}})
		if got := scope.Get(); got.Size != 16 || got.Theme != "light" {
			b.Errorf("the value is %+v", got)
		}
		if d := described(b, service, "look"); len(d.Ignored) != 1 || d.Ignored[0].Path != "$.size" {
			b.Errorf("reported: %v", d.Ignored)
		}
		// It does not stand in the way of other writes, but cannot be written.
		must(b, scope.Update(b.Context(), map[string]any{"theme": "dark"}))
		refused(b, scope.Update(b.Context(), map[string]any{"size": nil}), fault.SettingsInvalid)
		refused(b, scope.Update(b.Context(), map[string]any{"limits": map[string]any{"hard": nil}}), fault.SettingsInvalid)
		b.wantStored("look", `{"size":null,"theme":"dark"}`)
	}},
	{"an undeclared key stays in the document and is named", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		must(b, scope.Update(b.Context(), map[string]any{"typo": canary, "size": 10}))
		wantValue(b, service, "look", `{"theme":"dark","size":10,"limits":{"soft":1,"hard":2}}`)
		if d := described(b, service, "look"); !slices.Equal(d.Unknown, []string{"$.typo"}) {
			b.Errorf("unknown: %q", d.Unknown)
		}
		b.wantStored("look", `{"typo":"`+canary+`","size":10}`)
	}},
	{"an entry of the base cannot be taken away, only hidden by a value", func(b *bench) {
		service := b.service()
		scope := register(b, service, "look", settings.RegisterOptions[look]{Base: map[string]any{"routes": map[string]any{"a": map[string]any{"url": "base"}}}})
		must(b, service.Mutate(b.Context(), "look", []settings.Op{settings.Unset("routes", "a")}, settings.Expect{}))
		if scope.Get().Routes["a"].URL != "base" {
			b.Error("it is gone")
		}
		must(b, scope.Update(b.Context(), map[string]any{"routes": map[string]any{"a": map[string]any{"url": "user"}}}))
		if scope.Get().Routes["a"].URL != "user" {
			b.Error("it is not hidden")
		}
	}},
}

var ownerTests = []conformance{
	{"what a reader does to a value is seen by nobody", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		must(b, scope.Update(b.Context(), map[string]any{"tags": []any{"a"}, "extra": map[string]any{"k": []any{"v"}}, "routes": map[string]any{"r": map[string]any{}}}))
		mine := scope.Get()
		mine.Tags[0] = "mine"
		mine.Extra["k"].([]any)[0] = "mine"
		mine.Routes["r"] = rt{URL: "mine"}
		raw, _ := service.Get("look")
		raw.(map[string]any)["tags"].([]any)[0] = "mine"
		described(b, service, "look").User.(map[string]any)["tags"] = "mine"
		got := scope.Get()
		if got.Tags[0] != "a" || got.Extra["k"].([]any)[0] != "v" || got.Routes["r"].URL != "x" {
			b.Errorf("the value is %+v", got)
		}
		if d := described(b, service, "look"); d.User.(map[string]any)["tags"] == "mine" {
			b.Error("the descriptor shares its layers")
		}
	}},
	{"a watcher gets each change, one at a time and in order", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		const changes = 20
		steps := make(chan [2]int, changes)
		release := make(chan struct{})
		busy := make(chan struct{}, 1)
		scope.Watch(func(_ context.Context, next, prev look) error {
			select {
			case busy <- struct{}{}:
			default:
				b.Error("two calls at a time")
			}
			<-release
			<-busy
			steps <- [2]int{prev.Size, next.Size}
			return nil
		})
		for size := 15; size < 15+changes; size++ {
			must(b, scope.Update(b.Context(), map[string]any{"size": size}))
		}
		close(release)
		for size := 15; size < 15+changes; size++ {
			if step := <-steps; step != [2]int{size - 1, size} {
				b.Errorf("the step to %d is %v", size, step)
			}
		}
	}},
	{"a failing watcher hinders nobody", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		calls := make(chan struct{}, 10)
		scope.Watch(func(context.Context, look, look) error { panic(canary) })
		scope.Watch(func(context.Context, look, look) error { return errors.New(canary) })
		scope.Watch(func(context.Context, look, look) error { calls <- struct{}{}; return nil })
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		must(b, scope.Update(b.Context(), map[string]any{"size": 21}))
		b.wait(calls, "the healthy watcher was not called")
		b.wait(calls, "the healthy watcher was not called again")
	}},
	{"a watcher that was stopped is called no more", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		entered, release := make(chan struct{}, 10), make(chan struct{})
		stop := scope.Watch(func(context.Context, look, look) error {
			entered <- struct{}{}
			<-release
			return nil
		})
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		b.wait(entered, "it was never called")
		must(b, scope.Update(b.Context(), map[string]any{"size": 21}))
		stop()
		close(release)
		must(b, scope.Close(b.Context()))
		if len(entered) != 0 {
			b.Error("it was called after stop")
		}
	}},
	{"a watcher may write", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		done := make(chan struct{})
		scope.Watch(func(ctx context.Context, next, _ look) error {
			if next.Size == 20 {
				err := scope.Update(ctx, map[string]any{"size": 21})
				close(done)
				return err
			}
			return nil
		})
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		b.wait(done, "its write never ended")
		if scope.Get().Size != 21 {
			b.Errorf("the size is %d", scope.Get().Size)
		}
	}},
	{"closing a scope waits for the calls that have started", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		entered, release, returned := make(chan struct{}), make(chan struct{}), make(chan struct{})
		scope.Watch(func(context.Context, look, look) error {
			close(entered)
			<-release
			close(returned)
			return nil
		})
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		b.wait(entered, "it was never called")
		ended, cancel := context.WithCancel(b.Context())
		cancel()
		if err := scope.Close(ended); !errors.Is(err, context.Canceled) {
			b.Errorf("with an ended context: %v", err)
		}
		close(release)
		must(b, scope.Close(b.Context()))
		select {
		case <-returned:
		default:
			b.Error("it did not wait")
		}
	}},
	{"closing from within a call does not wait for itself", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		done := make(chan error, 2)
		scope.Watch(func(ctx context.Context, _, _ look) error {
			done <- scope.Close(ctx)
			done <- service.Close(ctx)
			return nil
		})
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		must(b, <-done)
		must(b, <-done)
		b.close(service)
	}},
	{"a service closes when a call that waits for its context is running", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		entered := make(chan struct{})
		scope.Watch(func(ctx context.Context, _, _ look) error {
			close(entered)
			<-ctx.Done()
			return nil
		})
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		b.wait(entered, "it was never called")
		b.close(service)
		refused(b, scope.Update(b.Context(), map[string]any{"size": 21}), fault.Aborted)
		if _, err := settings.Register(service, "late", settings.RegisterOptions[look]{}); !errors.Is(err, settings.ErrClosed) {
			b.Errorf("registering late: %v", err)
		}
	}},
}

// nullSection: a section that is null is absent, and somebody says so.
func nullSection(b *bench) {
	if b.External == nil || b.Reopen == nil {
		b.Skip("the document cannot be edited from outside")
	}
	b.External(b.T, map[string]any{"look": nil})
	service := b.open(b.Reopen(b.T))
	scope := register(b, service, "look", settings.RegisterOptions[look]{})
	if scope.Get().Size != register(b, service, "other", settings.RegisterOptions[look]{}).Get().Size {
		b.Errorf("a null section gives %+v", scope.Get())
	}
	if d := service.Describe()[0]; len(d.Ignored) != 1 || d.Ignored[0].Path != "$" || len(d.Problems) != 0 {
		b.Errorf("nobody says that the section is null: %+v", d)
	}
}
