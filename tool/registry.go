package tool

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"hardshell/internal/fault"
)

// Registry is the set of tools that a model is given. The zero value is empty
// and ready; it is safe for concurrent use.
type Registry struct {
	mu    sync.RWMutex
	tools map[string]*Tool
}

// Register adds a tool until remove is called. A call that is under way keeps
// its tool. A second tool of a name is an INVALID_ARGUMENT error.
func (r *Registry) Register(t *Tool) (remove func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tools[t.name] != nil {
		return nil, fault.New(fault.InvalidArgument, "a tool named %q is already registered: remove it first", t.name)
	}
	if r.tools == nil {
		r.tools = make(map[string]*Tool)
	}
	r.tools[t.name] = t
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.tools[t.name] == t {
			delete(r.tools, t.name)
		}
	}, nil
}

// Tool returns the tool of a name.
func (r *Registry) Tool(name string) (*Tool, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.tools[name]
	return t, ok
}

// Tools lists the tools by name.
func (r *Registry) Tools() []*Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.SortedFunc(maps.Values(r.tools), func(a, b *Tool) int { return cmp.Compare(a.name, b.name) })
}
