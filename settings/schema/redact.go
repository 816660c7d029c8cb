package schema

import (
	"slices"
	"strconv"

	"hardshell/internal/jsontree"
)

// Slot is a place where a secret is, or can be set.
type Slot struct {
	// Path are the keys that lead there; the index of an item in decimal.
	Path []string `json:"path"`
	// Set says that there is a value. Null counts where the schema allows it, an
	// empty string always.
	Set bool `json:"set"`
	// Malformed says that something stands where secrets are declared that does
	// not have the shape to hold them. It may be one itself, so it is not shown.
	Malformed bool `json:"malformed,omitempty"`
}

// Redact returns a tree as it may leave the process, and the slots of its
// secrets: those of declared keys in the order of the schema, set or not, those
// of entries and items that are present. The tree is a layer of a section or its
// value, valid or not; nil stays nil.
//
// Secrets are absent from the result; as items of lists they are null, so that
// indexes hold. Undeclared keys are absent. Data of a kind that is not declared
// for its place is null. The result shares nothing with the tree.
func (s *Schema) Redact(tree any) (any, []Slot) {
	r := redactor{limit: maxSteps}
	shown, _ := r.at(s.places, tree, tree != nil, nil)
	return shown, r.slots
}

// Secret reports whether a path is a secret, is below one, or leads to data that
// may contain one. It is true as well for an undeclared path, about which nothing
// is known.
func (s *Schema) Secret(path jsontree.Path) bool {
	p := s.places
	for _, key := range path {
		if p.secret {
			return true
		}
		next := p.key(key)
		if next == nil {
			return p.holds || !p.freeKeys
		}
		p = next
	}
	return p.secret || p.holds
}

// redactor is one redaction.
type redactor struct {
	slots []Slot
	// within are the places of the absent data that is being described: a schema
	// may contain itself.
	within       []*place
	steps, limit int
}

// at returns what may be shown of the data at a place, and whether anything is.
func (r *redactor) at(p *place, value any, present bool, path []string) (any, bool) {
	if r.steps++; r.steps > r.limit {
		return nil, false
	}
	switch {
	case p.secret:
		r.slot(path, present && (value != nil || p.admits&null != 0), false)
		return nil, false
	case value == nil:
		r.absent(p, path)
		return nil, present
	case !p.shows(kindOf(value)) || len(path) > maxDepth:
		if p.holds {
			r.slot(path, true, true)
		}
		return nil, true
	}
	switch v := value.(type) {
	case map[string]any:
		return r.mapping(p, v, path), true
	case []any:
		shown := make([]any, len(v))
		for i, item := range v {
			if child := p.item(i); child != nil {
				shown[i], _ = r.at(child, item, true, step(path, strconv.Itoa(i)))
			} else if p.freeItems && !p.holds {
				shown[i] = jsontree.Clone(item)
			}
		}
		return shown, true
	default:
		return value, true
	}
}

func (r *redactor) mapping(p *place, m map[string]any, path []string) any {
	shown := make(map[string]any, len(m))
	entry := func(key string, child *place) {
		value, present := m[key]
		if next, shows := r.at(child, value, present, step(path, key)); shows {
			shown[key] = next
		}
	}
	for _, key := range p.names {
		entry(key, p.named[key])
	}
	for _, key := range sortedKeys(m) {
		if p.named[key] != nil {
			continue
		}
		if child := p.key(key); child != nil {
			entry(key, child)
		} else if p.freeKeys && !p.holds {
			shown[key] = jsontree.Clone(m[key])
		}
	}
	return shown
}

// absent lists the slots of declared keys below data that is not there.
func (r *redactor) absent(p *place, path []string) {
	if !p.holds || slices.Contains(r.within, p) {
		return
	}
	r.within = append(r.within, p)
	for _, key := range p.names {
		r.at(p.named[key], nil, false, step(path, key))
	}
	r.within = r.within[:len(r.within)-1]
}

func (r *redactor) slot(path []string, set, malformed bool) {
	r.slots = append(r.slots, Slot{append([]string{}, path...), set, malformed})
}

// step is a path and one step more, in memory of its own.
func step(path []string, key string) []string {
	return append(path[:len(path):len(path)], key)
}
