package schema

import (
	"encoding/json"
	"regexp"
	"slices"
)

// node is one schema of a document, compiled: what it says itself about the data
// that it is applied to.
type node struct {
	id     int
	at     string  // where in the document: "#/properties/a"
	source *object // nil for true and false
	self   []*node // the node alone

	never bool  // the schema false
	types kinds // anything when nothing is said

	properties []property
	byName     map[string]*node
	required   []string
	additional *node // nil when other keys are not declared
	closed     bool  // "additionalProperties": false
	keyPattern *regexp.Regexp

	items              *node
	prefix             []*node
	minItems, maxItems int // -1 when nothing is said
	unique             bool

	enum     []any
	hasEnum  bool
	constant any
	hasConst bool

	minimum, maximum, above, below, multipleOf json.Number // "" when nothing is said
	minLength, maxLength                       int         // -1 when nothing is said
	pattern                                    *regexp.Regexp

	ref    *node
	allOf  []*node
	unions []union

	fallback    any // the tree of "default"
	hasFallback bool

	title, description string
	deprecated         bool
	secret             bool
	reference          bool // a Text

	always     []*node // the node and what applies with it to the same data
	everywhere []*node // the same, with every branch of every union
	admits     kinds   // what the node and all that applies with it let through
	exact      kinds   // what the node alone names; none when it names nothing

	used  bool // something leads here from the root
	bare  bool // at or below a secret: the wire gets no values of the document
	holds bool // a secret is somewhere below: the wire gets no containers of values
}

type property struct {
	name string
	node *node
}

// union is anyOf or oneOf.
type union struct {
	keyword   string
	branches  []*node
	exclusive bool
	choices   []Choice // instead of branches: every one is a constant
}

// Choice is one value of a fixed set.
type Choice struct {
	// Value is the value as a tree; "" in a listing of a secret.
	Value any
	// Label is what a person is shown for it; "" when it has no other name.
	Label string
}

// child is what the node says about the value of a key; nil when nothing.
func (n *node) child(key string) *node {
	if named := n.byName[key]; named != nil {
		return named
	}
	return n.additional
}

// item is what the node says about an item of a list; nil when nothing.
func (n *node) item(index int) *node {
	if index < len(n.prefix) {
		return n.prefix[index]
	}
	return n.items
}

// namesKeys reports whether the node declares what keys there are.
func (n *node) namesKeys() bool {
	return len(n.properties) > 0 || n.additional != nil || n.closed
}

// namesItems reports whether the node says anything about items.
func (n *node) namesItems() bool { return n.items != nil || len(n.prefix) > 0 }

// parts are all schemas that the node consists of or refers to.
func (n *node) parts() []*node {
	var parts []*node
	for _, p := range n.properties {
		parts = append(parts, p.node)
	}
	for _, one := range []*node{n.additional, n.items, n.ref} {
		if one != nil {
			parts = append(parts, one)
		}
	}
	parts = append(append(parts, n.prefix...), n.allOf...)
	for _, u := range n.unions {
		parts = append(parts, u.branches...)
	}
	return parts
}

// finish computes what follows from a node and those that apply with it. It
// reports false when the node applies to its own data again without end.
func (n *node) finish(state []uint8) bool {
	const running, done = 1, 2
	switch state[n.id] {
	case running:
		return false
	case done:
		return true
	}
	state[n.id] = running
	together := slices.Clone(n.allOf)
	if n.ref != nil {
		together = append([]*node{n.ref}, together...)
	}
	n.admits = n.types
	if n.never {
		n.admits = 0
	}
	if n.hasConst {
		n.admits &= kindOf(n.constant)
	}
	if n.hasEnum {
		n.admits &= kindsOf(n.enum)
	}
	if len(together) == 0 && len(n.unions) == 0 {
		n.always, n.everywhere, n.exact, state[n.id] = n.self, n.self, n.names(), done
		return true
	}
	always, everywhere := set{}, set{}
	always.add(n)
	everywhere.add(n)
	for _, other := range together {
		if !other.finish(state) {
			return false
		}
		n.admits &= other.admits
		always.add(other.always...)
		everywhere.add(other.everywhere...)
	}
	for _, u := range n.unions {
		var either kinds
		for _, branch := range u.branches {
			if !branch.finish(state) {
				return false
			}
			either |= branch.admits
			everywhere.add(branch.everywhere...)
		}
		n.admits &= either
	}
	n.always, n.everywhere = always.nodes, everywhere.nodes
	n.exact = n.names()
	state[n.id] = done
	return true
}

// names are the kinds that the node itself speaks of.
func (n *node) names() kinds {
	switch {
	case n.hasConst:
		return kindOf(n.constant)
	case n.hasEnum:
		return kindsOf(n.enum)
	case n.types != anything:
		return n.types
	}
	var spoken kinds
	if n.namesKeys() || len(n.required) > 0 || n.keyPattern != nil {
		spoken |= mapping
	}
	if n.namesItems() || n.minItems >= 0 || n.maxItems >= 0 || n.unique {
		spoken |= list
	}
	if n.minLength >= 0 || n.maxLength >= 0 || n.pattern != nil || n.reference {
		spoken |= text
	}
	if n.minimum+n.maximum+n.above+n.below+n.multipleOf != "" {
		spoken |= number
	}
	return spoken
}

func kindsOf(values []any) kinds {
	var all kinds
	for _, v := range values {
		all |= kindOf(v)
	}
	return all
}

// set is a set of nodes in the order in which they came.
type set struct {
	nodes []*node
	index map[*node]bool // once there are many
}

const fewNodes = 8

func (s *set) has(n *node) bool {
	if s.index == nil {
		return slices.Contains(s.nodes, n)
	}
	return s.index[n]
}

func (s *set) add(nodes ...*node) {
	for _, n := range nodes {
		if s.has(n) {
			continue
		}
		s.nodes = append(s.nodes, n)
		switch {
		case s.index != nil:
			s.index[n] = true
		case len(s.nodes) > fewNodes:
			s.index = make(map[*node]bool, 2*len(s.nodes))
			for _, one := range s.nodes {
				s.index[one] = true
			}
		}
	}
}
