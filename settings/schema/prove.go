package schema

import (
	"hardshell/internal/fault"
)

// Bounds of what a schema is allowed to multiply by itself.
const (
	maxDefaultSteps = 50_000
	maxSlots        = 1000
)

// proveDefaults checks that every default satisfies its own schema, and that
// defaults come to an end.
func (s *Schema) proveDefaults(nodes []*node) error {
	steps := 0
	for _, n := range nodes {
		if !n.hasFallback {
			continue
		}
		r := run{limit: maxDefaultSteps - steps}
		r.location(n.self, spot{value: n.fallback, hidden: n.bare || n.holds})
		if steps += r.steps; r.over || steps > maxDefaultSteps {
			return refuse(n.at, "default", "leads to defaults without end, or far too many")
		}
		if len(r.problems) > 0 {
			p := r.problems[0]
			return refuse(n.at, "default", "does not satisfy its schema: "+p.Path+" "+p.Message)
		}
	}
	r := run{limit: maxDefaultSteps}
	if r.location(s.root.self, spot{value: map[string]any{}, hidden: true}); r.over {
		return refuse("#", "default", "leads to defaults without end, or far too many")
	}
	return nil
}

// proveSlots checks that the secrets of an empty section can be listed.
func (s *Schema) proveSlots() error {
	r := redactor{limit: maxDefaultSteps}
	r.at(s.places, nil, false, nil)
	if r.steps > r.limit || len(r.slots) > maxSlots {
		return fault.New(fault.SettingsInvalid, "the schema is not valid: it has more than %d secrets", maxSlots)
	}
	return nil
}
