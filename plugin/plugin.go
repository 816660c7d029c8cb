package plugin

import (
	"context"
	"slices"

	"hardshell/internal/fault"
)

// Plugin is a kind of part. A key stands in one of its lists, once.
type Plugin struct {
	// Name names the plugin in rows.
	Name string
	// Needs are the services without which it is not applied.
	Needs []AnyKey
	// Optional are services that it uses when they are there. It does not wait
	// for them, but otherwise they are like needed ones: when one comes or goes,
	// the plugin is ended and applied again. One that itself needs this plugin is
	// not used when it comes later.
	Optional []AnyKey
	// Provides are the services that it provides. Apply provides them all.
	Provides []AnyKey
	// Apply does the plugin's work and hangs what is to be undone on the scope of
	// the activation. When it returns an error or panics, that scope closes. It is
	// called again for each activation.
	Apply func(ctx context.Context, a *Activation) error
}

// Activation is one time that a row is active.
type Activation struct {
	// Scope closes when the row ends. The services in use outlive it.
	Scope *Scope
	// Row is the id of the row.
	Row string
	// Config is that of the row as it is now. It belongs to whoever made the row:
	// the plugin checks its type and does not change it.
	Config any

	plugin *Plugin
	uses   []use
}

// use is a service in the hands of a row.
type use struct {
	key   AnyKey
	value any
	from  *row
}

// Get returns a service that the plugin needs. It panics when k is not in Needs;
// in Apply, that fails the row. What it returns must not be used after the scope
// closed.
func Get[T any](a *Activation, k Key[T]) T {
	if !slices.Contains(a.plugin.Needs, AnyKey(k)) {
		panic(fault.New(fault.Invariant, "plugin %q does not declare that it needs service %q: add the key to Needs", a.plugin.Name, k.name))
	}
	v, _ := a.use(k)
	return as[T](v)
}

// Lookup returns a service that the plugin uses when it is there, and whether it
// is there. It panics when k is not in Optional, as Get does.
func Lookup[T any](a *Activation, k Key[T]) (T, bool) {
	if !slices.Contains(a.plugin.Optional, AnyKey(k)) {
		panic(fault.New(fault.Invariant, "plugin %q does not declare that it may use service %q: add the key to Optional", a.plugin.Name, k.name))
	}
	v, ok := a.use(k)
	return as[T](v), ok
}

func (a *Activation) use(k AnyKey) (any, bool) {
	for _, u := range a.uses {
		if u.key == k {
			return u.value, true
		}
	}
	return nil, false
}

// Row is one part of a composition: a plugin with its configuration.
type Row struct {
	ID       string `json:"id"`
	Plugin   string `json:"plugin"`
	Config   any    `json:"config,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
}

// State says where a row is in its life.
type State string

// A row is pending until its needs are there, then loading while its plugin is
// applied, then active or failed, and unloading while it ends. A disposed row is
// disabled or unloaded.
const (
	Pending   State = "pending"
	Loading   State = "loading"
	Active    State = "active"
	Unloading State = "unloading"
	Failed    State = "failed"
	Disposed  State = "disposed"
)

// Status is a row as it stands.
type Status struct {
	ID     string
	Plugin string
	State  State
	// Waiting are the names of the services that a pending row waits for, in the
	// order of Needs.
	Waiting []string
	// Err is why a failed row failed.
	Err error
}

// check refuses plugins that can never work. Types are those of all keys, by
// name.
func (p *Plugin) check(types map[string]AnyKey) error {
	if p.Name == "" || p.Apply == nil {
		return fault.New(fault.Invariant, "plugin %q: give it a name and an Apply", p.Name)
	}
	all := slices.Concat(p.Needs, p.Optional, p.Provides)
	for i, k := range all {
		name := k.Name()
		switch known, any := types[name]; {
		case name == "":
			return fault.New(fault.Invariant, "plugin %q: a service needs a key made by NewKey", p.Name)
		case slices.ContainsFunc(all[:i], func(o AnyKey) bool { return o.Name() == name }):
			return fault.New(fault.Invariant, "plugin %q declares service %q twice: keep it in one of Needs, Optional and Provides", p.Name, name)
		case any && known != k:
			return fault.New(fault.Invariant, "plugin %q: service %q has another type in another plugin: use one key", p.Name, name)
		}
		types[name] = k
	}
	return nil
}
