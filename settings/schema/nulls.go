package schema

import (
	"maps"
	"slices"
)

// nullRule is what is said about a null where none is allowed.
const nullRule = "must not be null; remove the key to inherit its value"

// ValidateWrite reports every null of a section where the schema allows none, and
// a section that is no map. A stored section may have such nulls, by Resolve they
// count as absent; a write may not. All other rules hold for the resolved value:
// a caller that writes checks Resolve(base, user).Problems, too.
func (s *Schema) ValidateWrite(user any) []Problem {
	if _, isMap := user.(map[string]any); !isMap {
		return []Problem{{"$", "type", "must be a map of settings"}}
	}
	f := nullFinder{items: true}
	f.find(s.places, user, nil)
	return f.found
}

// withoutNulls returns a section without the keys that are null where that is not
// allowed, and where they were. The section itself is not changed.
func (s *Schema) withoutNulls(user any) (any, []Problem) {
	if user == nil {
		return nil, nil
	}
	f := nullFinder{}
	cleaned, _ := f.find(s.places, user, nil)
	return cleaned, f.found
}

// nullFinder looks for nulls that are not allowed. What is below a secret it
// leaves to the rules of the schema.
type nullFinder struct {
	items bool // report null items of lists, too
	found []Problem
}

// find returns value without such nulls, and whether that differs from value.
func (f *nullFinder) find(p *place, value any, at *trail) (any, bool) {
	if p == nil || p.secret {
		return value, false
	}
	switch v := value.(type) {
	case map[string]any:
		cleaned, changed := v, false
		change := func() {
			if !changed {
				cleaned, changed = maps.Clone(v), true
			}
		}
		for _, key := range sortedKeys(v) {
			child := p.key(key)
			if v[key] == nil && child != nil && child.admits&null == 0 {
				f.found = append(f.found, Problem{at.down(key).String(), "type", nullRule})
				change()
				delete(cleaned, key)
			} else if next, differs := f.find(child, v[key], at.down(key)); differs {
				change()
				cleaned[key] = next
			}
		}
		return cleaned, changed
	case []any:
		cleaned, changed := v, false
		for i, item := range v {
			child := p.item(i)
			if item == nil && child != nil && child.admits&null == 0 {
				if f.items {
					f.found = append(f.found, Problem{at.item(i).String(), "type", "must not be null; remove the item"})
				}
			} else if next, differs := f.find(child, item, at.item(i)); differs {
				if !changed {
					cleaned, changed = slices.Clone(v), true
				}
				cleaned[i] = next
			}
		}
		return cleaned, changed
	default:
		return value, false
	}
}

// sortedKeys are the keys of a map in a fixed order.
func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
