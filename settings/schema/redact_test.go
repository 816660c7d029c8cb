package schema

import (
	"encoding/json"
	"testing"

	"hardshell/internal/jsontree"
)

const adapter = `{"type":"object","properties":{
	"token":{"type":"string","writeOnly":true,"default":"sk-canary"},
	"url":{"type":"string"},
	"size":{"type":"integer"},
	"providers":{"type":"object","additionalProperties":{"type":"object","properties":{"apiKey":{"type":"string","x-dsh-role":"secret"},"model":{"type":"string"}}}},
	"keys":{"type":"object","additionalProperties":{"type":"string","writeOnly":true}},
	"list":{"type":"array","items":{"type":"string","writeOnly":true}},
	"whole":{"type":"object","properties":{"a":{"type":"string"}},"writeOnly":true},
	"auth":{"anyOf":[{"type":"object","properties":{"kind":{"const":"none"},"value":{"type":"string"}}},
		{"type":"object","properties":{"kind":{"const":"key"},"value":{"type":"string","writeOnly":true}}},{"type":"string","enum":["off"]}]},
	"pair":{"type":"array","prefixItems":[{"type":"string"},{"writeOnly":true}]},
	"both":{"allOf":[{"type":"object","properties":{"s":{"type":"string"}}},{"$ref":"#/$defs/s"}]},
	"open":{"type":"object","properties":{"s":{"writeOnly":true}},"additionalProperties":true},
	"free":{"type":"object"}},
	"$defs":{"s":{"properties":{"s":{"x-dsh-role":"secret"}}}}}`

func TestRedactionIsFailClosed(t *testing.T) {
	t.Parallel()
	s := parsed(t, adapter)
	const unset = `[["token"],["whole"],["auth","value"],["both","s"],["open","s"]]`
	for name, test := range map[string]struct{ layer, shown, slots string }{
		"an absent layer":             {``, `null`, unset},
		"an empty layer":              {`{}`, `{}`, unset},
		"plain values pass":           {`{"url":"u","size":1,"free":{"any":[1]}}`, `{"url":"u","size":1,"free":{"any":[1]}}`, unset},
		"secrets are set by presence": {`{"token":"","whole":{"a":"c"}}`, `{}`, `[["token!"],["whole!"],["auth","value"],["both","s"],["open","s"]]`},
		"a null is no secret":         {`{"token":null}`, `{}`, unset},
		"entries that are present":    {`{"providers":{"a":{"apiKey":"c","model":"m"},"b":{}}}`, `{"providers":{"a":{"model":"m"},"b":{}}}`, `[["token"],["providers","a","apiKey!"],["providers","b","apiKey"],["whole"],["auth","value"],["both","s"],["open","s"]]`},
		"entries that are secrets":    {`{"keys":{"a":"c"}}`, `{"keys":{}}`, `[["token"],["keys","a!"],["whole"],["auth","value"],["both","s"],["open","s"]]`},
		"items leave holes":           {`{"list":["c","c"],"pair":["u","c","c"]}`, `{"list":[null,null],"pair":["u",null,null]}`, `[["token"],["list","0!"],["list","1!"],["whole"],["auth","value"],["pair","1!"],["both","s"],["open","s"]]`},
		"a union strips for all":      {`{"auth":{"kind":"none","value":"c"}}`, `{"auth":{"kind":"none"}}`, `[["token"],["whole"],["auth","value!"],["both","s"],["open","s"]]`},
		"a union's plain form passes": {`{"auth":"off"}`, `{"auth":"off"}`, `[["token"],["whole"],["both","s"],["open","s"]]`},
		"a string for a map":          {`{"providers":"c"}`, `{"providers":null}`, `[["token"],["providers!?"],["whole"],["auth","value"],["both","s"],["open","s"]]`},
		"a list for a map":            {`{"providers":["c"],"both":["c"]}`, `{"providers":null,"both":null}`, `[["token"],["providers!?"],["whole"],["auth","value"],["both!?"],["open","s"]]`},
		"a map for a list":            {`{"list":{"a":"c"}}`, `{"list":null}`, `[["token"],["list!?"],["whole"],["auth","value"],["both","s"],["open","s"]]`},
		"a wrong entry":               {`{"providers":{"a":"c"}}`, `{"providers":{"a":null}}`, `[["token"],["providers","a!?"],["whole"],["auth","value"],["both","s"],["open","s"]]`},
		"undeclared keys":             {`{"tokn":"c","providers":{"a":{"apikey":"c"}},"open":{"S":"c"}}`, `{"providers":{"a":{}},"open":{}}`, `[["token"],["providers","a","apiKey"],["whole"],["auth","value"],["both","s"],["open","s"]]`},
		"a wrong kind elsewhere":      {`{"size":"c","url":{"a":"c"}}`, `{"size":null,"url":null}`, unset},
		"a section of no map":         {`"c"`, `null`, `[["!?"]]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			layer := tree(t, test.layer)
			before := jsontree.Clone(layer)
			shown, slots := s.Redact(layer)
			if got, want := shown, tree(t, test.shown); !jsontree.Equal(got, want) {
				t.Errorf("shown %s, want %s", jsontree.Encode(got), test.shown)
			}
			if !jsontree.Equal(layer, before) {
				t.Error("the layer was changed")
			}
			marked := [][]string{}
			for _, slot := range slots {
				path := slot.Path
				if slot.Set || slot.Malformed {
					mark := ""
					if slot.Set {
						mark = "!"
					}
					if slot.Malformed {
						mark += "?"
					}
					if len(path) == 0 {
						path = []string{""}
					}
					path = append(path[:len(path)-1:len(path)-1], path[len(path)-1]+mark)
				}
				marked = append(marked, path)
			}
			if got, _ := json.Marshal(marked); string(got) != test.slots {
				t.Errorf("slots\n%s, want\n%s", got, test.slots)
			}
		})
	}
}

func TestPathsOfSecretsAreKnown(t *testing.T) {
	t.Parallel()
	s := parsed(t, adapter)
	for path, want := range map[string]bool{
		"": true, "token": true, "token.x": true, "url": false, "size": false, "providers": true, "providers.a": true,
		"providers.a.apiKey": true, "providers.a.model": false, "providers.a.apikey": true, "nosuch": true,
		"auth.value": true, "auth.kind": false, "auth": true, "free.any.thing": false, "open.other": true, "list": true,
	} {
		parsedPath, err := jsontree.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Secret(parsedPath); got != want {
			t.Errorf("Secret(%q) = %v", path, got)
		}
	}
}

func TestProblemsAtSecretsSayNothingOfThem(t *testing.T) {
	t.Parallel()
	s := parsed(t, `{"type":"object","properties":{
		"k":{"type":"string","enum":["sk-a","sk-b"],"pattern":"^sk-","minLength":20,"writeOnly":true},
		"w":{"type":"object","properties":{"sk-in":{"type":"integer"}},"required":["sk-need"],"writeOnly":true},
		"u":{"anyOf":[{"type":"object","properties":{"v":{"writeOnly":true}}},{"type":"object","properties":{"v":{"enum":["sk-c"]}},"required":["r"]}]}}}`)
	got := s.Resolve(nil, tree(t, `{"k":"hunter","w":{"sk-in":"x","sk-other":1},"u":{"v":"y","q":1}}`))
	want := []string{
		"$.k enum: must be one of the accepted values",
		"$.k minLength: must have at least 20 characters",
		"$.k pattern: must match the pattern of its schema",
		"$.w type: must have the shape that its schema describes",
		"$.w required: must have the shape that its schema describes",
	}
	if lines := lines(got.Problems); joined(lines) != joined(want) {
		t.Errorf("got %q", lines)
	}
	if joined(got.Unknown) != "$.u.q" {
		t.Errorf("unknown %q", got.Unknown)
	}
	for path := range got.Origin {
		if path != "$.k" && path != "$.w" && path != "$.u.v" {
			t.Errorf("origin of %s", path)
		}
	}
}

func TestTheWireDocumentHasNoValuesOfSecrets(t *testing.T) {
	t.Parallel()
	s := parsed(t, `{"type":"object","default":{"k":"sk-1"},"properties":{
		"k":{"type":"string","default":"sk-1","examples":["sk-2"],"$comment":"sk-3","x-dsh-ui":{"hint":"sk-4"},"writeOnly":true},
		"n":{"type":"integer","default":1,"examples":[2]},
		"m":{"type":"object","default":{},"examples":["sk-5"],"additionalProperties":{"$ref":"#/$defs/e"}},
		"u":{"default":"off","anyOf":[{"const":"off"},{"type":"object","properties":{"p":{"enum":["sk-6"]}}},{"type":"object","properties":{"p":{"x-dsh-role":"secret"}}}]},
		"w":{"writeOnly":true,"properties":{"deep":{"items":{"const":"sk-7"}}}},
		"o":{"oneOf":[{"const":"sk-x","title":"X"},{"const":"sk-y"}],"writeOnly":true}},
		"$defs":{"e":{"type":"string","const":"sk-8","writeOnly":true},"unused":{"enum":[["sk-9"]],"items":{"writeOnly":true}}}}`)
	const want = `{"type":"object","properties":{"k":{"type":"string","writeOnly":true},"n":{"type":"integer","default":1,"examples":[2]},` +
		`"m":{"type":"object","default":{},"additionalProperties":{"$ref":"#/$defs/e"}},` +
		`"u":{"default":"off","anyOf":[{"const":"off"},{"type":"object","properties":{"p":{}}},{"type":"object","properties":{"p":{"x-dsh-role":"secret"}}}]},` +
		`"w":{"writeOnly":true,"properties":{"deep":{"items":{}}}},"o":{"writeOnly":true}},"$defs":{"e":{"type":"string","writeOnly":true}}}`
	if got := string(s.WireDocument()); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestWritesMayNotCarryNullWhereNoneIsAllowed(t *testing.T) {
	t.Parallel()
	s := parsed(t, `{"type":"object","properties":{
		"a":{"type":"string"},"b":{"type":["string","null"]},"c":{"anyOf":[{"type":"integer"},{"const":null}]},
		"l":{"type":"array","items":{"type":"object","properties":{"n":{"type":"string"}}}},
		"m":{"type":"object","additionalProperties":{"type":"string"}},"free":{},
		"both":{"allOf":[{"type":["string","null"]},{"type":"string"}]},"k":{"type":"string","writeOnly":true}}}`)
	user := tree(t, `{"a":null,"b":null,"c":null,"l":[null,{"n":null}],"m":{"x":null},"free":{"y":null},"both":null,"k":null,"typo":null}`)
	want := []string{"$.a", "$.both", "$.k", "$.l[0]", "$.l[1].n", "$.m.x"}
	var got []string
	for _, p := range s.ValidateWrite(user) {
		got = append(got, p.Path)
	}
	if joined(got) != joined(want) {
		t.Errorf("got %q", got)
	}
	resolved := s.Resolve(nil, user)
	if diff := string(jsontree.Encode(any(resolved.Value))); diff != `{"b":null,"c":null,"free":{"y":null},"l":[null,{}],"m":{}}` {
		t.Errorf("value %s", diff)
	}
	if joined(lines(resolved.Problems)) != "$.l[0] type: must be a map" {
		t.Errorf("problems %q", resolved.Problems)
	}
	for _, bad := range []any{nil, "text", []any{}} {
		if problems := s.ValidateWrite(bad); len(problems) != 1 || problems[0].Path != "$" {
			t.Errorf("%v: %v", bad, problems)
		}
	}
}
