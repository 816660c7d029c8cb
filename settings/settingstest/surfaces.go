package settingstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/settings"
	"hardshell/settings/schema"
)

var descriptorTests = []conformance{
	{"a descriptor tells the layers apart", func(b *bench) {
		service := b.service()
		scope := register(b, service, "look", settings.RegisterOptions[look]{Base: map[string]any{"size": 16}, Applies: settings.Restart})
		register(b, service, "other", settings.RegisterOptions[limits]{})
		before := described(b, service, "look")
		if before.User != nil || !jsontree.Equal(before.Base, tree(b, `{"size":16}`)) || before.Applies != settings.Restart {
			b.Errorf("before: %+v", before)
		}
		must(b, scope.Update(b.Context(), map[string]any{"size": 16, "theme": "light"}))
		after := described(b, service, "look")
		if !jsontree.Equal(after.User, tree(b, `{"size":16,"theme":"light"}`)) || after.Revision == before.Revision {
			b.Errorf("after: %+v", after)
		}
		for path, want := range map[string]schema.Origin{"$.size": schema.FromUser, "$.theme": schema.FromUser, "$.limits.hard": schema.FromDefault} {
			if after.Origin[path] != want {
				b.Errorf("the origin of %s is %q", path, after.Origin[path])
			}
		}
		if before.Origin["$.size"] != schema.FromBase {
			b.Errorf("the origin of the size was %q", before.Origin["$.size"])
		}
		var order []settings.Namespace
		for _, d := range service.Describe() {
			order = append(order, d.NS)
		}
		if !slices.Equal(order, []settings.Namespace{"look", "other"}) {
			b.Errorf("the order is %q", order)
		}
	}},
	{"nothing made for the wire holds a secret or an undeclared value", func(b *bench) {
		service := b.service()
		scope := register(b, service, "look", settings.RegisterOptions[look]{
			Base: map[string]any{"apiKey": canary + "-base", "routes": map[string]any{"b": map[string]any{"key": canary + "-base"}}},
		})
		must(b, scope.Update(b.Context(), map[string]any{
			"apiKey": canary, "apikey": canary + "-typo", "routes": map[string]any{"r": map[string]any{"key": canary, "kay": canary}},
		}))
		text, err := json.Marshal(service.DescribeForWire())
		must(b, err)
		if strings.Contains(string(text), canary) {
			b.Errorf("it is in %s", text)
		}
		var slots []string
		for _, slot := range service.DescribeForWire()[0].Secrets {
			slots = append(slots, fmt.Sprintf("%s %v", strings.Join(slot.Path, "."), slot.Set))
		}
		slices.Sort(slots)
		if want := []string{"apiKey true", "routes.b.key true", "routes.r.key true"}; !slices.Equal(slots, want) {
			b.Errorf("the slots are %q", slots)
		}
		if scope.Get().Key != canary {
			b.Error("the owner does not get it")
		}
	}},
	{"a broken section from outside leaks nothing and replaces nothing", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		b.external(service, "look", map[string]any{"look": map[string]any{"size": 99, "routes": canary, "apiKey": []any{canary}}})
		if scope.Get().Size != 20 {
			b.Errorf("the value is %+v", scope.Get())
		}
		d := service.DescribeForWire()[0]
		text, err := json.Marshal(d)
		must(b, err)
		if strings.Contains(string(text), canary) || len(d.Problems) == 0 {
			b.Errorf("described as %s", text)
		}
		if !slices.ContainsFunc(d.Secrets, func(s schema.Slot) bool { return s.Malformed && slices.Equal(s.Path, []string{"routes"}) }) {
			b.Errorf("the broken place is not named: %+v", d.Secrets)
		}
		b.external(service, "look", map[string]any{"look": canary})
		if d := described(b, service, "look"); d.User != nil || scope.Get().Size != 20 {
			b.Errorf("a section that is no map is described as %+v", d)
		}
		if text, _ := json.Marshal(service.DescribeForWire()); strings.Contains(string(text), canary) {
			b.Errorf("described as %s", text)
		}
		refused(b, scope.Update(b.Context(), map[string]any{"size": 22}), fault.PathNotContainer)
		must(b, scope.Replace(b.Context(), map[string]any{"size": 22}))
		if d := described(b, service, "look"); scope.Get().Size != 22 || len(d.Problems) != 0 {
			b.Errorf("it has not recovered: %+v", d)
		}
	}},
	{"the words of an owner's check do not carry a secret out", func(b *bench) {
		service := b.service()
		scope := register(b, service, "look", settings.RegisterOptions[look]{Validate: func(v look) error {
			if v.Key != "" {
				return errors.New("I do not like " + v.Key)
			}
			return nil
		}})
		err := scope.Update(b.Context(), map[string]any{"apiKey": canary})
		refused(b, err, fault.SettingsInvalid)
		if err != nil && strings.Contains(err.Error(), canary) {
			b.Errorf("the error is %v", err)
		}
	}},
}

var revisionTests = []conformance{
	{"of two editors with one revision the second is refused", func(b *bench) {
		service := b.service()
		looks(b, service, "look")
		was := described(b, service, "look").Revision
		must(b, service.Update(b.Context(), "look", map[string]any{"size": 20}, settings.ExpectRevision(was)))
		now := described(b, service, "look").Revision
		for name, write := range map[string]func(settings.Expect) error{
			"update": func(e settings.Expect) error {
				return service.Update(b.Context(), "look", map[string]any{"size": 21}, e)
			},
			"replace": func(e settings.Expect) error { return service.Replace(b.Context(), "look", map[string]any{}, e) },
			"mutate": func(e settings.Expect) error {
				return service.Mutate(b.Context(), "look", []settings.Op{settings.Unset("size")}, e)
			},
			"what would change nothing": func(e settings.Expect) error { return service.Update(b.Context(), "look", map[string]any{}, e) },
		} {
			err := write(settings.ExpectRevision(was))
			var conflict *settings.ConflictError
			if !errors.As(err, &conflict) || conflict.Expected != was || conflict.Actual != now || conflict.NS != "look" || fault.CodeOf(err) != fault.SettingsConflict {
				b.Errorf("%s: %v", name, err)
			}
		}
		b.wantStored("look", `{"size":20}`)
		must(b, service.Update(b.Context(), "look", map[string]any{"size": 22}, settings.ExpectRevision(now)))
	}},
	{"a value that is stored though it is the default moves the revision", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		was := described(b, service, "look").Revision
		must(b, scope.Update(b.Context(), map[string]any{"size": 14}))
		if described(b, service, "look").Revision == was {
			b.Error("it has not moved")
		}
	}},
	{"an edit from outside moves it, a refused one too", func(b *bench) {
		service := b.service()
		looks(b, service, "look")
		last := described(b, service, "look").Revision
		for _, section := range []any{map[string]any{"size": 20}, map[string]any{"size": 99}, "scalar", map[string]any{"size": 20}} {
			b.external(service, "look", map[string]any{"look": section})
			now := described(b, service, "look").Revision
			if now <= last {
				b.Errorf("with %v it went from %d to %d", section, last, now)
			}
			refused(b, service.Mutate(b.Context(), "look", []settings.Op{settings.Set(21, "size")}, settings.ExpectRevision(last)), fault.SettingsConflict)
			last = now
		}
	}},
	{"an edit that has not been seen is not written over", func(b *bench) {
		service := b.service()
		other := b.open(b.reopen())
		looks(b, service, "look")
		theirs := looks(b, other, "look")
		was := described(b, service, "look").Revision
		must(b, theirs.Update(b.Context(), map[string]any{"theme": "light"}))
		refused(b, service.Update(b.Context(), "look", map[string]any{"size": 20}, settings.ExpectRevision(was)), fault.SettingsConflict)
		b.wantStored("look", `{"theme":"light"}`)
	}},
	{"a revision holds in another process and after a restart as long as the section does", func(b *bench) {
		first := b.open(b.reopen())
		scope := looks(b, first, "look")
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		token := described(b, first, "look").Revision
		b.close(first)
		second := b.service()
		looks(b, second, "look")
		must(b, second.Update(b.Context(), "look", map[string]any{"size": 21}, settings.ExpectRevision(token)))
		refused(b, second.Update(b.Context(), "look", map[string]any{"size": 22}, settings.ExpectRevision(token)), fault.SettingsConflict)
	}},
}

var eventTests = []conformance{
	{"a change is told once, with the value in force", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		log := listen(service)
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		must(b, scope.Update(b.Context(), map[string]any{"theme": "dark"})) // overrides, but with the default
		b.close(service)
		log.want(b, "document look at 20", "updated look 14-20 by update at 20", "document look at 20")
	}},
	{"an edit from outside is told once, and not again when nothing changed", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		log := listen(service)
		b.external(service, "look", map[string]any{"look": map[string]any{"size": 20}})
		log.await(b, 2)
		b.External(b.T, map[string]any{"look": map[string]any{"size": 20}})
		must(b, scope.Update(b.Context(), map[string]any{"size": 21}))
		b.close(service)
		log.want(b, "document look at 20", "updated look 14-20 by provider at 20", "document look at 21", "updated look 20-21 by update at 21")
	}},
	{"all namespaces have their new values before any is told", func(b *bench) {
		service := b.service()
		a, z := looks(b, service, "z"), looks(b, service, "a")
		seen := make(chan string, 10)
		service.OnUpdated(func(_ context.Context, e settings.Updated) error {
			seen <- fmt.Sprint(e.NS, a.Get().Size, z.Get().Size)
			return nil
		})
		b.external(service, "a", map[string]any{"a": map[string]any{"size": 20}, "z": map[string]any{"size": 30}})
		for _, want := range []string{"z 30 20", "a 30 20"} {
			got := <-seen
			if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
				b.Errorf("told %q, want %q", got, want)
			}
		}
	}},
	{"a bad section hinders no other", func(b *bench) {
		service := b.service()
		bad, good := looks(b, service, "bad"), looks(b, service, "good")
		b.external(service, "good", map[string]any{"bad": map[string]any{"size": 99}, "good": map[string]any{"size": 20}})
		if bad.Get().Size != 14 || good.Get().Size != 20 {
			b.Errorf("bad %d, good %d", bad.Get().Size, good.Get().Size)
		}
		b.external(service, "bad", map[string]any{"bad": map[string]any{"size": 10}, "good": map[string]any{"size": 20}})
		if bad.Get().Size != 10 {
			b.Error("it has not recovered")
		}
	}},
	{"a failing listener hinders nobody", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		service.OnUpdated(func(context.Context, settings.Updated) error { panic("x") })
		service.OnUpdated(func(context.Context, settings.Updated) error { return errors.New("x") })
		log := listen(service)
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		log.want(b, "document look at 20", "updated look 14-20 by update at 20")
	}},
	{"a broken invariant is returned after everything else", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		service.OnDocumentUpdated(func(context.Context, settings.DocumentUpdated) error { return fault.New(fault.Invariant, "first") })
		service.OnUpdated(func(context.Context, settings.Updated) error { return fault.New(fault.Invariant, "second") })
		log := listen(service)
		err := scope.Update(b.Context(), map[string]any{"size": 20})
		refused(b, err, fault.Invariant)
		if err == nil || !strings.Contains(err.Error(), "first") || !strings.Contains(err.Error(), "second") {
			b.Errorf("the error is %v", err)
		}
		log.want(b, "document look at 20", "updated look 14-20 by update at 20")
		b.wantStored("look", `{"size":20}`)
	}},
	{"a listener cannot write while it is called, but a goroutine of its can", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		inside, beside := make(chan error, 1), make(chan error, 1)
		var once sync.Once
		service.OnUpdated(func(ctx context.Context, _ settings.Updated) error {
			once.Do(func() {
				inside <- scope.Update(ctx, map[string]any{"size": 21})
				go func() { beside <- scope.Update(context.Background(), map[string]any{"size": 22}) }()
			})
			return nil
		})
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
		if err := <-inside; !errors.Is(err, settings.ErrInListener) {
			b.Errorf("the error is %v", err)
		}
		must(b, <-beside)
		if scope.Get().Size != 22 {
			b.Errorf("the size is %d", scope.Get().Size)
		}
	}},
	{"a listener that was removed is called no more", func(b *bench) {
		service := b.service()
		scope := looks(b, service, "look")
		remove := service.OnUpdated(func(context.Context, settings.Updated) error { b.Error("it was called"); return nil })
		remove()
		must(b, scope.Update(b.Context(), map[string]any{"size": 20}))
	}},
	{"registrations are announced", func(b *bench) {
		service := b.service()
		seen := make(chan settings.Registered, 2)
		service.OnRegistered(func(_ context.Context, e settings.Registered) error { seen <- e; return nil })
		scope := looks(b, service, "look")
		must(b, scope.Close(b.Context()))
		for _, want := range []settings.Registered{{NS: "look"}, {NS: "look", Gone: true}} {
			if got := <-seen; got != want {
				b.Errorf("announced %+v, want %+v", got, want)
			}
		}
	}},
	{"what an edit from outside changed is told before the write that found it", func(b *bench) {
		other := b.open(b.reopen())
		service := b.service()
		theirs := looks(b, other, "theirs")
		looks(b, service, "theirs")
		ours := looks(b, service, "ours")
		log := listen(service)
		must(b, theirs.Update(b.Context(), map[string]any{"size": 20}))
		must(b, ours.Update(b.Context(), map[string]any{"size": 30}))
		log.want(b, "document theirs at 20", "updated theirs 14-20 by provider at 20", "document ours at 30", "updated ours 14-30 by update at 30")
	}},
}

// events is what listeners were told, with what was to be read at that moment.
type events struct {
	mu   sync.Mutex
	log  []string
	more chan struct{} // receives with each element of log
}

// await waits for the first n elements. It is called once.
func (e *events) await(b *bench, n int) {
	b.Helper()
	for range n {
		b.wait(e.more, "a listener was not told")
	}
}

func listen(service *settings.Service) *events {
	log := &events{more: make(chan struct{}, 1000)}
	size := func(value any) any { return value.(map[string]any)["size"] }
	say := func(ns settings.Namespace, format string, args ...any) {
		now, _ := service.Get(ns)
		log.mu.Lock()
		defer log.mu.Unlock()
		log.log = append(log.log, fmt.Sprintf(format, args...)+fmt.Sprintf(" at %v", size(now)))
		log.more <- struct{}{}
	}
	service.OnDocumentUpdated(func(_ context.Context, e settings.DocumentUpdated) error {
		say(e.NS, "document %s", e.NS)
		return nil
	})
	service.OnUpdated(func(_ context.Context, e settings.Updated) error {
		say(e.NS, "updated %s %v-%v by %s", e.NS, size(e.Prev), size(e.Next), e.Source)
		return nil
	})
	return log
}

func (e *events) want(b *bench, want ...string) {
	b.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Equal(e.log, want) {
		b.Errorf("told\n\t%s\nwant\n\t%s", strings.Join(e.log, "\n\t"), strings.Join(want, "\n\t"))
	}
}
