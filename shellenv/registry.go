package shellenv

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hardshell/internal/fault"
	"hardshell/subprocess"
)

// Registry collects the facts of its contributors. It is safe for concurrent
// use; contributors may call it while they resolve.
type Registry struct {
	mu sync.Mutex
	// contributors begins with the registry's own. Elements are added at the
	// end or go with the whole slice, never in place, so that a collection
	// goes on with what it began with.
	contributors []*Contributor
}

// Contributor owns some managed variables and knows their values.
type Contributor struct {
	// Name is unique in a registry.
	Name string
	// Keys are the variables that Resolve may return, each with a description
	// for a person. A key is DSH_ and then [A-Z][A-Z0-9_]*.
	Keys map[string]string
	// Resolve returns the values for one command, under the keys that have one
	// there. It may be called from several goroutines at once.
	Resolve func(Execution) (map[string]string, error)
}

// Execution is the command that facts are collected for.
type Execution struct {
	// SessionID is the session that the command runs for, "" without one.
	SessionID string
	// SessionLog is the absolute path of the session's log of JSON lines, ""
	// when it has none. The file may not exist yet.
	SessionLog string
}

// Variable is one declared variable.
type Variable struct {
	Key         string `json:"key"`
	Description string `json:"description"`
	// Contributor is the name of the owner.
	Contributor string `json:"contributor"`
	// BuiltIn is true for the variables of the registry itself.
	BuiltIn bool `json:"builtIn"`
}

// New returns a registry with the built-in facts alone: DSH_HOME, which is
// home made absolute, DSH_SHELL and, in a session, DSH_SESSION_ID.
func New(home string) *Registry {
	if absolute, err := filepath.Abs(home); err == nil {
		home = absolute
	}
	return &Registry{contributors: []*Contributor{builtIn(home)}}
}

// builtIn is the contributor of the facts that nobody else may own.
func builtIn(home string) *Contributor {
	return &Contributor{
		Name: "shell-env",
		Keys: map[string]string{
			"DSH_HOME":       "The directory that holds all state of this hardshell.",
			"DSH_SHELL":      "1 in every command that hardshell runs.",
			"DSH_SESSION_ID": "The session that the command runs for. Absent without one.",
		},
		Resolve: func(e Execution) (map[string]string, error) {
			vars := map[string]string{"DSH_HOME": home, "DSH_SHELL": "1"}
			if e.SessionID != "" {
				vars["DSH_SESSION_ID"] = e.SessionID
			}
			return vars, nil
		},
	}
}

// Register adds a contributor until unregister is called; a second call of
// that does nothing. An INVALID_ARGUMENT error says what is wrong with the
// declaration, or whose name or key it would take, and nothing is registered.
func (r *Registry) Register(c Contributor) (unregister func(), err error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	added := &c
	added.Keys = maps.Clone(c.Keys)

	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.admit(added); err != nil {
		return nil, err
	}
	r.contributors = append(r.contributors, added)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		// Not by name: the name may have a new owner since.
		r.contributors = slices.DeleteFunc(slices.Clone(r.contributors),
			func(c *Contributor) bool { return c == added })
	}, nil
}

// Collect returns the facts for one command. A contributor that fails, panics,
// or returns a key that it did not declare or a value that no program can be
// given, is left out whole. The error, INVALID_ARGUMENT, names every such
// contributor and its key; the facts beside it are complete otherwise and fit
// for use.
func (r *Registry) Collect(e Execution) (subprocess.DshEnvironment, error) {
	facts := map[string]string{}
	var faults []error
	for _, c := range r.snapshot() {
		vars, err := c.collect(e)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		maps.Copy(facts, vars)
	}
	env, err := subprocess.NewDshEnvironment(facts)
	return env, errors.Join(append(faults, err)...)
}

// List returns every variable that a command may be given, sorted by key. It
// runs no contributor.
func (r *Registry) List() []Variable {
	var list []Variable
	for i, c := range r.snapshot() {
		for key, description := range c.Keys {
			list = append(list, Variable{Key: key, Description: description, Contributor: c.Name, BuiltIn: i == 0})
		}
	}
	slices.SortFunc(list, func(a, b Variable) int { return cmp.Compare(a.Key, b.Key) })
	return list
}

func (r *Registry) snapshot() []*Contributor {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.contributors
}

// admit refuses a contributor whose name or key has an owner. The caller holds
// the lock.
func (r *Registry) admit(c *Contributor) error {
	for _, owner := range r.contributors {
		if owner.Name == c.Name {
			return fault.New(fault.InvalidArgument,
				"environment contributor %q is already registered: unregister it first, or choose another name", c.Name)
		}
	}
	for i, owner := range r.contributors {
		for _, key := range slices.Sorted(maps.Keys(c.Keys)) {
			switch _, taken := owner.Keys[key]; {
			case !taken:
			case i == 0:
				return fault.New(fault.InvalidArgument,
					"environment contributor %q cannot own reserved key %q: choose another", c.Name, key)
			default:
				return fault.New(fault.InvalidArgument,
					"environment contributor %q cannot own key %q: it belongs to %q. Choose another", c.Name, key, owner.Name)
			}
		}
	}
	return nil
}

// validate refuses a declaration that is wrong by itself.
func (c *Contributor) validate() error {
	if isBlank(c.Name) {
		return fault.New(fault.InvalidArgument, "environment contributor name must be non-empty")
	}
	if c.Resolve == nil {
		return fault.New(fault.InvalidArgument, "environment contributor %q must have a Resolve function", c.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(c.Keys)) {
		if !subprocess.ValidDshKey(key) {
			return fault.New(fault.InvalidArgument,
				"environment contributor %q declared invalid key %q: a key is DSH_ and then a capital letter, capitals, digits or underscores", c.Name, key)
		}
		if isBlank(c.Keys[key]) {
			return fault.New(fault.InvalidArgument, "environment contributor %q must describe %q", c.Name, key)
		}
	}
	return nil
}

// collect resolves one contributor and holds it to its declaration.
func (c *Contributor) collect(e Execution) (map[string]string, error) {
	vars, err := c.resolve(e)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "environment contributor %q failed, and its variables (%s) are left out: %w",
			c.Name, strings.Join(slices.Sorted(maps.Keys(c.Keys)), ", "), err)
	}
	for _, key := range slices.Sorted(maps.Keys(vars)) {
		if _, declared := c.Keys[key]; !declared {
			return nil, fault.New(fault.InvalidArgument,
				"environment contributor %q returned undeclared key %q, and its variables are left out: declare the key", c.Name, key)
		}
		if strings.IndexByte(vars[key], 0) >= 0 {
			return nil, fault.New(fault.InvalidArgument,
				"environment contributor %q returned a NUL byte in the value of %q, which no program can be given, and its variables are left out", c.Name, key)
		}
	}
	return vars, nil
}

// resolve turns a panic of a contributor into its error.
func (c *Contributor) resolve(e Execution) (vars map[string]string, err error) {
	defer func() {
		if p := recover(); p != nil {
			vars, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return c.Resolve(e)
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }
