package plugin

import (
	"context"
	"slices"
	"sync"

	"hardshell/internal/fault"
)

// Key names a service of type T. Keys of one name and one type are the same
// key; one name with two types is refused wherever both come together.
type Key[T any] struct{ name string }

// NewKey returns the key of a service.
func NewKey[T any](name string) Key[T] { return Key[T]{name: name} }

// Name returns the name of the service.
func (k Key[T]) Name() string { return k.name }

func (Key[T]) service() {}

// AnyKey is a Key of any type. Comparable with ==.
type AnyKey interface {
	Name() string
	service()
}

// Provide makes v the service k until s closes. A service has one provider: a
// second one gets an error that names both, and the first keeps working. The
// error is ErrInactive on a closed scope.
//
// In a plugin, s is the scope of the activation, and k one of Provides. Other
// rows see the service when Apply has returned.
func Provide[T any](s *Scope, k Key[T], v T) error { return s.provide(k, v) }

// services are the services of a tree of scopes.
type services struct {
	mu   sync.Mutex
	live map[string]provision // by name
}

type provision struct {
	key   AnyKey
	value any
	owner *Scope
}

func (s *Scope) provide(k AnyKey, v any) error {
	if k.Name() == "" {
		return fault.New(fault.Invariant, "scope %q: a service needs a key made by NewKey", s.name)
	}
	if a := s.activation; a != nil {
		if a.Scope != s {
			return fault.New(fault.Invariant, "service %q: provide it on the scope of the row %q itself, for it lives as long as the row", k.Name(), a.Row)
		}
		if !slices.Contains(a.plugin.Provides, k) {
			return fault.New(fault.Invariant, "plugin %q does not declare that it provides service %q: add the key to Provides", a.plugin.Name, k.Name())
		}
	}
	t := s.services
	t.mu.Lock()
	defer t.mu.Unlock()
	if first, taken := t.live[k.Name()]; taken {
		return errProvided(k.Name(), first.owner.name, s.name)
	}
	err := s.Defer(func(context.Context) error {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.live, k.Name())
		return nil
	})
	if err == nil {
		t.live[k.Name()] = provision{key: k, value: v, owner: s}
	}
	return err
}

func (t *services) find(k AnyKey) (any, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.live[k.Name()]
	return p.value, ok && p.key == k
}

// as is a service as its own type. A nil of an interface type stays nil.
func as[T any](v any) T {
	t, _ := v.(T)
	return t
}

func errProvided(service, first, second string) error {
	return fault.New(fault.InvalidArgument, "service %q: %q provides it already, and %q would too: remove one", service, first, second)
}
