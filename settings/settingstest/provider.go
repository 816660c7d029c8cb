package settingstest

import (
	"context"
	"errors"
	"testing"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/settings"
)

// providerTests use the provider without a service.
var providerTests = []conformance{
	{"an empty document opens and has no data", func(b *bench) {
		document := b.openRaw(b.Provider, nil)
		for key, section := range document.Sections {
			if section.Data != nil || section.Problem != nil {
				b.Errorf("%q is there", key)
			}
		}
	}},
	{"a change is stored, committed once and not published", func(b *bench) {
		b.openRaw(b.Provider, func(settings.Document) { b.Error("it was published") })
		var committed []settings.Section
		err := b.Provider.Change(b.Context(), "a", func(now settings.Section) (map[string]any, error) {
			if now.Data != nil || now.Revision != 0 {
				b.Errorf("an absent section is %+v", now)
			}
			return map[string]any{"k": "v"}, nil
		}, func(s settings.Section) { committed = append(committed, s) })
		must(b, err)
		if len(committed) != 1 || !jsontree.Equal(committed[0].Data, map[string]any{"k": "v"}) || committed[0].Revision == 0 {
			b.Errorf("committed: %+v", committed)
		}
		b.wantStored("a", `{"k":"v"}`)
	}},
	{"what derive refuses is returned as it is and nothing is written", func(b *bench) {
		b.openRaw(b.Provider, nil)
		must(b, change(b, b.Provider, "a", `{"k":1}`))
		before := b.stamp()
		refusal := errors.New("no")
		err := b.Provider.Change(b.Context(), "a", func(settings.Section) (map[string]any, error) { return nil, refusal },
			func(settings.Section) { b.Error("it was committed") })
		if err != refusal { //nolint:errorlint // as it is
			b.Errorf("the error is %v", err)
		}
		must(b, b.Provider.Change(b.Context(), "a", func(settings.Section) (map[string]any, error) { return nil, settings.ErrUnchanged },
			func(settings.Section) { b.Error("it was committed") }))
		if b.stamp() != before {
			b.Error("the document was written")
		}
	}},
	{"a revision grows with each change and stays over a restart", func(b *bench) {
		b.openRaw(b.Provider, nil)
		must(b, change(b, b.Provider, "a", `{"k":1}`))
		first := revision(b, b.Provider, "a")
		must(b, change(b, b.Provider, "a", `{"k":2}`))
		second := revision(b, b.Provider, "a")
		if second <= first {
			b.Errorf("revisions %d, %d", first, second)
		}
		must(b, b.Provider.Close(b.Context()))
		document := b.openRaw(b.reopen(), nil)
		if again := document.Sections["a"]; again.Revision != second || !jsontree.Equal(again.Data, tree(b, `{"k":2}`)) {
			b.Errorf("after a restart it is %+v, want revision %d", again, second)
		}
	}},
	{"a write in one section leaves the others and their revisions", func(b *bench) {
		b.openRaw(b.Provider, nil)
		must(b, change(b, b.Provider, "a", `{"k":1}`))
		before := revision(b, b.Provider, "a")
		must(b, change(b, b.Provider, "b", `{"k":1}`))
		if now := revision(b, b.Provider, "a"); now != before {
			b.Errorf("the revision of a went from %d to %d", before, now)
		}
		b.wantStored("a", `{"k":1}`)
	}},
	{"a change folds in what another process wrote, before it derives", func(b *bench) {
		other := b.reopen()
		b.openRaw(other, nil)
		var published []settings.Document
		b.openRaw(b.Provider, func(d settings.Document) { published = append(published, d) })
		must(b, change(b, other, "a", `{"k":1}`))
		err := b.Provider.Change(b.Context(), "a", func(now settings.Section) (map[string]any, error) {
			if !jsontree.Equal(now.Data, tree(b, `{"k":1}`)) {
				b.Errorf("derive gets %s", jsontree.Encode(now.Data))
			}
			if n := len(published); n == 0 || published[n-1].Sections["a"].Revision != now.Revision {
				b.Errorf("published before: %+v, derive gets revision %d", published, now.Revision)
			}
			return nil, settings.ErrUnchanged
		}, func(settings.Section) {})
		must(b, err)
	}},
	{"writers in two processes lose nothing", func(b *bench) {
		providers := []settings.Provider{b.Provider, b.reopen()}
		const each = 10
		done := make(chan error, len(providers))
		for _, p := range providers {
			b.openRaw(p, nil)
		}
		for _, p := range providers {
			go func() {
				for range each {
					err := p.Change(context.Background(), "a", func(now settings.Section) (map[string]any, error) {
						section, _ := now.Data.(map[string]any)
						list, _ := section["list"].([]any)
						return map[string]any{"list": append(list[:len(list):len(list)], "x")}, nil
					}, func(settings.Section) {})
					if err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		must(b, change(b, providers[0], "seed", `{}`))
		for range providers {
			if err := <-done; err != nil {
				b.Error(err)
			}
		}
		section, _ := b.stored("a").(map[string]any)
		list, _ := section["list"].([]any)
		if len(list) != each*len(providers) {
			b.Errorf("%d of %d writes are there", len(list), each*len(providers))
		}
	}},
	{"the context ends the wait for a turn", func(b *bench) {
		b.openRaw(b.Provider, nil)
		entered, leave, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			done <- b.Provider.Change(context.Background(), "a", func(settings.Section) (map[string]any, error) {
				close(entered)
				<-leave
				return map[string]any{"k": "v"}, nil
			}, func(settings.Section) {})
		}()
		b.wait(entered, "the first change never began")
		ctx, cancel := context.WithCancel(b.Context())
		second := make(chan error, 1)
		go func() {
			second <- b.Provider.Change(ctx, "a", func(settings.Section) (map[string]any, error) { return map[string]any{"k": "w"}, nil },
				func(settings.Section) { b.Error("it was committed") })
		}()
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			b.Errorf("the error is %v", err)
		}
		close(leave)
		must(b, <-done)
		b.wantStored("a", `{"k":"v"}`)
	}},
	{"an edit from outside moves the revision, a removal too", func(b *bench) {
		if b.External == nil || b.Reopen == nil {
			b.Skip("the document cannot be edited from outside")
		}
		b.openRaw(b.Provider, nil)
		must(b, change(b, b.Provider, "a", `{"k":1}`))
		first := revision(b, b.Provider, "a")
		b.External(b.T, map[string]any{"a": map[string]any{"k": 2}})
		second := revision(b, b.Provider, "a")
		b.External(b.T, map[string]any{})
		third := revision(b, b.Provider, "a")
		b.External(b.T, map[string]any{"a": map[string]any{"k": 2}})
		fourth := revision(b, b.Provider, "a")
		if first >= second || second >= third || third >= fourth {
			b.Errorf("revisions %d, %d, %d, %d", first, second, third, fourth)
		}
	}},
	{"keys that are no namespaces survive", func(b *bench) {
		if b.External == nil {
			b.Skip("the document cannot be edited from outside")
		}
		b.External(b.T, map[string]any{"Bad Name": map[string]any{"k": 1}, "scalar": 3})
		b.openRaw(b.Provider, nil)
		must(b, change(b, b.Provider, "a", `{"k":1}`))
		b.wantStored("Bad Name", `{"k":1}`)
		b.wantStored("scalar", `3`)
	}},
	{"nothing is written through a closed provider", func(b *bench) {
		b.openRaw(b.Provider, nil)
		must(b, b.Provider.Close(b.Context()))
		if err := change(b, b.Provider, "a", `{"k":1}`); err == nil {
			b.Error("it was written")
		}
	}},
	{"a closed service prepares nothing", func(b *bench) {
		service := b.service()
		path, err := service.PrepareDocument(b.Context())
		must(b, err)
		if path != service.Path() {
			b.Errorf("prepared %q, path %q", path, service.Path())
		}
		b.close(service)
		if _, err := service.PrepareDocument(b.Context()); !errors.Is(err, settings.ErrClosed) {
			b.Errorf("after closing: %v", err)
		}
	}},
	{"the path is that of the prepared document", func(b *bench) {
		b.openRaw(b.Provider, nil)
		path, err := b.Provider.PrepareDocument(b.Context())
		must(b, err)
		if path != b.Provider.Path() {
			b.Errorf("prepared %q, path %q", path, b.Provider.Path())
		}
	}},
}

func (b *bench) openRaw(p settings.Provider, publish func(settings.Document)) settings.Document {
	b.Helper()
	if publish == nil {
		publish = func(settings.Document) {}
	}
	document, err := p.Open(b.Context(), publish)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			b.Errorf("closing the provider: %v", err)
		}
	})
	return document
}

func (b *bench) reopen() settings.Provider {
	b.Helper()
	if b.Reopen == nil {
		b.Skip("there is one provider only")
	}
	return b.Reopen(b.T)
}

// stamp is the stamp of the document, or always the same.
func (b *bench) stamp() string {
	if b.Stamp == nil {
		return ""
	}
	return b.Stamp(b.T)
}

// change stores a section.
func change(b *bench, p settings.Provider, ns settings.Namespace, section string) error {
	b.Helper()
	next := tree(b, section).(map[string]any)
	return p.Change(b.Context(), ns, func(settings.Section) (map[string]any, error) { return next, nil }, func(settings.Section) {})
}

// revision is that of the section as it stands.
func revision(b *bench, p settings.Provider, ns settings.Namespace) (now uint64) {
	b.Helper()
	must(b, p.Change(b.Context(), ns, func(s settings.Section) (map[string]any, error) {
		now = s.Revision
		return nil, settings.ErrUnchanged
	}, func(settings.Section) {}))
	return now
}

// ReadOnly checks a provider that cannot write: every write is refused before
// anything else, and reading works.
func ReadOnly(t *testing.T, provider settings.Provider) {
	b := &bench{T: t, Fixture: Fixture{Provider: provider}}
	service := b.service()
	scope := looks(b, service, "look")
	if service.Writable() {
		t.Error("it says that it is writable")
	}
	if scope.Get().Size == 0 {
		t.Error("it has no value")
	}
	refused(b, scope.Update(b.Context(), map[string]any{"size": 10}), fault.SettingsReadOnly)
	refused(b, scope.Replace(b.Context(), map[string]any{}), fault.SettingsReadOnly)
	refused(b, service.Mutate(b.Context(), "look", []settings.Op{settings.Unset("size")}, settings.Expect{}), fault.SettingsReadOnly)
}
