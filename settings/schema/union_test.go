package schema

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"hardshell/internal/jsontree"
)

func TestTheFormOfAUnionShapesTheValue(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ schema, x, value, unknown, problems string }{
		"the first form that fits gives the defaults": {
			`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"},"n":{"default":1}},"required":["a"]},{"type":"object","properties":{"b":{"type":"string"},"n":{"default":2}}}]}`,
			`{"b":"x"}`, `{"b":"x","n":2}`, ``, ``},
		"keys of another form are unknown": {
			`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`,
			`{"b":"x"}`, `{}`, `$.x.b`, ``},
		"unless the forms are closed": {
			`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false},{"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":false}]}`,
			`{"b":"x"}`, `{"b":"x"}`, ``, ``},
		"a default beside a union decides about the form": {
			`{"type":"object","properties":{"kind":{"type":"string","default":"b"}},"oneOf":[
				{"properties":{"kind":{"const":"a"},"n":{"default":1}},"required":["kind"]},
				{"properties":{"kind":{"const":"b"},"n":{"default":2}},"required":["kind"]}]}`,
			`{}`, `{"kind":"b","n":2}`, ``, ``},
		"a closed form that is nearly met": {
			`{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"n":{"type":"integer"}},"required":["kind"],"additionalProperties":false},
				{"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"],"additionalProperties":false}]}`,
			`{"kind":"a","m":1}`, `{"kind":"a"}`, `$.x.m`, ``},
		"the closest form tells what is wrong": {
			`{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"n":{"type":"integer"}},"required":["kind","n"]},
				{"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"]}]}`,
			`{"kind":"a"}`, `{"kind":"a"}`, ``, `$.x.n required`},
		"a map or false": {
			`{"anyOf":[{"const":false},{"type":"object","additionalProperties":{"type":"string"}}],"default":false}`,
			`{"low":"l"}`, `{"low":"l"}`, ``, ``},
		"unions within unions": {
			`{"anyOf":[{"anyOf":[{"type":"integer"},{"type":"object","properties":{"a":{"type":"integer"},"d":{"default":1}},"required":["a"]}]},
				{"type":"object","properties":{"a":{"type":"string"},"d":{"default":2}}}]}`,
			`{"a":"s"}`, `{"a":"s","d":2}`, ``, ``},
		"two unions at one place": {
			`{"allOf":[{"anyOf":[{"properties":{"a":{"const":1}}},{"properties":{"a":{"const":2}}}]},
				{"anyOf":[{"properties":{"b":{"const":1}},"required":["b"]},{"properties":{"c":{"default":3}}}]}]}`,
			`{"a":2}`, `{"a":2,"c":3}`, ``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := of(t, test.schema).Resolve(nil, tree(t, `{"x":`+test.x+`}`))
			if value := got.Value["x"]; !jsontree.Equal(value, tree(t, test.value)) {
				t.Errorf("value %s", jsontree.Encode(value))
			}
			if joined(got.Unknown) != test.unknown {
				t.Errorf("unknown %q", got.Unknown)
			}
			problems := ""
			for _, p := range got.Problems {
				problems += p.Path + " " + p.Keyword
			}
			if problems != test.problems {
				t.Errorf("problems %q", got.Problems)
			}
		})
	}
}

func TestAValueSharesNothing(t *testing.T) {
	t.Parallel()
	s := parsed(t, `{"type":"object","properties":{"m":{"default":{"a":{"b":[1]}}},"l":{"type":"array"},"n":{"type":"object","properties":{"k":{}}},"z":{"type":["string","null"]}}}`)
	base, user := tree(t, `{"l":[{"x":1}]}`), tree(t, `{"n":{"k":{"y":[2]}},"z":null}`)
	first := s.Resolve(base, user)
	want := string(jsontree.Encode(any(first.Value)))
	var spoil func(any)
	spoil = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, child := range v {
				spoil(child)
				v[key] = "spoilt"
			}
			v["more"] = true
		case []any:
			for i, child := range v {
				spoil(child)
				v[i] = "spoilt"
			}
		}
	}
	shown, _ := s.Redact(user)
	spoil(shown)
	spoil(first.Value)
	for _, layers := range [][2]any{{base, user}} {
		if got := string(jsontree.Encode(any(s.Resolve(layers[0], layers[1]).Value))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	alone := s.Resolve(nil, user)
	spoil(alone.Value)
	if got := string(jsontree.Encode(user)); got != `{"n":{"k":{"y":[2]}},"z":null}` {
		t.Errorf("the user's layer became %s", got)
	}
}

func TestOddKeysAreOrdinary(t *testing.T) {
	t.Parallel()
	s := parsed(t, `{"type":"object","additionalProperties":{"type":"object","properties":{"v":{"type":"integer"}}}}`)
	for _, key := range []string{"", "__proto__", "constructor", "toString", "1", "true", "null", "a.b", "~", "/", "<<", "k: v # x"} {
		got := s.Resolve(nil, map[string]any{key: map[string]any{"v": "x"}})
		path := jsontree.Path{key, "v"}.String()
		if len(got.Problems) != 1 || got.Problems[0].Path != path || got.Origin[path] != FromUser {
			t.Errorf("%q: %q %v", key, got.Problems, got.Origin)
		}
	}
}

func TestASchemaServesManyAtOnce(t *testing.T) {
	t.Parallel()
	s := parsed(t, adapter)
	user := tree(t, `{"providers":{"a":{"apiKey":"k","model":null}},"auth":{"kind":"key","value":"v"}}`)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if got := s.Resolve(nil, user); len(got.Problems) > 0 || len(got.Ignored) != 1 {
					t.Error(got.Problems, got.Ignored)
				}
				s.Redact(user)
				s.WireDocument()
				s.Keys()
				if _, err := For[everything](); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

func TestALargeSectionIsResolved(t *testing.T) {
	t.Parallel()
	s := parsed(t, `{"type":"object","additionalProperties":{"anyOf":[{"type":"integer"},{"type":"object","properties":{"a":{"type":"string"}}}]}}`)
	user := map[string]any{}
	for i := range 10_000 {
		user[fmt.Sprint("key", i)] = map[string]any{"a": strings.Repeat("x", 20)}
	}
	if got := s.Resolve(nil, user); len(got.Problems) > 0 || len(got.Value) != len(user) {
		t.Error(got.Problems)
	}
	nested := any("x")
	for range 400 {
		nested = map[string]any{"a": nested}
	}
	deep := parsed(t, `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"string"}]}}}`)
	if got := deep.Resolve(nil, nested); len(got.Problems) == 0 {
		t.Error("a section that is too deep has no problem")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(adapter))
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#","default":{"a":{}}}}}`))
	f.Add([]byte(`{"$ref":"#/$defs/x","$defs":{"x":{"oneOf":[{"properties":{"y":{"$ref":"#"}}},{"const":1e9}]}}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		s, err := Parse(doc)
		if err != nil {
			return
		}
		again, err := Parse(s.Document())
		if err != nil || string(again.Document()) != string(s.Document()) {
			t.Fatalf("not read back: %v", err)
		}
		// What goes to the wire is a legal schema itself.
		if _, err := Parse(s.WireDocument()); err != nil {
			t.Fatalf("the wire document is refused: %v\n%s", err, s.WireDocument())
		}
		s.Keys()
		s.Redact(nil)
	})
}

func FuzzResolve(f *testing.F) {
	f.Add([]byte(adapter), []byte(`{"token":null,"providers":{"a":"x"},"list":[{}]}`))
	f.Add([]byte(`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"number","multipleOf":0.1}]}}}`), []byte(`{"a":{"a":1e30}}`))
	f.Fuzz(func(t *testing.T, doc, section []byte) {
		s, err := Parse(doc)
		if err != nil {
			return
		}
		user, err := jsontree.Parse(section)
		if err != nil {
			return
		}
		before := jsontree.Encode(user)
		got := s.Resolve(nil, user)
		s.Resolve(user, user)
		shown, _ := s.Redact(user)
		if err := jsontree.Check(any(got.Value)); err != nil {
			t.Fatal(err)
		}
		if err := jsontree.Check(shown); err != nil {
			t.Fatal(err)
		}
		if len(s.ValidateWrite(user)) < len(got.Ignored) {
			t.Fatal("a write may carry what is ignored")
		}
		if string(jsontree.Encode(user)) != string(before) {
			t.Fatal("the section was changed")
		}
	})
}
