package schema

import (
	"slices"
	"strconv"
	"strings"

	"hardshell/internal/jsontree"
)

// Key describes one setting for tables and documentation.
type Key struct {
	// Path is where it stands in its section: limits.timeoutMs. The keys of a map
	// are "*", items of a list "[]": routes.*.models[].name.
	Path string
	// Title is its name for people; "" when it has none.
	Title string
	// Type says in words what it holds: "integer", "list of strings".
	Type string
	// Default is its default as JSON; "" when there is none, or it is a secret.
	Default string
	// Description is what it does.
	Description string
	// Enum are the values that it may have, when they are a fixed set. A secret
	// has none here.
	Enum []Choice
	// Range are its bounds in words: "1 to 10", "at most 64 characters".
	Range string
	// Required says that there is no value without a layer that gives one.
	Required bool
	// Secret says that it is write-only.
	Secret bool
	// Deprecated says that it should not be used any more.
	Deprecated bool
}

// Keys lists the settings of the schema in its order: a container, then what is
// in it. It ends where a schema contains itself. Nothing of it is private.
func (s *Schema) Keys() []Key {
	l := lister{}
	l.below(s.places, "")
	return l.keys
}

// maxKeys bounds a listing: schemas that refer to each other can multiply.
const maxKeys = 10_000

type lister struct {
	keys   []Key
	within []*place
}

func (l *lister) add(p *place, path string, required bool) {
	if len(l.keys) >= maxKeys {
		return
	}
	l.keys = append(l.keys, keyAt(p, path, required))
	if !p.secret {
		l.below(p, path)
	}
}

func (l *lister) below(p *place, path string) {
	if slices.Contains(l.within, p) {
		return
	}
	l.within = append(l.within, p)
	for _, name := range p.names {
		step := jsontree.Path{name}.String()[1:]
		if path == "" {
			step = strings.TrimPrefix(step, ".")
		}
		l.add(p.named[name], path+step, p.required[name])
	}
	for i, item := range p.prefix {
		if !item.vague() {
			l.add(item, path+"["+strconv.Itoa(i)+"]", false)
		}
	}
	for _, part := range []struct {
		place *place
		step  string
	}{{p.other, ".*"}, {p.rest, "[]"}} {
		switch {
		case part.place == nil || part.place.vague():
		case part.place.secret:
			l.add(part.place, strings.TrimPrefix(path+part.step, "."), false)
		default:
			// The items of a list of plain values are told by its own type.
			l.below(part.place, strings.TrimPrefix(path+part.step, "."))
		}
	}
	l.within = l.within[:len(l.within)-1]
}

// keyAt describes a place by all that its schemas say.
func keyAt(p *place, path string, required bool) Key {
	k := Key{Path: path, Type: p.phrase(0), Required: required, Secret: p.secret}
	var ranges []string
	for _, n := range p.nodes {
		if k.Title == "" && !p.choice(n) {
			k.Title = n.title
		}
		if k.Description == "" && !p.choice(n) {
			k.Description = n.description
		}
		k.Deprecated = k.Deprecated || n.deprecated && !p.choice(n)
		if r := n.bounds(p.secret); r != "" && !slices.Contains(ranges, r) {
			ranges = append(ranges, r)
		}
		if p.secret {
			continue
		}
		if n.hasFallback && k.Default == "" && (!n.holds || !hasParts(n.fallback)) {
			k.Default = string(jsontree.Encode(n.fallback))
		}
		for _, v := range n.enum {
			k.Enum = appendChoice(k.Enum, Choice{Value: jsontree.Clone(v)})
		}
		if n.hasConst {
			k.Enum = appendChoice(k.Enum, Choice{jsontree.Clone(n.constant), n.title})
		}
	}
	if p.holds {
		k.Enum = slices.DeleteFunc(k.Enum, func(c Choice) bool { return hasParts(c.Value) })
	}
	k.Range = strings.Join(ranges, ", ")
	return k
}

// choice reports whether a schema is one value of a fixed set: its title is that
// of the value.
func (p *place) choice(n *node) bool { return n.hasConst && len(p.nodes) > 1 }

func appendChoice(choices []Choice, one Choice) []Choice {
	for _, c := range choices {
		if jsontree.Equal(c.Value, one.Value) {
			return choices
		}
	}
	return append(choices, one)
}

// hasParts reports whether a tree is a container of anything.
func hasParts(tree any) bool {
	switch v := tree.(type) {
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	default:
		return false
	}
}

// phrase says what data a place has: "integer", "map of lists of strings".
func (p *place) phrase(depth int) string {
	admitted := p.admits
	if admitted == anything {
		return "anything"
	}
	var words []string
	add := func(kind kinds, word string) {
		if admitted&kind == kind {
			words = append(words, word)
			admitted &^= kind
		}
	}
	add(text, "string")
	add(number, "number")
	add(integer, "integer")
	add(fraction, "number")
	add(boolean, "true or false")
	inner := func(whole string, part *place) string {
		switch {
		case part == nil || depth > 2 || part.admits == anything && !part.secret:
			return whole
		case part.secret:
			return whole + " of secrets"
		}
		return whole + " of " + part.plural(depth+1)
	}
	add(list, inner("list", p.rest))
	if len(p.names) > 0 {
		add(mapping, "object")
	}
	add(mapping, inner("map", p.other))
	add(null, "null")
	if len(words) == 0 {
		return "nothing"
	}
	return orList(words)
}

// plural is phrase for more than one.
func (p *place) plural(depth int) string {
	phrase := p.phrase(depth)
	head, tail, _ := strings.Cut(phrase, " of ")
	switch head {
	case "string", "number", "integer", "list", "map", "object":
		head += "s"
	case "true or false":
		return "true or false"
	default:
		return phrase
	}
	if tail == "" {
		return head
	}
	return head + " of " + tail
}

// bounds says in words what a schema limits. The pattern of a secret stays out.
func (n *node) bounds(secret bool) string {
	var all []string
	span := func(low, high, unit string) {
		switch {
		case low != "" && low == high:
			all = append(all, "exactly "+low+unit)
		case low != "" && high != "":
			all = append(all, low+" to "+high+unit)
		case low != "":
			all = append(all, "at least "+low+unit)
		case high != "":
			all = append(all, "at most "+high+unit)
		}
	}
	span(string(n.minimum), string(n.maximum), "")
	if n.above != "" {
		all = append(all, "more than "+string(n.above))
	}
	if n.below != "" {
		all = append(all, "less than "+string(n.below))
	}
	if n.multipleOf != "" && n.multipleOf != "1" {
		all = append(all, "a multiple of "+string(n.multipleOf))
	}
	span(countOf(n.minLength), countOf(n.maxLength), " characters")
	span(countOf(n.minItems), countOf(n.maxItems), " items")
	if n.unique {
		all = append(all, "no item twice")
	}
	if n.pattern != nil && !secret {
		all = append(all, "matching "+n.pattern.String())
	}
	return strings.Join(all, ", ")
}

// countOf writes a bound that may say nothing.
func countOf(bound int) string {
	if bound < 0 {
		return ""
	}
	return strconv.Itoa(bound)
}
