package schema

import (
	"strconv"

	"hardshell/internal/fault"
)

// place is everything that a document's schemas can say about the data at one
// place of a section, whichever branches of its unions are in force. Places form
// a deterministic automaton whose steps are keys and indexes. They answer what
// must hold in every case: what is secret, what may be null.
type place struct {
	nodes  []*node
	secret bool
	holds  bool  // a secret is here or below
	admits kinds // at least what the schemas let through
	exact  kinds // what schemas name; none when none names any

	names    []string // keys with schemas of their own, in the order of the document
	named    map[string]*place
	other    *place // of other keys; nil when they are not declared
	freeKeys bool   // no schema names keys: any key is data
	required map[string]bool

	prefix    []*place
	rest      *place // of items behind the prefix; nil when they are not declared
	freeItems bool
}

// key is the place of the value of a key; nil when the key is not declared. At a
// place with secrets a schema that lets everything through declares nothing.
func (p *place) key(name string) *place {
	if child := p.named[name]; child != nil {
		return child
	}
	if p.other != nil && p.holds && p.other.vague() {
		return nil
	}
	return p.other
}

// item is the place of an item; nil when it is not declared.
func (p *place) item(index int) *place {
	if index < len(p.prefix) {
		return p.prefix[index]
	}
	if p.rest != nil && p.holds && p.rest.vague() {
		return nil
	}
	return p.rest
}

// vague reports whether nothing at all is said about the data.
func (p *place) vague() bool { return p.exact == 0 && !p.holds }

// shows reports whether data of a kind is what the place is declared for, so
// that it may be shown. Where a secret could be, only what a schema names is.
func (p *place) shows(kind kinds) bool {
	if p.holds && kind&p.exact == 0 {
		return false
	}
	return kind&p.admits != 0
}

// each calls visit with p and every place below it, once.
func (p *place) each(visit func(*place)) {
	seen := map[*place]bool{}
	var walk func(*place)
	walk = func(at *place) {
		if at == nil || seen[at] {
			return
		}
		seen[at] = true
		visit(at)
		at.below(walk)
	}
	walk(p)
}

// below calls visit with the places one step below.
func (p *place) below(visit func(*place)) {
	for _, name := range p.names {
		visit(p.named[name])
	}
	for _, item := range p.prefix {
		visit(item)
	}
	for _, one := range []*place{p.other, p.rest} {
		if one != nil {
			visit(one)
		}
	}
}

// maxPlaces bounds the automaton.
const maxPlaces = 8192

// surveyor builds places. A place is known by the schemas that apply to its data
// for certain and those that may.
type surveyor struct {
	known map[string]*place
	all   []*place
	todo  []func()
}

// placesOf returns the place of the root.
func placesOf(root *node) (*place, error) {
	s := surveyor{known: map[string]*place{}}
	first := s.at(root.self, nil)
	for len(s.todo) > 0 {
		next := s.todo[0]
		s.todo = s.todo[1:]
		next()
		if len(s.all) > maxPlaces {
			return nil, fault.New(fault.SettingsInvalid,
				"the schema is not valid: its unions combine into more than %d cases; make it simpler", maxPlaces)
		}
	}
	for changed := true; changed; {
		changed = false
		for i := len(s.all) - 1; i >= 0; i-- {
			p := s.all[i]
			holds := p.holds || p.secret
			p.below(func(child *place) { holds = holds || child.holds })
			if holds != p.holds {
				p.holds, changed = true, true
			}
		}
	}
	return first, nil
}

// at returns the place where the schemas of certain apply and those of possible
// may.
func (s *surveyor) at(certain, possible []*node) *place {
	if len(certain)+len(possible) == 0 {
		return nil
	}
	id := make([]byte, 0, 16)
	for _, n := range certain {
		id = append(strconv.AppendInt(id, int64(n.id), 36), ' ')
	}
	id = append(id, '?')
	for _, n := range possible {
		id = append(strconv.AppendInt(id, int64(n.id), 36), ' ')
	}
	if p := s.known[string(id)]; p != nil {
		return p
	}
	p := &place{}
	s.known[string(id)] = p
	s.all = append(s.all, p)
	var always, maybe set
	if len(certain) == 1 && len(possible) == 0 && len(certain[0].everywhere) == 1 {
		always.nodes = certain
	} else {
		for _, n := range certain {
			always.add(n.always...)
		}
		for _, n := range append(certain[:len(certain):len(certain)], possible...) {
			for _, m := range n.everywhere {
				if !always.has(m) {
					maybe.add(m)
				}
			}
		}
	}
	p.admits = anything
	for _, n := range certain {
		p.admits &= n.admits
	}
	if len(certain) == 0 {
		p.admits = 0
		for _, n := range possible {
			p.admits |= n.admits
		}
	}
	p.nodes = append(always.nodes[:len(always.nodes):len(always.nodes)], maybe.nodes...)
	p.freeKeys, p.freeItems = true, true
	for _, n := range p.nodes {
		p.secret = p.secret || n.secret
		p.exact |= n.exact
		p.freeKeys = p.freeKeys && !n.namesKeys()
		p.freeItems = p.freeItems && !n.namesItems()
	}
	if !p.secret && (!p.freeKeys || !p.freeItems) {
		s.todo = append(s.todo, func() { s.below(p, always.nodes, maybe.nodes) })
	}
	return p
}

// below finds the places one step below p.
func (s *surveyor) below(p *place, always, maybe []*node) {
	step := func(of func(*node) *node) *place {
		if len(always) == 1 && len(maybe) == 0 {
			if child := of(always[0]); child != nil {
				return s.at(child.self, nil)
			}
			return nil
		}
		var certain, possible set
		for _, n := range always {
			if child := of(n); child != nil {
				certain.add(child)
			}
		}
		for _, n := range maybe {
			if child := of(n); child != nil && !certain.has(child) {
				possible.add(child)
			}
		}
		return s.at(certain.nodes, possible.nodes)
	}
	for _, n := range p.nodes {
		for _, one := range n.properties {
			if p.named[one.name] != nil {
				continue
			}
			if p.named == nil {
				p.named = make(map[string]*place, len(n.properties))
			}
			p.names = append(p.names, one.name)
			p.named[one.name] = step(func(n *node) *node { return n.child(one.name) })
		}
	}
	for _, n := range always {
		for _, name := range n.required {
			if p.required == nil {
				p.required = map[string]bool{}
			}
			p.required[name] = true
		}
	}
	p.other = step(func(n *node) *node { return n.additional })
	longest := 0
	for _, n := range p.nodes {
		longest = max(longest, len(n.prefix))
	}
	for i := range longest {
		p.prefix = append(p.prefix, step(func(n *node) *node { return n.item(i) }))
	}
	p.rest = step(func(n *node) *node { return n.items })
}
