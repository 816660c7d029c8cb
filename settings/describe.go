package settings

import (
	"encoding/json"
	"slices"

	"hardshell/internal/jsontree"
	"hardshell/settings/schema"
)

// Descriptor is a registered namespace as a surface for people needs it. All of
// it belongs to the caller.
type Descriptor struct {
	NS Namespace `json:"ns"`
	// Schema is a JSON Schema document of the 2020-12 edition.
	Schema json.RawMessage `json:"schema"`
	// Value is the value in force.
	Value any `json:"value"`
	// Base is the layer of the composition, nil when there is none.
	Base any `json:"base,omitempty"`
	// User is the raw section, nil when there is none that is a map. A key in it is
	// what makes a setting the user's own, whatever its value.
	User any `json:"user,omitempty"`
	// Origin is the layer of every leaf of Value, by its path.
	Origin map[string]schema.Origin `json:"origin"`
	// Unknown are the paths of the keys in User that nobody declares.
	Unknown []string `json:"unknown"`
	Applies Applies  `json:"applies"`
	// Revision is that of the section: see ExpectRevision.
	Revision uint64 `json:"revision"`
	// Secrets are the places of secrets; only in a descriptor made for the wire.
	Secrets []schema.Slot `json:"secrets,omitempty"`
	// Ignored are the user's nulls that count as absent.
	Ignored []schema.Problem `json:"ignored,omitempty"`
	// Problems say why the section is not in force, when it is not: Value is the
	// last good one then.
	Problems []schema.Problem `json:"problems,omitempty"`
}

// Describe returns all namespaces in the order of their registration, as they
// are: with secrets, and with what the user wrote under undeclared keys. It must
// not leave the process.
func (s *Service) Describe() []Descriptor {
	return s.describe(func(r *registration, now *state) Descriptor {
		d := now.descriptor(r)
		d.Schema = r.schema.Document()
		d.Value = jsontree.Clone(now.value)
		d.Base = jsontree.Clone(r.base)
		if user, ok := now.section.Data.(map[string]any); ok {
			d.User = jsontree.Clone(user)
		}
		return d
	})
}

// DescribeForWire returns all namespaces in the order of their registration, fit
// to leave the process: no secret, no undeclared value, nothing that stands where
// a secret could be and has not the declared shape.
func (s *Service) DescribeForWire() []Descriptor {
	return s.describe(func(r *registration, now *state) Descriptor {
		d := now.descriptor(r)
		d.Schema = r.schema.WireDocument()
		d.Value, d.Secrets = r.schema.Redact(now.value)
		layers := []any{r.base}
		if user, ok := now.section.Data.(map[string]any); ok {
			layers = append(layers, user)
			d.User, _ = r.schema.Redact(user)
		}
		if r.base != nil {
			d.Base, _ = r.schema.Redact(r.base)
		}
		// The value shows which secrets are set. A layer that does not resolve may
		// have broken ones besides.
		for _, layer := range layers {
			_, slots := r.schema.Redact(layer)
			for _, slot := range slots {
				known := slices.ContainsFunc(d.Secrets, func(other schema.Slot) bool { return slices.Equal(other.Path, slot.Path) })
				if slot.Malformed && !known {
					d.Secrets = append(d.Secrets, slot)
				}
			}
		}
		return d
	})
}

// describe makes descriptors of one moment, outside the lock.
func (s *Service) describe(of func(*registration, *state) Descriptor) []Descriptor {
	s.mu.Lock()
	order := slices.Clone(s.order)
	states := make([]*state, len(order))
	for i, r := range order {
		states[i] = r.state
	}
	s.mu.Unlock()
	descriptors := make([]Descriptor, len(order))
	for i, r := range order {
		descriptors[i] = of(r, states[i])
	}
	return descriptors
}

// descriptor is the part that every face gets.
func (now *state) descriptor(r *registration) Descriptor {
	d := Descriptor{
		NS: r.ns, Applies: r.applies, Revision: now.section.Revision,
		Origin:   make(map[string]schema.Origin, len(now.origin)),
		Unknown:  append([]string{}, now.unknown...),
		Ignored:  slices.Clone(now.ignored),
		Problems: slices.Clone(now.refused),
	}
	for path, origin := range now.origin {
		d.Origin[path] = origin
	}
	return d
}
