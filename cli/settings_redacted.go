package cli

import (
	"slices"
	"strconv"
	"strings"

	"hardshell/internal/jsontree"
	"hardshell/settings"
	"hardshell/settings/schema"
)

// secretMark is what stands for a secret.
type secretMark struct {
	Set bool `json:"set"`
}

func (m secretMark) tree() map[string]any { return map[string]any{"set": m.Set} }

// words is the mark in a table.
func (m secretMark) words() string {
	if m.Set {
		return "set"
	}
	return "not set"
}

// shown is the value of a namespace with a mark in place of each secret.
func shown(d settings.Descriptor) any {
	tree := jsontree.Clone(d.Value)
	for _, slot := range d.Secrets {
		tree = mark(tree, slot.Path, secretMark{slot.Set})
	}
	return tree
}

// mark puts a mark into a redacted tree. The containers of a secret that is set
// are there, or are made; for one that is not set nothing is made.
func mark(tree any, path []string, m secretMark) any {
	if len(path) == 0 {
		return m.tree()
	}
	switch node := tree.(type) {
	case map[string]any:
		child, there := node[path[0]]
		if there || m.Set || len(path) == 1 {
			node[path[0]] = mark(child, path[1:], m)
		}
		return node
	case []any:
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(node) {
			node[i] = mark(node[i], path[1:], m)
		}
		return node
	case nil:
		if m.Set {
			return map[string]any{path[0]: mark(nil, path[1:], m)}
		}
	}
	return tree
}

// markAt is the mark of the secret that a path is, or lies below.
func markAt(d settings.Descriptor, path jsontree.Path) (m secretMark, is bool) {
	for _, slot := range d.Secrets {
		if len(slot.Path) <= len(path) && slices.Equal(slot.Path, path[:len(slot.Path)]) {
			return secretMark{slot.Set}, true
		}
	}
	return secretMark{}, false
}

// declared reports whether a schema has a place for a path, and returns what it
// says of it, when it describes that very place.
func declared(keys []schema.Key, path jsontree.Path) (key schema.Key, is bool) {
	is = len(path) == 0
	for _, k := range keys {
		steps, err := jsontree.ParsePath(k.Path)
		if err != nil {
			continue // items of lists: no path leads there
		}
		n := min(len(steps), len(path))
		switch {
		case !matches(steps[:n], path[:n]):
		case len(path) == len(steps):
			return k, true
		case len(path) < len(steps):
			is = true // a container of it
		case k.Secret, k.Type == "anything", strings.Contains(k.Type, "map") && !hasBelow(keys, k.Path):
			is = true // below something that is not described any further
		}
	}
	return key, is
}

func hasBelow(keys []schema.Key, path string) bool {
	return slices.ContainsFunc(keys, func(k schema.Key) bool {
		return strings.HasPrefix(k.Path, path+".") || strings.HasPrefix(k.Path, path+"[")
	})
}

// matches compares as many keys of a path with the steps of a description, in
// which "*" is any.
func matches(steps, path []string) bool {
	for i, step := range steps {
		if step != "*" && step != path[i] {
			return false
		}
	}
	return true
}
