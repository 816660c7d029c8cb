package settingstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"hardshell/internal/fault"
	"hardshell/settings"
)

var writeTests = []conformance{
	{"a write is checked, stored, seen and told of, in this order", func(b *bench) {
		var mu sync.Mutex
		var log []string
		say := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, what)
		}
		service := b.open(&spy{Provider: b.Provider, say: say})
		scope := register(b, service, "look", settings.RegisterOptions[look]{Validate: func(look) error { say("check"); return nil }})
		service.OnDocumentUpdated(func(context.Context, settings.DocumentUpdated) error {
			say(fmt.Sprintf("document %d", scope.Get().Size))
			return nil
		})
		service.OnUpdated(func(context.Context, settings.Updated) error {
			say(fmt.Sprintf("value %d", scope.Get().Size))
			return nil
		})
		log = nil
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		if got, want := strings.Join(log, ", "), "check, commit, document 20, value 20"; got != want {
			b.Errorf("the order is %s", got)
		}
	}},
	{"a write is refused before anything is stored", func(b *bench) {
		service := b.service()
		scope := register(b, service, "look", settings.RegisterOptions[look]{Validate: func(v look) error {
			if v.Limits.Soft > v.Limits.Hard {
				return errors.New("soft must not be above hard")
			}
			return nil
		}})
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		before := b.stamp()
		for name, patch := range map[string]map[string]any{
			"by the schema": {"size": 41}, "by its type": {"size": canary}, "by the owner": {"limits": map[string]any{"soft": 3}},
		} {
			err := scope.Update(b.Context(), patch)
			refused(b, err, fault.SettingsInvalid)
			if err != nil && strings.Contains(err.Error(), canary) {
				b.Errorf("%s: the error has the value", name)
			}
		}
		if b.stamp() != before || scope.Get().Size != 20 {
			b.Error("something was written")
		}
		must(b, scope.Update(b.Context(), map[string]any{"size": 21}))
	}},
	{"what changes nothing writes nothing", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		events := 0
		service.OnDocumentUpdated(func(context.Context, settings.DocumentUpdated) error { events++; return nil })
		nothing := func(what string, write func() error) {
			b.Helper()
			before, was := b.stamp(), described(b, service, "look").Revision
			must(b, write())
			if b.stamp() != before || described(b, service, "look").Revision != was {
				b.Errorf("%s wrote", what)
			}
		}
		nothing("an empty update of an absent section", func() error { return scope.Update(b.Context(), map[string]any{}) })
		nothing("a reset of an absent section", func() error { return scope.Replace(b.Context(), map[string]any{}) })
		nothing("unsetting what is not there", func() error {
			return service.Mutate(b.Context(), "look", []settings.Op{settings.Unset("limits", "hard", "x"), settings.Unset()}, settings.Expect{})
		})
		must(b, scope.Update(b.Context(), map[string]any{"size": 20, "limits": map[string]any{"hard": 3}}))
		events = 0
		nothing("an empty update", func() error { return scope.Update(b.Context(), map[string]any{}) })
		nothing("the same values, numbers in other words", func() error {
			return scope.Replace(b.Context(), map[string]any{"limits": map[string]any{"hard": json.Number("3.0")}, "size": json.Number("2e1")})
		})
		nothing("no edits", func() error { return service.Mutate(b.Context(), "look", nil, settings.Expect{}) })
		if events != 0 {
			b.Errorf("%d events", events)
		}
	}},
	{"concurrent writes of one section all land", func(b *bench) {
		service := b.service()
		scope := register(b, service, "free", settings.RegisterOptions[map[string]any]{Schema: free(b)})
		const writers = 40
		failures := make(chan error, writers)
		for i := range writers {
			go func() { failures <- scope.Update(context.Background(), map[string]any{fmt.Sprint("k", i): i}) }()
		}
		for range writers {
			if err := <-failures; err != nil {
				b.Error(err)
			}
		}
		if got := scope.Get(); len(got) != writers {
			b.Errorf("%d of %d are there", len(got), writers)
		}
		if stored, _ := b.stored("free").(map[string]any); len(stored) != writers {
			b.Errorf("%d of %d are stored", len(stored), writers)
		}
	}},
	{"what the caller changes after the call is not stored", func(b *bench) {
		gate := &spy{Provider: b.Provider, gate: make(chan struct{}), reached: make(chan struct{}, 1)}
		service := b.open(gate)
		scope := looks(b, service, "look")
		patch := map[string]any{"tags": []any{"then"}}
		done := make(chan error, 1)
		go func() { done <- scope.Update(context.Background(), patch) }()
		b.wait(gate.reached, "the write never came")
		patch["tags"].([]any)[0] = "now"
		close(gate.gate)
		must(b, <-done)
		b.wantStored("look", `{"tags":["then"]}`)
	}},
	{"an owner that left while its write was stored is told nothing, its successor everything", func(b *bench) {
		gate := &spy{Provider: b.Provider, gate: make(chan struct{}), reached: make(chan struct{}, 1), late: true}
		service := b.open(gate)
		scope := looks(b, service, "look")
		scope.Watch(func(context.Context, look, look) error { b.Error("the old watcher was called"); return nil })
		done := make(chan error, 1)
		go func() { done <- scope.Update(context.Background(), map[string]any{"size": 20}) }()
		b.wait(gate.reached, "the write never came")
		must(b, scope.Close(b.Context()))
		next := looks(b, service, "look")
		close(gate.gate)
		must(b, <-done)
		if next.Get().Size != 20 {
			b.Errorf("the successor sees %d", next.Get().Size)
		}
		b.wantStored("look", `{"size":20}`)
	}},
	{"an ended context writes nothing", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		if err := scope.Update(ctx, map[string]any{"size": 20}); !errors.Is(err, context.Canceled) {
			b.Errorf("the error is %v", err)
		}
		b.wantStored("look", "null")
	}},
	{"a write keeps what another process stored in the same section", func(b *bench) {
		other := b.open(b.reopen())
		service := b.service()
		theirs, ours := looks(b, other, "look"), looks(b, service, "look")
		must(b, theirs.Update(b.Context(), map[string]any{"theme": "light"}))
		must(b, ours.Update(b.Context(), map[string]any{"size": 20}))
		b.wantStored("look", `{"theme":"light","size":20}`)
		if got := ours.Get(); got.Theme != "light" || got.Size != 20 {
			b.Errorf("the value is %+v", got)
		}
	}},
}

var dataTests = []conformance{
	{"what is no JSON data is refused with its place", func(b *bench) {
		service := b.service()
		scope := register(b, service, "free", settings.RegisterOptions[map[string]any]{Schema: free(b)})
		circle := map[string]any{}
		circle["self"] = circle
		deep := any("x")
		for range 300 {
			deep = []any{deep}
		}
		before := b.stamp()
		for place, value := range map[string]any{
			"$.value": math.NaN(), "$.value[1]": []any{1, math.Inf(1)}, "$.value.at": map[string]any{"at": make(chan int)},
			`$.value["a b"]`: map[string]any{"a b": func() {}}, "$.value.self": map[string]any{"self": circle},
			"$.value[0]": []any{"\xff"}, "$.value ": map[int]string{1: "x"}, "$.value  ": deep, "$.value   ": complex(1, 2),
		} {
			err := scope.Update(b.Context(), map[string]any{"value": value})
			refused(b, err, fault.SettingsInvalid)
			if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(place)) {
				b.Errorf("%s is not in %v", place, err)
			}
		}
		for _, patch := range []any{nil, 3, "x", []any{}, []string{"a"}} {
			refused(b, scope.Update(b.Context(), patch), fault.InvalidArgument)
			refused(b, scope.Replace(b.Context(), patch), fault.InvalidArgument)
		}
		if b.stamp() != before {
			b.Error("something was written")
		}
	}},
	{"numbers are exact, and typed for their owner", func(b *bench) {
		service := b.service()
		scope := register(b, service, "free", settings.RegisterOptions[map[string]any]{Schema: free(b)})
		must(b, scope.Update(b.Context(), map[string]any{
			"odd": int64(9007199254740993), "large": uint64(math.MaxUint64), "long": json.Number("123456789012345678901234567890"), "zero": json.Number("-0"),
		}))
		const want = `{"odd":9007199254740993,"large":18446744073709551615,"long":123456789012345678901234567890,"zero":0}`
		b.wantStored("free", want)
		wantValue(b, service, "free", want)
		typed := register(b, service, "look", settings.RegisterOptions[look]{})
		must(b, typed.Update(b.Context(), map[string]any{"limits": map[string]any{"hard": json.Number("9007199254740993.0")}}))
		if got := typed.Get().Limits.Hard; got != 9007199254740993 {
			b.Errorf("the owner gets %d", got)
		}
		refused(b, typed.Update(b.Context(), map[string]any{"limits": map[string]any{"hard": json.Number("1e30")}}), fault.SettingsInvalid)
	}},
	{"structs and typed maps are written by their JSON names", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		must(b, scope.Update(b.Context(), struct {
			Size int               `json:"size"`
			Tags []string          `json:"tags"`
			R    map[string]string `json:"extra"`
		}{20, []string{"a"}, map[string]string{"k": "v"}}))
		b.wantStored("look", `{"size":20,"tags":["a"],"extra":{"k":"v"}}`)
	}},
}

var editTests = []conformance{
	{"edits are applied in order, each to what the one before has left", func(b *bench) {
		service := b.service()
		register(b, service, "free", settings.RegisterOptions[map[string]any]{Schema: free(b)})
		for _, step := range []struct {
			ops  []settings.Op
			want string
		}{
			{[]settings.Op{settings.Set(1, "a", "b", "c")}, `{"a":{"b":{"c":1}}}`},
			{[]settings.Op{settings.Set("x", "a", "d"), settings.Unset("a", "b")}, `{"a":{"d":"x"}}`},
			{[]settings.Op{settings.Unset("no", "such", "key"), settings.Set(nil, "n")}, `{"a":{"d":"x"},"n":null}`},
			{[]settings.Op{settings.Set(2, "n", "m")}, `{"a":{"d":"x"},"n":{"m":2}}`},
			{[]settings.Op{settings.Set(map[string]any{"r": 1}), settings.Set(2, "s")}, `{"r":1,"s":2}`},
			{[]settings.Op{settings.Set(3, "q"), settings.Unset()}, `{}`},
		} {
			must(b, service.Mutate(b.Context(), "free", step.ops, settings.Expect{}))
			wantValue(b, service, "free", step.want)
		}
	}},
	{"no path leads through a list or a scalar", func(b *bench) {
		service := b.service()
		scope := register(b, service, "free", settings.RegisterOptions[map[string]any]{Schema: free(b)})
		must(b, scope.Update(b.Context(), map[string]any{"list": []any{1, 2}, "word": "w", "map": map[string]any{"list": []any{1}}}))
		before := b.stamp()
		for place, op := range map[string]settings.Op{
			"$.list ": settings.Set(3, "list", "0"), "$.list": settings.Unset("list", "0"), "$.word": settings.Set(3, "word", "x", "y"),
			"$.word ": settings.Unset("word", "x"), "$.map.list": settings.Set(3, "map", "list", "0"),
		} {
			err := service.Mutate(b.Context(), "free", []settings.Op{settings.Set(1, "first"), op}, settings.Expect{})
			refused(b, err, fault.PathNotContainer)
			if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(place)+" ") {
				b.Errorf("%s is not in %v", place, err)
			}
		}
		if b.stamp() != before {
			b.Error("something was written")
		}
	}},
	{"malformed edits are refused", func(b *bench) {
		service := b.service()
		looks(b, service, "look")
		for name, ops := range map[string][]settings.Op{
			"no verb": {{Path: []string{"size"}}}, "another verb": {{Op: "move", Path: []string{"size"}}},
			"no path": {{Op: "unset"}}, "no value": {{Op: "set", Path: []string{"size"}}},
			"a list as the section": {settings.Set([]any{})}, "a null as the section": {settings.Set(nil)},
			"a key that is no text": {settings.Unset("\xff")},
		} {
			if err := service.Mutate(b.Context(), "look", ops, settings.Expect{}); !errors.Is(err, fault.InvalidArgument) {
				b.Errorf("%s: %v", name, err)
			}
		}
		err := service.Mutate(b.Context(), "look", []settings.Op{settings.Set([]any{math.NaN()}, "tags")}, settings.Expect{})
		refused(b, err, fault.SettingsInvalid)
		if err == nil || !strings.Contains(err.Error(), "$.ops[0].value[0]") {
			b.Errorf("the place is not in %v", err)
		}
	}},
	{"of edits one of which is refused none is made", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		err := service.Mutate(b.Context(), "look", []settings.Op{settings.Set("light", "theme"), settings.Set(100, "size")}, settings.Expect{})
		refused(b, err, fault.SettingsInvalid)
		b.wantStored("look", `{"size":20}`)
	}},
	{"any string is a key, also after a restart", func(b *bench) {
		service := b.open(b.reopen())
		register(b, service, "free", settings.RegisterOptions[map[string]any]{Schema: free(b)})
		odd := []string{
			"", "a.b", "c/d", "~", "k: v # x", "1", "true", "null", "<<", "__proto__", "constructor", "toString", "- x", "é\u2028", "\t\n", `"q'`, "{a}", "*a", "&a", "!t", "%Y", "@", "0x1f", "2024-01-02",
		}
		for i, key := range odd {
			must(b, service.Mutate(b.Context(), "free", []settings.Op{settings.Set(i, key), settings.Set(key, "in", key)}, settings.Expect{}))
		}
		check := func(service *settings.Service, gone int) {
			b.Helper()
			value, _ := service.Get("free")
			in, _ := value.(map[string]any)["in"].(map[string]any)
			for i, key := range odd {
				got, there := value.(map[string]any)[key]
				if there != (i >= gone) || there && got != json.Number(fmt.Sprint(i)) {
					b.Errorf("%q is %v", key, got)
				}
				if _, there := in[key]; there != (i >= gone) {
					b.Errorf("%q is in the inner map: %v", key, there)
				}
			}
		}
		check(service, 0)
		b.close(service)
		again := b.service()
		register(b, again, "free", settings.RegisterOptions[map[string]any]{Schema: free(b)})
		check(again, 0)
		for i, key := range odd {
			must(b, again.Mutate(b.Context(), "free", []settings.Op{settings.Unset(key), settings.Unset("in", key)}, settings.Expect{}))
			check(again, i+1)
		}
	}},
	{"an edit of what one sees keeps the secrets that one does not", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		must(b, scope.Update(b.Context(), map[string]any{"apiKey": canary, "theme": "light", "size": 20}))
		must(b, service.Mutate(b.Context(), "look", []settings.Op{settings.Unset("theme")}, settings.Expect{}))
		b.wantStored("look", `{"apiKey":"`+canary+`","size":20}`)
	}},
}

// spy is a provider that says when it calls back, and can be held up.
type spy struct {
	settings.Provider
	say     func(string)
	gate    chan struct{} // when set, a change waits for it to close
	reached chan struct{} // receives when a change has come to the gate
	late    bool          // the gate is behind derive, not before it
}

func (s *spy) Change(ctx context.Context, ns settings.Namespace, derive func(settings.Section) (map[string]any, error), commit func(settings.Section)) error {
	return s.Provider.Change(ctx, ns, func(now settings.Section) (map[string]any, error) {
		if !s.late {
			s.hold()
		}
		next, err := derive(now)
		if s.late {
			s.hold()
		}
		return next, err
	}, func(stored settings.Section) {
		if s.say != nil {
			s.say("commit")
		}
		commit(stored)
	})
}

func (s *spy) hold() {
	if s.gate != nil {
		s.reached <- struct{}{}
		<-s.gate
	}
}
