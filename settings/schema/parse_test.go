package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
)

func TestSchemasThatCannotBeProvenAreRefused(t *testing.T) {
	t.Parallel()
	x := func(s string) string { return `{"type":"object","properties":{"x":` + s + `}}` }
	for name, test := range map[string]struct{ schema, want string }{
		"no JSON":                   {`{"type":`, "it is no JSON from byte"},
		"two values":                {`{} {}`, "more than one JSON value"},
		"a key twice":               {`{"type":"object","type":"object"}`, `the key "type" stands twice`},
		"no schema":                 {`[]`, "# must be an object"},
		"a root of no map":          {`{"type":"string"}`, `"type" at # must be object`},
		"if":                        {x(`{"if":{}}`), `"if" at #/properties/x is a keyword`},
		"not":                       {x(`{"not":{}}`), `"not" at #/properties/x is a keyword`},
		"patternProperties":         {x(`{"patternProperties":{}}`), `"patternProperties" at`},
		"an unknown extension":      {x(`{"x-dsh-rol":"secret"}`), `"x-dsh-rol" at #/properties/x is a keyword`},
		"a role without a prefix":   {x(`{"role":"secret"}`), `"role" at #/properties/x is a keyword`},
		"a misspelt role":           {x(`{"x-dsh-role":"Secret"}`), `"x-dsh-role" at #/properties/x must be secret`},
		"a role of no string":       {x(`{"x-dsh-role":true}`), `"x-dsh-role" at`},
		"writeOnly of no boolean":   {x(`{"writeOnly":"true"}`), `"writeOnly" at #/properties/x must be true or false`},
		"a misspelt writeOnly":      {x(`{"writeonly":true}`), `"writeonly" at #/properties/x is a keyword`},
		"a pattern of look-ahead":   {x(`{"pattern":"(?=a)"}`), `"pattern" at #/properties/x must be a regular expression of RE2`},
		"multipleOf 0":              {x(`{"multipleOf":0}`), `"multipleOf" at`},
		"a length below 0":          {x(`{"minLength":-1}`), `"minLength" at`},
		"a reversed range":          {x(`{"minItems":2,"maxItems":1}`), `"minItems" at`},
		"a ref elsewhere":           {x(`{"$ref":"other.json"}`), `"$ref" at #/properties/x must name`},
		"a ref to nothing":          {x(`{"$ref":"#/$defs/a"}`), `"$ref" at #/properties/x must name`},
		"a ref in a circle":         {`{"type":"object","$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, `"$ref" at #/$defs/a must not lead back`},
		"definitions below":         {x(`{"$defs":{}}`), `"$defs" at #/properties/x must stand at the root`},
		"names of other rules":      {x(`{"propertyNames":{"maxLength":3}}`), `"maxLength" at #/properties/x/propertyNames`},
		"another draft":             {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`, `"$schema" at #`},
		"an escaped place":          {`{"type":"object","properties":{"a/b~c":{"minimum":"1"}}}`, `"minimum" at #/properties/a~1b~0c must be a number`},
		"a default of a wrong kind": {x(`{"type":"integer","default":"one"}`), `"default" at #/properties/x does not satisfy its schema: $ must be an integer`},
		"a default without end":     {`{"type":"object","properties":{"a":{"$ref":"#","default":{}}}}`, `"default" at #/properties/a leads to defaults without end`},
		"an enum of nothing":        {x(`{"enum":[]}`), `"enum" at`},
		"required twice":            {`{"type":"object","required":["a","a"]}`, `"required" at #`},
		"a deep document":           {strings.Repeat(`{"items":`, 200) + "{}" + strings.Repeat("}", 200), "nested deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(test.schema))
			if !errors.Is(err, fault.SettingsInvalid) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want … %s", err, test.want)
			}
		})
	}
}

func TestErrorsAboutASecretDefaultDoNotQuoteIt(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"type":"object","properties":{"k":{"type":"string","enum":["sk-one"],"default":"sk-two","writeOnly":true}}}`,
		`{"type":"object","properties":{"k":{"type":"object","default":{"sk-key":"sk-two"},"properties":{"a":{"const":"sk-one"}},"required":["a"],"x-dsh-role":"secret"}}}`,
		`{"type":"object","default":{"k":"sk-two"},"properties":{"k":{"const":"sk-one","writeOnly":true}}}`,
	} {
		_, err := Parse([]byte(schema))
		if err == nil || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

// What multiplies is refused or bounded, long before it takes memory or time.
func TestSchemasThatMultiplyAreBounded(t *testing.T) {
	t.Parallel()
	var defaults, secrets strings.Builder
	for i := range 40 {
		fmt.Fprintf(&defaults, `"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d","default":{}},"b":{"$ref":"#/$defs/d%d","default":{}}}},`, i, i+1, i+1)
		fmt.Fprintf(&secrets, `"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	start := time.Now()
	for _, doc := range []string{
		`{"$ref":"#/$defs/d0","$defs":{` + defaults.String() + `"d40":{}}}`,
		`{"$ref":"#/$defs/d0","$defs":{` + secrets.String() + `"d40":{"writeOnly":true}}}`,
	} {
		if _, err := Parse([]byte(doc)); !errors.Is(err, fault.SettingsInvalid) {
			t.Errorf("got %v", err)
		}
	}
	// A form that contains itself is tried once for each part of the document.
	s := parsed(t, `{"type":"object","properties":{"t":{"$ref":"#/$defs/t"}},"$defs":{"t":{"anyOf":[
		{"type":"object","properties":{"c":{"$ref":"#/$defs/t"}},"required":["c"]},
		{"type":"object","properties":{"c":{"$ref":"#/$defs/t"},"e":{"type":"string","default":"x"}}},{"type":"string"}]}}}`)
	deep := strings.Repeat(`{"c":`, 200) + "1" + strings.Repeat("}", 200)
	if got := s.Resolve(nil, tree(t, `{"t":`+deep+`}`)); len(got.Problems) == 0 {
		t.Error("a number fits no form")
	}
	deep = strings.Repeat(`{"c":`, 200) + `"x"` + strings.Repeat("}", 200)
	if got := s.Resolve(nil, tree(t, `{"t":`+deep+`}`)); len(got.Problems) != 0 {
		t.Error(lines(got.Problems))
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestDocumentsAreDeterministicAndKeepTheirOrder(t *testing.T) {
	t.Parallel()
	const doc = `{"type":"object","properties":{"z":{"type":"string","minLength":1},"a":{"type":"number","default":1.50}},"$comment":"a < b"}`
	for range 3 {
		if got := string(parsed(t, doc).Document()); got != doc {
			t.Fatalf("got %s", got)
		}
	}
	if got := string(parsed(t, doc).WireDocument()); got != doc {
		t.Errorf("without secrets the wire gets the same, not %s", got)
	}
}
