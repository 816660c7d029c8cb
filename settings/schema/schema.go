package schema

import (
	"sync"

	"hardshell/internal/fault"
)

// Schema is what a section may hold. It is immutable, safe for concurrent use,
// and every rule of it has been understood: a document with a rule that this
// package does not know is refused, so that no secret is missed.
type Schema struct {
	root     *node
	places   *place // of the root
	bySource map[*object]*node
	defs     *object // the definitions of the document
	byRef    map[string]*node

	document, wire func() []byte
}

// Parse returns the schema that a JSON Schema document describes. What it cannot
// prove is an error with the code SETTINGS_INVALID that names the keyword and
// its place in the document, and nothing else of it. A document is refused too
// when its root admits no object, when a default does not satisfy its own schema,
// and when its defaults, secrets or unions multiply beyond reason.
func Parse(doc []byte) (*Schema, error) {
	source, err := readOrdered(doc)
	if err != nil {
		return nil, fault.New(fault.SettingsInvalid, "the schema cannot be read: %s", err)
	}
	return build(source)
}

// build compiles an ordered document.
func build(source any) (*Schema, error) {
	c := compiler{bySource: map[*object]*node{}, byRef: map[string]*node{}}
	root, err := c.document(source)
	if err != nil {
		return nil, err
	}
	s := &Schema{root: root, bySource: c.bySource, defs: c.defs, byRef: c.byRef}
	if s.places, err = placesOf(root); err != nil {
		return nil, err
	}
	markForWire(c.nodes, s.root, s.places)
	if err := s.proveDefaults(c.nodes); err != nil {
		return nil, err
	}
	if err := s.proveSlots(); err != nil {
		return nil, err
	}
	s.document = sync.OnceValue(func() []byte {
		return appendOrdered(nil, source, func(*object, string) bool { return false })
	})
	s.wire = sync.OnceValue(func() []byte { return appendOrdered(nil, source, s.stays) })
	return s, nil
}

// Document returns the schema as compact JSON, keys in the order in which they
// were given. Equal documents give equal bytes. It may contain the default value
// of a secret: it stays in the process.
func (s *Schema) Document() []byte { return append([]byte(nil), s.document()...) }

// WireDocument returns the schema as Document does, fit to leave the process.
// At and below a secret default, const, enum, examples, $comment, x-dsh-ui,
// x-dsh-i18n, x-dsh-link and fixed sets of labelled constants are gone; above one, examples and every default,
// const or enum that is or has a filled container. Definitions that nothing refers
// to stay behind, as nothing is known about where they would apply.
func (s *Schema) WireDocument() []byte { return append([]byte(nil), s.wire()...) }

// stays reports whether a keyword stays behind when the document leaves.
func (s *Schema) stays(o *object, keyword string) bool {
	if o == s.defs {
		return !s.byRef["#/$defs/"+escape(keyword)].used
	}
	n := s.bySource[o]
	if n == nil || !n.bare && !n.holds {
		return false
	}
	switch keyword {
	case "examples":
		return true
	case "$comment", "x-dsh-ui", "x-dsh-i18n", "x-dsh-link":
		return n.bare
	case "default", "const":
		value, _ := o.get(keyword)
		return n.bare || filled(value)
	case "anyOf", "oneOf":
		// Without their constants the branches of a fixed set would be all alike, and
		// a client that checks oneOf would accept nothing.
		return n.bare && n.fixed(keyword)
	case "enum":
		value, _ := o.get(keyword)
		values, _ := value.([]any)
		for _, v := range values {
			if filled(v) {
				return true
			}
		}
		return n.bare
	default:
		return false
	}
}

// fixed reports whether a union of the node is a fixed set of values.
func (n *node) fixed(keyword string) bool {
	for _, u := range n.unions {
		if u.keyword == keyword {
			return u.choices != nil
		}
	}
	return false
}

// filled reports whether an ordered value is a container of anything.
func filled(value any) bool {
	switch v := value.(type) {
	case *object:
		return len(v.keys) > 0
	case []any:
		return len(v) > 0
	default:
		return false
	}
}

// markForWire notes which schemas are in use at all, and which apply at, below or
// above a secret.
func markForWire(nodes []*node, root *node, places *place) {
	var use func(n *node)
	use = func(n *node) {
		if n.used {
			return
		}
		n.used = true
		for _, part := range n.parts() {
			use(part)
		}
	}
	use(root)
	var bare func(n *node)
	bare = func(n *node) {
		if n.bare {
			return
		}
		n.bare = true
		for _, part := range n.parts() {
			bare(part)
		}
	}
	above := make([][]*node, len(nodes))
	for _, n := range nodes {
		for _, part := range n.parts() {
			above[part.id] = append(above[part.id], n)
		}
	}
	var holds func(n *node)
	holds = func(n *node) {
		if n.holds {
			return
		}
		n.holds = true
		for _, whole := range above[n.id] {
			holds(whole)
		}
	}
	for _, n := range nodes {
		if n.secret {
			bare(n)
			holds(n)
		}
	}
	places.each(func(p *place) {
		for _, n := range p.nodes {
			if p.secret {
				bare(n)
			}
			if p.holds {
				n.holds = true
			}
		}
	})
}
