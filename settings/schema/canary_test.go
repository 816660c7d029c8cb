package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hardshell/internal/jsontree"
	"pgregory.net/rapid"
)

// canary is in every value that must not leave the process, and in nothing else.
const canary = "sk-canary"

// generator draws schemas over the whole vocabulary, and documents for them.
type generator struct {
	t       *rapid.T
	secrets bool // mark places as secret, values at them with the canary
	closed  bool // "additionalProperties": false
	filled  bool // default
	oneOf   bool
}

func (g generator) pick(n int, label string) int { return rapid.IntRange(0, n-1).Draw(g.t, label) }
func (g generator) chance(percent int) bool {
	return rapid.IntRange(0, 99).Draw(g.t, "chance") < percent
}

func (g generator) section() *object {
	defs := &object{}
	for _, name := range []string{"d0", "d1"} {
		defs.with(name, g.schema(2, false))
	}
	section := (&object{}).with("type", "object").with("properties", g.properties(3))
	if g.chance(30) {
		section.with([]string{"allOf", "anyOf"}[g.pick(2, "kind")], []any{
			(&object{}).with("properties", g.properties(2)), (&object{}).with("properties", g.properties(2))})
	}
	return section.with("$defs", defs)
}

func (g generator) properties(depth int) *object {
	properties := &object{}
	for _, key := range []string{"a", "b", "c"}[:1+g.pick(3, "keys")] {
		properties.with(key, g.schema(depth, true))
	}
	return properties
}

// schema draws one. A reference may only stand where a key or index was taken: it
// could lead in a circle.
func (g generator) schema(depth int, stepped bool) any {
	if g.secrets && g.chance(20) {
		return g.secret(depth)
	}
	if g.secrets && depth > 0 && g.chance(10) {
		return g.split(depth)
	}
	s := &object{}
	choice := g.pick(12, "schema")
	if depth <= 0 && choice > 4 {
		choice %= 5
	}
	switch choice {
	case 0:
		s.with("type", "string").with("minLength", json.Number(fmt.Sprint(g.pick(3, "length"))))
		if g.filled && g.chance(30) {
			s.with("default", "plain")
		}
	case 1:
		s.with("type", []any{"integer", "null"}).with("minimum", json.Number("0")).with("multipleOf", json.Number("2"))
	case 2:
		s.with("enum", []any{"plain", json.Number("1"), nil})
	case 3:
		s.with("type", []string{"boolean", "number", "null"}[g.pick(3, "type")])
	case 4:
		if g.chance(50) {
			return true
		}
		s.with("title", "anything")
	case 5, 6:
		s.with("type", "object").with("properties", g.properties(depth-1))
		if g.chance(40) {
			s.with("additionalProperties", g.schema(depth-1, true))
		} else if g.closed && g.chance(50) {
			s.with("additionalProperties", false)
		}
		if g.chance(30) {
			s.with("required", []any{"a"})
		}
		if g.filled && g.chance(20) {
			s.with("default", &object{})
		}
	case 7:
		s.with("type", "object").with("additionalProperties", g.schema(depth-1, true))
		if g.chance(30) {
			s.with("propertyNames", (&object{}).with("pattern", "^[a-z]+$"))
		}
	case 8:
		s.with("items", g.schema(depth-1, true)).with("maxItems", json.Number("3"))
		if g.chance(50) {
			s.with("type", "array")
		}
		if g.chance(50) {
			s.with("prefixItems", []any{g.schema(depth-1, true), g.schema(depth-1, true)})
		}
		if g.chance(30) {
			s.with("uniqueItems", true)
		}
	case 9, 10:
		kind := []string{"allOf", "anyOf", "anyOf", "oneOf"}[g.pick(4, "union")]
		if kind == "oneOf" && !g.oneOf {
			kind = "anyOf"
		}
		s.with(kind, []any{g.schema(depth-1, stepped), g.schema(depth-1, stepped)})
	case 11:
		if !stepped {
			return true
		}
		s.with("$ref", []string{"#/$defs/d0", "#/$defs/d1"}[g.pick(2, "ref")])
	}
	return s
}

// secret draws a schema of a secret whose values are canaries.
func (g generator) secret(depth int) any {
	s := &object{}
	if g.chance(50) {
		s.with("writeOnly", true)
	} else {
		s.with("x-dsh-role", "secret")
	}
	switch g.pick(4, "secret") {
	case 0:
		s.with("type", "string").with("default", canary+"-default").with("examples", []any{canary + "-example"})
	case 1:
		s.with("enum", []any{canary + "-enum", (&object{}).with(canary, canary)})
	case 2:
		s.with("const", canary+"-const").with("$comment", canary)
	case 3:
		s.with("properties", (&object{}).with("a", (&object{}).with("enum", []any{canary + "-inner"})))
		s.with("examples", []any{(&object{}).with("a", canary)})
	}
	return s
}

// split draws a union, one branch of which marks a place as secret. What another
// one says of it is as private.
func (g generator) split(depth int) any {
	branches := []any{
		(&object{}).with("properties", (&object{}).with("a", g.secret(depth-1))),
		(&object{}).with("properties", (&object{}).with("a", (&object{}).with("enum", []any{canary + "-split"})).
			with("b", true)).with("additionalProperties", true),
	}
	kind := []string{"allOf", "anyOf", "oneOf"}[g.pick(3, "kind")]
	return (&object{}).with("type", "object").with(kind, branches)
}

// document draws data that fits a place or does not. What a secret could be has
// the canary: at secret places, and wherever the data is not what the place with
// secrets below it is declared for.
func (g generator) document(p *place, depth int) any {
	switch {
	case p == nil:
		return g.wild(canary, 1)
	case p.secret:
		return g.wild(canary, 2)
	case p.holds && g.chance(15):
		for range 4 {
			if v := g.wild(canary, 1); p.exact&kindOf(v) == 0 {
				return v
			}
		}
		return nil
	case depth <= 0 || p.freeKeys && p.freeItems:
		v := g.wild("plain", 1)
		if p.holds && kindOf(v)&p.exact == 0 {
			return nil
		}
		return v
	case !p.freeKeys && (p.freeItems || g.chance(50)):
		tree := map[string]any{}
		for _, name := range p.names {
			if g.chance(70) {
				tree[name] = g.document(p.named[name], depth-1)
			}
		}
		for _, name := range []string{"x", "A", "odd key"} {
			if g.chance(30) {
				child := p.key(name)
				if open := p.other; open != nil && p.holds && open.exact == 0 && !open.holds {
					child = nil // whatever lets everything through declares nothing beside a secret
				}
				if child != nil {
					tree[name] = g.document(child, depth-1)
				} else {
					tree[name] = g.wild(canary, 1) // undeclared
				}
			}
		}
		return tree
	default:
		items := []any{}
		for i := range g.pick(4, "items") {
			items = append(items, g.document(p.item(i), depth-1))
		}
		return items
	}
}

func (g generator) wild(word string, depth int) any {
	switch g.pick(8, "wild") {
	case 0:
		return nil
	case 1:
		return true
	case 2:
		return json.Number([]string{"0", "1", "1.5", "4", "2.0"}[g.pick(5, "number")])
	case 3:
		if depth > 0 {
			return []any{g.wild(word, depth-1), word}
		}
	case 4:
		if depth > 0 {
			return map[string]any{"a": g.wild(word, depth-1), word: word}
		}
	}
	return word
}

func TestNoCanaryLeaves(t *testing.T) {
	t.Parallel()
	refused, found := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t: t, secrets: true, closed: true, filled: true, oneOf: true}
		source := g.section()
		text := appendOrdered(nil, source, func(*object, string) bool { return false })
		s, err := Parse(text)
		if err != nil {
			if refused++; strings.Contains(err.Error(), canary) {
				t.Fatalf("%s: %v", text, err)
			}
			return
		}
		leaks := func(what string, value any) {
			encoded, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(encoded), canary) {
				t.Fatalf("%s leaks\nschema %s\nleak %s", what, text, encoded)
			}
		}
		leaks("the wire document", string(s.WireDocument()))
		leaks("the listing", s.Keys())
		document, _ := g.document(s.places, 5).(map[string]any)
		base, _ := g.document(s.places, 5).(map[string]any)
		encoded := jsontree.Encode(any(document))
		if strings.Contains(string(encoded), canary) {
			found++
		}
		for _, layer := range []any{document, base} {
			shown, slots := s.Redact(layer)
			leaks(fmt.Sprintf("Redact(%s)", jsontree.Encode(layer)), shown)
			for _, slot := range slots {
				if len(slot.Path) > 0 && slot.Path[len(slot.Path)-1] == canary {
					t.Fatalf("a slot is named after a value: %q in %s", slot.Path, text)
				}
			}
			leaks("ValidateWrite", s.ValidateWrite(layer))
		}
		resolved := s.Resolve(base, document)
		leaks(fmt.Sprintf("problems of %s over %s", encoded, jsontree.Encode(any(base))), resolved.Problems)
		leaks("ignored nulls", resolved.Ignored)
		leaks("unknown keys", resolved.Unknown)
		shown, _ := s.Redact(any(resolved.Value))
		leaks("Redact of the value", shown)
		if len(resolved.Problems) == 0 {
			// An origin names keys, and none of them below a secret. Keys of free data
			// are the owner's, as its values are.
			leaks("origins", slices.Collect(maps.Keys(resolved.Origin)))
		}
	})
	t.Logf("%d schemas were refused, %d documents had a canary", refused, found)
}
