package schema

import (
	"slices"

	"hardshell/internal/jsontree"
)

// Origin says which layer a value comes from.
type Origin string

// The layers, from the lowest to the highest.
const (
	FromDefault Origin = "default" // the schema
	FromBase    Origin = "base"    // the composition
	FromUser    Origin = "user"    // the document of the user
)

// Resolved is a section made of its layers. The caller owns all of it.
type Resolved struct {
	// Value is the section as its owner gets it: declared keys only, defaults
	// filled in. When there are Problems it is of use to nobody.
	Value map[string]any
	// Origin is the layer of every leaf of Value by its path: scalars, lists,
	// empty maps, and whatever stands at a secret place.
	Origin map[string]Origin
	// Unknown are the paths of the user's keys that no schema in force declares,
	// sorted. Nothing below a secret is named.
	Unknown []string
	// Problems are all violations, in the order of the schema.
	Problems []Problem
	// Ignored are the user's nulls where none is allowed. They count as absent.
	Ignored []Problem
}

// Resolve lays user over base over the defaults of the schema and checks the
// result. Base and user are trees: maps, or nil when there is no such layer;
// neither is changed or kept. A null of base is checked as any other data. Resolve
// never fails: see Problems.
func (s *Schema) Resolve(base, user any) Resolved {
	resolved := Resolved{Value: map[string]any{}, Origin: map[string]Origin{}}
	for _, given := range []*any{&base, &user} {
		if _, isMap := (*given).(map[string]any); !isMap && *given != nil {
			resolved.Problems = append(resolved.Problems, Problem{"$", "type", "must be a map of settings"})
			*given = nil
		}
	}
	user, resolved.Ignored = s.withoutNulls(user)
	merged := user
	switch {
	case user == nil && base == nil:
		merged = map[string]any{}
	case user == nil:
		merged = base
	case base != nil:
		merged = jsontree.Merge(base, user)
	}
	r := run{limit: maxSteps}
	value := r.location(s.root.self, spot{value: merged, user: user, place: s.places})
	if r.over {
		r.problems = append(r.problems, Problem{"$", "complexity", "is too large to be checked; make it smaller"})
	}
	resolved.Value, _ = value.(map[string]any)
	if resolved.Value == nil {
		resolved.Value = map[string]any{}
	}
	resolved.Problems = append(resolved.Problems, r.problems...)
	slices.Sort(r.unknown)
	resolved.Unknown = slices.Compact(r.unknown)
	origins(resolved.Origin).add(s.places, resolved.Value, "$", layer{base, base != nil}, layer{user, user != nil})
	return resolved
}

// layer is what a layer has at one place.
type layer struct {
	value any
	has   bool
}

func (l layer) down(key string) layer {
	if tree, isMap := l.value.(map[string]any); isMap {
		value, has := tree[key]
		return layer{value, has}
	}
	return layer{}
}

// origins are the layers of leaves by path.
type origins map[string]Origin

// add finds the layers of a value. It is a leaf when it has no parts, or none that
// may be named.
func (o origins) add(p *place, value any, at string, base, user layer) {
	tree, isMap := value.(map[string]any)
	opaque := p != nil && (p.secret || p.holds && !p.shows(kindOf(value)))
	if !isMap || opaque || len(tree) == 0 && at != "$" {
		o.leaf(at, base, user)
		return
	}
	for key, child := range tree {
		path := at + jsontree.Path{key}.String()[1:]
		var below *place
		if p != nil {
			below = p.key(key)
		}
		if p != nil && p.holds && below == nil {
			o.leaf(path, base.down(key), user.down(key))
			continue
		}
		o.add(below, child, path, base.down(key), user.down(key))
	}
}

func (o origins) leaf(at string, base, user layer) {
	switch {
	case user.has:
		o[at] = FromUser
	case base.has:
		o[at] = FromBase
	default:
		o[at] = FromDefault
	}
}
