package schema

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"hardshell/internal/jsontree"
)

// tree reads a tree that a test wrote down.
func tree(t testing.TB, text string) any {
	t.Helper()
	if text == "" {
		return nil
	}
	value, err := jsontree.Parse([]byte(text))
	if err != nil {
		t.Fatalf("the test's tree %s: %v", text, err)
	}
	return value
}

func parsed(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// of wraps the schema of one setting x into that of a section.
func of(t testing.TB, text string) *Schema {
	t.Helper()
	return parsed(t, `{"type":"object","properties":{"x":`+text+`}}`)
}

func lines(problems []Problem) []string {
	var all []string
	for _, p := range problems {
		all = append(all, p.Path+" "+p.Keyword+": "+p.Message)
	}
	return all
}

func TestLayersResolveByPrecedence(t *testing.T) {
	t.Parallel()
	s := parsed(t, `{"type":"object","properties":{
		"theme":{"type":"string","default":"system"},
		"size":{"type":"integer","default":14},
		"tags":{"type":"array","items":{"type":"string"},"default":["d"]},
		"nested":{"type":"object","default":{},"properties":{"a":{"type":"integer","default":1},"b":{"type":"integer"}}},
		"routes":{"type":"object","additionalProperties":{"type":"object","properties":{"url":{"type":"string"},"n":{"type":"integer","default":3}}}}}}`)
	for name, test := range map[string]struct {
		base, user, value, origin, unknown, ignored string
	}{
		"nothing is given": {
			value:  `{"theme":"system","size":14,"tags":["d"],"nested":{"a":1}}`,
			origin: `{"$.theme":"default","$.size":"default","$.tags":"default","$.nested.a":"default"}`,
		},
		"the user wins over the base": {
			base: `{"theme":"dark","size":16}`, user: `{"theme":"light"}`,
			value:  `{"theme":"light","size":16,"tags":["d"],"nested":{"a":1}}`,
			origin: `{"$.theme":"user","$.size":"base","$.tags":"default","$.nested.a":"default"}`,
		},
		"lists replace lists, maps merge": {
			base: `{"tags":["b"],"nested":{"a":5,"b":6}}`, user: `{"tags":[],"nested":{"b":7}}`,
			value:  `{"theme":"system","size":14,"tags":[],"nested":{"a":5,"b":7}}`,
			origin: `{"$.theme":"default","$.size":"default","$.tags":"user","$.nested.a":"base","$.nested.b":"user"}`,
		},
		"a null counts as absent": {
			base: `{"size":16}`, user: `{"size":null,"nested":{"b":null}}`,
			value:  `{"theme":"system","size":16,"tags":["d"],"nested":{"a":1}}`,
			origin: `{"$.theme":"default","$.size":"base","$.tags":"default","$.nested.a":"default"}`, ignored: "$.nested.b $.size",
		},
		"undeclared keys are named and stay out": {
			base: `{"other":1}`, user: `{"them":"x","nested":{"odd key":1},"constructor":{"__proto__":1}}`,
			value:  `{"theme":"system","size":14,"tags":["d"],"nested":{"a":1}}`,
			origin: `{"$.theme":"default","$.size":"default","$.tags":"default","$.nested.a":"default"}`, unknown: `$.constructor $.nested["odd key"] $.them`,
		},
		"entries of maps get defaults, empty maps are leaves": {
			base: `{"routes":{"a":{"url":"u"}}}`, user: `{"routes":{"__proto__":{},"b":{"n":4}}}`,
			value:  `{"theme":"system","size":14,"tags":["d"],"nested":{"a":1},"routes":{"__proto__":{"n":3},"a":{"url":"u","n":3},"b":{"n":4}}}`,
			origin: `{"$.theme":"default","$.size":"default","$.tags":"default","$.nested.a":"default","$.routes.__proto__.n":"default","$.routes.a.url":"base","$.routes.a.n":"default","$.routes.b.n":"user"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, user := tree(t, test.base), tree(t, test.user)
			got := s.Resolve(base, user)
			if len(got.Problems) > 0 {
				t.Fatal(lines(got.Problems))
			}
			if diff := cmp.Diff(tree(t, test.value), any(got.Value)); diff != "" {
				t.Error("value", diff)
			}
			origin, _ := json.Marshal(got.Origin)
			if diff := cmp.Diff(tree(t, test.origin), tree(t, string(origin))); diff != "" {
				t.Error("origin", diff)
			}
			if joined(got.Unknown) != test.unknown {
				t.Errorf("unknown %q", got.Unknown)
			}
			var ignored []string
			for _, p := range got.Ignored {
				ignored = append(ignored, p.Path)
			}
			if joined(ignored) != test.ignored {
				t.Errorf("ignored %q", ignored)
			}
			if diff := cmp.Diff(tree(t, test.user), user); diff != "" {
				t.Error("the user's layer was changed", diff)
			}
		})
	}
}

func joined(words []string) string {
	all := ""
	for i, w := range words {
		if i > 0 {
			all += " "
		}
		all += w
	}
	return all
}

func TestViolationsAreAllReportedWithAdvice(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ schema, x, want string }{
		"type":                        {`{"type":"integer"}`, `"no"`, `$.x type: must be an integer`},
		"type of several":             {`{"type":["string","null","number"]}`, `true`, `$.x type: must be a string, a number or null`},
		"1.0 is an integer":           {`{"type":"integer"}`, `1.0`, ``},
		"1e2 is an integer":           {`{"type":"integer","maximum":100}`, `1e2`, ``},
		"1.5 is none":                 {`{"type":"integer"}`, `1.5`, `$.x type: must be an integer`},
		"2^64 stays exact":            {`{"type":"integer","maximum":18446744073709551615}`, `18446744073709551616`, `$.x maximum: must be at most 18446744073709551615`},
		"thirty digits fit":           {`{"type":"integer","minimum":123456789012345678901234567889}`, `123456789012345678901234567890`, ``},
		"minimum":                     {`{"minimum":1}`, `0.999`, `$.x minimum: must be at least 1`},
		"exclusiveMinimum":            {`{"exclusiveMinimum":0}`, `-0`, `$.x exclusiveMinimum: must be more than 0`},
		"exclusiveMaximum":            {`{"exclusiveMaximum":1}`, `1.0`, `$.x exclusiveMaximum: must be less than 1`},
		"multipleOf is exact":         {`{"multipleOf":0.01}`, `4.35`, ``},
		"multipleOf":                  {`{"multipleOf":0.01}`, `4.351`, `$.x multipleOf: must be a multiple of 0.01`},
		"multipleOf of huge":          {`{"multipleOf":7}`, `1e900000000`, `$.x multipleOf: must be a multiple of 7`},
		"minLength counts runes":      {`{"minLength":2}`, `"é"`, `$.x minLength: must have at least 2 characters`},
		"maxLength":                   {`{"maxLength":1}`, `"ab"`, `$.x maxLength: must have at most 1 character`},
		"pattern":                     {`{"pattern":"^a$"}`, `"a\n"`, `$.x pattern: must match the pattern ^a$`},
		"items":                       {`{"items":{"type":"string"},"maxItems":2}`, `["a",1,2]`, `$.x maxItems: must have at most 2 items|$.x[1] type: must be a string|$.x[2] type: must be a string`},
		"prefixItems":                 {`{"prefixItems":[{"type":"string"}],"items":false}`, `["a",1]`, `$.x[1] not: must not be set; remove it`},
		"uniqueItems by value":        {`{"uniqueItems":true}`, `[{"a":1,"b":[1.0]},{"b":[1e0],"a":1}]`, `$.x uniqueItems: must not have an item twice`},
		"uniqueItems keeps kinds":     {`{"uniqueItems":true}`, `[1,"1",true,"true",null,[],{}]`, ``},
		"enum":                        {`{"enum":["a","b c",3,null]}`, `"d"`, `$.x enum: must be one of: a, b c, 3, null`},
		"enum by value":               {`{"enum":[1]}`, `1.0`, ``},
		"const":                       {`{"const":{"a":"<"}}`, `1`, `$.x const: must be {"a":"<"}`},
		"labelled constants":          {`{"oneOf":[{"const":"a","title":"A"},{"const":"b"}]}`, `"c"`, `$.x oneOf: must be one of: a, b`},
		"required":                    {`{"type":"object","properties":{"k":{}},"required":["k","l"]}`, `{}`, `$.x.k required: is required; set it|$.x.l required: is required; set it`},
		"propertyNames":               {`{"type":"object","propertyNames":{"pattern":"^[a-z]+$"},"additionalProperties":{"type":"integer"}}`, `{"A":1,"b":2,"c d":"x"}`, `$.x["c d"] type: must be an integer|$.x.A propertyNames: must have a key that matches ^[a-z]+$|$.x["c d"] propertyNames: must have a key that matches ^[a-z]+$`},
		"allOf merges":                {`{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"},"a":{"minLength":2}}}]}`, `{"a":"x","b":1}`, `$.x.a minLength: must have at least 2 characters|$.x.b type: must be a string`},
		"anyOf by kind":               {`{"anyOf":[{"type":"string"},{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}]}`, `{"n":0}`, `$.x.n minimum: must be at least 1`},
		"anyOf by discriminator":      {`{"anyOf":[{"type":"object","properties":{"k":{"const":"a"},"n":{"type":"integer"}}},{"type":"object","properties":{"k":{"const":"b"},"n":{"type":"string"}}}]}`, `{"k":"b","n":1}`, `$.x.n type: must be a string`},
		"anyOf without a near form":   {`{"anyOf":[{"type":"string"},{"type":"boolean"}]}`, `1`, `$.x anyOf: must fit one of the allowed forms, which are a string or true or false`},
		"anyOf with titles":           {`{"anyOf":[{"title":"Off","const":false},{"title":"Many","minimum":10},{"title":"Few","maximum":1}]}`, `5`, `$.x anyOf: must fit one of the allowed forms: Off, Many or Few`},
		"oneOf of two":                {`{"oneOf":[{"minimum":1},{"maximum":5}]}`, `3`, `$.x oneOf: fits more than one of the allowed forms; make it fit exactly one`},
		"closed forms decide":         {`{"oneOf":[{"type":"object","properties":{"a":{}},"additionalProperties":false},{"type":"object","properties":{"b":{}},"additionalProperties":false}]}`, `{"b":1}`, ``},
		"closed forms overlook typos": {`{"anyOf":[{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false},{"type":"string"}]}`, `{"a":1,"typo":2}`, ``},
		"false":                       {`false`, `1`, `$.x not: must not be set; remove it`},
		"ref":                         {`{"$ref":"#"}`, `{"x":{"x":1}}`, `$.x.x.x type: must be a map`},
		"null items are no map keys":  {`{"items":{"type":"string"}}`, `[null]`, `$.x[0] type: must be a string`},
		"a text must be a whole":      {`{"type":"string","x-dsh-role":"text"}`, `"a ${env:B}"`, `$.x x-dsh-role: must be plain text, ${env:NAME} or ${file:PATH}; a literal ${ is written $${`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := of(t, test.schema).Resolve(nil, tree(t, `{"x":`+test.x+`}`))
			all := ""
			for i, line := range lines(got.Problems) {
				if i > 0 {
					all += "|"
				}
				all += line
			}
			if all != test.want {
				t.Errorf("got  %s\nwant %s", all, test.want)
			}
		})
	}
}
