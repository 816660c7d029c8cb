package schema

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Bounds of one resolution: what schemas may multiply a document into, and how
// deep a document with its defaults may be.
const (
	maxSteps = 4_000_000
	maxDepth = 300
)

// run is one resolution.
type run struct {
	problems []Problem
	unknown  []string

	steps, limit int
	depth        int
	over         bool // a bound was reached

	// While a form of a union is tried, nothing is reported but that it failed.
	trying, failed bool
	strict         bool // undeclared keys fail a closed form
	tried          map[trial]bool
	completed      map[completion]map[string]any
}

// spot is one piece of data to be checked, with what is known about where it
// stands.
type spot struct {
	value  any
	user   any // the same data in the user's layer
	place  *place
	trail  *trail
	hidden bool // at a secret, or below: the trail ends at the secret
}

// down is the value of a key.
func (s spot) down(key string, value any, fromDefault bool) spot {
	next := spot{value: value, hidden: s.hidden, trail: s.trail}
	if user, isMap := s.user.(map[string]any); isMap && !fromDefault {
		if value, has := user[key]; has {
			next.user = value
		}
	}
	if s.place != nil && !s.place.secret {
		next.place = s.place.key(key)
	}
	if !s.hidden {
		next.trail = s.trail.down(key)
	}
	return next
}

// at is an item of a list. Lists are replaced whole: the items are of one layer.
func (s spot) at(index int, value any) spot {
	next := spot{value: value, hidden: s.hidden, trail: s.trail}
	if user, isList := s.user.([]any); isList && index < len(user) {
		next.user = user[index]
	}
	if s.place != nil && !s.place.secret {
		next.place = s.place.item(index)
	}
	if !s.hidden {
		next.trail = s.trail.item(index)
	}
	return next
}

// location checks one piece of data against the schemas that apply to it, and
// returns it with defaults and without undeclared keys. What it returns shares
// nothing with the layers.
func (r *run) location(roots []*node, s spot) any {
	if r.steps++; r.steps > r.limit || r.depth > maxDepth {
		r.over, r.failed = true, true
	}
	if r.over || r.trying && r.failed {
		return nil
	}
	s.hidden = s.hidden || s.place != nil && s.place.secret
	applied := roots
	if len(roots) != 1 || len(roots[0].everywhere) != 1 {
		applied = together(roots)
	}
	tree, isMap := s.value.(map[string]any)
	whole := s
	if isMap && slices.ContainsFunc(applied, func(n *node) bool { return len(n.unions) > 0 }) {
		tree = r.complete(roots, applied, tree)
		whole.value = tree
	}
	before, unmatched := len(r.problems), ""
	for i := 0; i < len(applied); i++ {
		for _, u := range applied[i].unions {
			form, fits := r.choose(u, whole)
			if form != nil {
				applied = more(applied, form.always)
			}
			if !fits {
				unmatched = u.keyword
			}
		}
	}
	for _, n := range applied {
		r.check(n, s)
	}
	var result any
	switch value := s.value.(type) {
	case map[string]any:
		result = r.mapping(applied, value, s)
	case []any:
		result = r.list(applied, value, s)
	default:
		result = value
	}
	if unmatched != "" && len(r.problems) == before {
		r.report(s, unmatched, "must fit one of the allowed forms")
	}
	return result
}

// together are all schemas that apply to the same data as roots for certain.
func together(roots []*node) []*node {
	if len(roots) == 1 {
		return slices.Clone(roots[0].always)
	}
	var all set
	for _, n := range roots {
		all.add(n.always...)
	}
	return all.nodes
}

// more adds those schemas that do not apply yet.
func more(applied, nodes []*node) []*node {
	for _, n := range nodes {
		if !slices.Contains(applied, n) {
			applied = append(applied, n)
		}
	}
	return applied
}

// mapping resolves a map: the declared keys in their order, then the others.
func (r *run) mapping(applied []*node, tree map[string]any, s spot) any {
	r.depth++
	defer func() { r.depth-- }()
	named := slices.ContainsFunc(applied, (*node).namesKeys)
	result := make(map[string]any, len(tree))
	for i, n := range applied {
		for _, p := range n.properties {
			if _, done := result[p.name]; done && i > 0 {
				continue
			}
			roots := childrenOf(applied, p.name)
			value, present := tree[p.name]
			if !present {
				if value, present = fallbackOf(roots); !present {
					continue
				}
				result[p.name] = r.location(roots, s.down(p.name, value, true))
				continue
			}
			result[p.name] = r.location(roots, s.down(p.name, value, false))
		}
	}
	var others []string
	for key := range tree {
		if _, done := result[key]; !done {
			others = append(others, key)
		}
	}
	slices.Sort(others)
	for _, key := range others {
		roots := childrenOf(applied, key)
		if len(roots) == 0 && named {
			r.undeclared(s, key)
			continue
		}
		result[key] = r.location(roots, s.down(key, tree[key], false))
	}
	for _, n := range applied {
		for _, key := range n.required {
			_, has := result[key]
			if _, given := tree[key]; !has && !given {
				r.report(s.down(key, nil, true), "required", "is required; set it")
			}
		}
		if n.keyPattern == nil {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(result)) {
			if _, given := tree[key]; given && !n.keyPattern.MatchString(key) {
				r.report(s.down(key, nil, true), "propertyNames", "must have a key that matches "+n.keyPattern.String())
			}
		}
	}
	if r.strict {
		for _, n := range applied {
			for key := range tree {
				r.failed = r.failed || n.closed && n.byName[key] == nil
			}
		}
	}
	return result
}

// undeclared notes a key of the user that no schema in force declares.
func (r *run) undeclared(s spot, key string) {
	if r.trying || s.hidden {
		return
	}
	if user, isMap := s.user.(map[string]any); isMap {
		if _, given := user[key]; given {
			r.unknown = append(r.unknown, s.trail.down(key).String())
		}
	}
}

func (r *run) list(applied []*node, items []any, s spot) any {
	r.depth++
	defer func() { r.depth-- }()
	result := make([]any, len(items))
	for i, item := range items {
		var roots []*node
		if len(applied) == 1 {
			if n := applied[0].item(i); n != nil {
				roots = n.self
			}
		} else {
			var all set
			for _, n := range applied {
				if child := n.item(i); child != nil {
					all.add(child)
				}
			}
			roots = all.nodes
		}
		result[i] = r.location(roots, s.at(i, item))
	}
	return result
}

// childrenOf are the schemas that apply to the value of a key.
func childrenOf(applied []*node, key string) []*node {
	if len(applied) == 1 {
		if child := applied[0].child(key); child != nil {
			return child.self
		}
		return nil
	}
	var all set
	for _, n := range applied {
		if child := n.child(key); child != nil {
			all.add(child)
		}
	}
	return all.nodes
}

// fallbackOf is the first default among schemas and those that apply with them.
func fallbackOf(roots []*node) (any, bool) {
	for _, root := range roots {
		for _, n := range root.always {
			if n.hasFallback {
				return n.fallback, true
			}
		}
	}
	return nil, false
}

// completion names a map whose missing keys were filled in.
type completion struct {
	tree  uintptr
	roots string
}

// complete returns a map with the defaults that apply whatever form a union
// takes: they may be what decides about the form. The same map gives the same
// result, so that the forms that were tried on it stay known.
func (r *run) complete(roots, applied []*node, tree map[string]any) map[string]any {
	key := completion{tree: reflect.ValueOf(tree).Pointer()}
	var id strings.Builder
	for _, n := range roots {
		id.WriteString(strconv.Itoa(n.id) + " ")
	}
	key.roots = id.String()
	if known := r.completed[key]; known != nil {
		return known
	}
	full := tree
	for _, n := range applied {
		for _, p := range n.properties {
			if _, present := full[p.name]; present {
				continue
			}
			if value, has := fallbackOf(childrenOf(applied, p.name)); has {
				if len(full) == len(tree) {
					full = maps.Clone(tree)
				}
				if full == nil {
					full = map[string]any{}
				}
				full[p.name] = value
			}
		}
	}
	if r.completed == nil {
		r.completed = map[completion]map[string]any{}
	}
	r.completed[key] = full
	return full
}
