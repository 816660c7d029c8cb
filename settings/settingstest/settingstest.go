// Package settingstest is what every provider of settings must do, checked
// through the service that owners use.
package settingstest

import (
	"context"
	"errors"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/settings"
	"hardshell/settings/schema"
)

// Fixture is one fresh, empty document and the ways to it. What is nil is not
// there, and the tests that need it are skipped.
type Fixture struct {
	// Provider is over the document and not open yet. The test opens it at most
	// once, and closes it.
	Provider settings.Provider

	// Reopen returns another provider over the same document, as a later process
	// or one beside this one would have. It is called any number of times.
	Reopen func(t *testing.T) settings.Provider

	// External replaces the whole document from outside, as an editor does. Values
	// are JSON data.
	External func(t *testing.T, sections map[string]any)

	// Stored returns what the document holds now, as trees.
	Stored func(t *testing.T) map[string]any

	// Stamp is equal before and after exactly when nothing was written in between:
	// of a file, its inode and modification time.
	Stamp func(t *testing.T) string

	// Watches says that an open provider publishes what External did by itself. One
	// that does not sees it at its next Change.
	Watches bool
}

// Run checks a provider. New returns a fixture of its own for every test.
func Run(t *testing.T, factory func(t *testing.T) Fixture) {
	groups := []struct {
		name  string
		tests []conformance
	}{
		{"provider", providerTests},
		{"registration", registrationTests},
		{"layers", layerTests},
		{"owner", ownerTests},
		{"writes", writeTests},
		{"data", dataTests},
		{"edits", editTests},
		{"descriptors", descriptorTests},
		{"revisions", revisionTests},
		{"events", eventTests},
	}
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.tests {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(&bench{T: t, Fixture: factory(t)})
				})
			}
		})
	}
}

// conformance is one thing that holds for every provider.
type conformance struct {
	name string
	run  func(*bench)
}

// patience bounds what must happen anyhow.
const patience = 20 * time.Second

// bench is one test with its document.
type bench struct {
	*testing.T
	Fixture
}

// look is the section that most tests use.
type look struct {
	Theme  string         `json:"theme" default:"dark" enum:"dark|light"`
	Size   int            `json:"size" default:"14" minimum:"6" maximum:"40"`
	Tags   []string       `json:"tags,omitempty"`
	Limits limits         `json:"limits"`
	Key    string         `json:"apiKey,omitempty" role:"secret"`
	Routes map[string]rt  `json:"routes,omitempty"`
	Extra  map[string]any `json:"extra,omitempty"`
}

type limits struct {
	Soft int64 `json:"soft" default:"1"`
	Hard int64 `json:"hard" default:"2"`
}

type rt struct {
	URL string `json:"url" default:"x"`
	Key string `json:"key,omitempty" role:"secret"`
}

const canary = "sk-canary-7f3a"

// open opens a service over a provider, and closes it with the test.
func (b *bench) open(provider settings.Provider) *settings.Service {
	b.Helper()
	service, err := settings.Open(b.Context(), provider, settings.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { b.close(service) })
	return service
}

func (b *bench) close(service *settings.Service) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := service.Close(ctx); err != nil {
		b.Errorf("closing the service: %v", err)
	}
}

// service is a service over the fixture's provider.
func (b *bench) service() *settings.Service {
	b.Helper()
	return b.open(b.Provider)
}

// external edits from outside and returns when service has seen it in ns.
func (b *bench) external(service *settings.Service, ns settings.Namespace, sections map[string]any) {
	b.Helper()
	if b.External == nil {
		b.Skip("the document cannot be edited from outside")
	}
	seen := make(chan struct{}, 100)
	defer service.OnDocumentUpdated(func(_ context.Context, e settings.DocumentUpdated) error {
		if e.NS == ns {
			seen <- struct{}{}
		}
		return nil
	})()
	b.External(b.T, sections)
	if !b.Watches {
		b.nudge(service)
	}
	b.wait(seen, "the edit from outside was never seen")
}

// nudge makes a provider that does not watch look at its document.
func (b *bench) nudge(service *settings.Service) {
	b.Helper()
	const ns = "nudge"
	scope := register[map[string]any](b, service, ns, settings.RegisterOptions[map[string]any]{Schema: free(b)})
	must(b, scope.Update(b.Context(), map[string]any{}))
	must(b, scope.Close(b.Context()))
}

func (b *bench) wait(signal <-chan struct{}, complaint string) {
	b.Helper()
	select {
	case <-signal:
	case <-time.After(patience):
		b.Fatal(complaint)
	}
}

// stored is a section as the document has it, nil when there is none.
func (b *bench) stored(ns string) any {
	b.Helper()
	if b.Stored == nil {
		b.Skip("the document cannot be looked into")
	}
	return b.Stored(b.T)[ns]
}

// wantStored compares a section of the document with JSON text.
func (b *bench) wantStored(ns, want string) {
	b.Helper()
	if got := b.stored(ns); !jsontree.Equal(got, tree(b, want)) {
		b.Errorf("the document has %s under %s, want %s", jsontree.Encode(got), ns, want)
	}
}

func register[T any](b *bench, service *settings.Service, ns settings.Namespace, o settings.RegisterOptions[T]) *settings.Scope[T] {
	b.Helper()
	scope, err := settings.Register(service, ns, o)
	if err != nil {
		b.Fatal(err)
	}
	return scope
}

// looks registers the usual section.
func looks(b *bench, service *settings.Service, ns settings.Namespace) *settings.Scope[look] {
	b.Helper()
	return register(b, service, ns, settings.RegisterOptions[look]{})
}

// free is a schema that takes anything.
func free(b *bench) *schema.Schema {
	b.Helper()
	s, err := schema.Parse([]byte(`{"type":"object","additionalProperties":true}`))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func tree(b *bench, text string) any {
	b.Helper()
	value, err := jsontree.Parse([]byte(text))
	if err != nil {
		b.Fatal(err)
	}
	return value
}

func must(b *bench, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// refused checks that an error has a code.
func refused(b *bench, err error, code fault.Code) {
	b.Helper()
	if !errors.Is(err, code) {
		b.Errorf("the error is %v (%q), want the code %s", err, fault.CodeOf(err), code)
	}
}

// wantValue compares the value of a namespace with JSON text.
func wantValue(b *bench, service *settings.Service, ns settings.Namespace, want string) {
	b.Helper()
	got, ok := service.Get(ns)
	if !ok || !jsontree.Equal(got, tree(b, want)) {
		b.Errorf("the value of %s is %s, want %s", ns, jsontree.Encode(got), want)
	}
}

func described(b *bench, service *settings.Service, ns settings.Namespace) settings.Descriptor {
	b.Helper()
	for _, d := range service.Describe() {
		if d.NS == ns {
			return d
		}
	}
	b.Fatalf("%s is not described", ns)
	return settings.Descriptor{}
}
