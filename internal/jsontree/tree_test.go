package jsontree

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, text string) any {
	t.Helper()
	tree, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse(%s): %v", text, err)
	}
	return tree
}

func TestNumbersAreComparedByTheirExactValues(t *testing.T) {
	for _, c := range []struct {
		a, b json.Number
		want int
	}{
		{"1", "1.0", 0}, {"1", "1e0", 0}, {"1000", "1E+3", 0}, {"0", "-0", 0}, {"0.0", "0e9", 0},
		{"9007199254740993", "9007199254740992", 1}, {"-1", "1", -1}, {"-2", "-1", -1}, {"-10", "-9", -1},
		{"0.1", "0.10000000000000000001", -1}, {"10", "9", 1}, {"123", "1230e-1", 0}, {"1e-400", "0", 1},
		{"1e1000000", "9", 1}, {"0.009", "0.01", -1},
	} {
		if got := CompareNumbers(c.a, c.b); got != c.want {
			t.Errorf("CompareNumbers(%s, %s) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := CompareNumbers(c.b, c.a); got != -c.want {
			t.Errorf("CompareNumbers(%s, %s) = %d, want %d", c.b, c.a, got, -c.want)
		}
	}
}

func TestOnlyTheTextOfAJSONNumberIsOne(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, "-0": true, "10": true, "1.5": true, "1e3": true, "1E-3": true, "-1.25e+2": true,
		"": false, "01": false, "+1": false, "1.": false, ".5": false, "1e": false, "0x1": false, "NaN": false,
		"1e99999999999999999999": false, "1_0": false, "--1": false, "1e+-1": false, "- 1": false,
	} {
		if got := ValidNumber(text); got != want {
			t.Errorf("ValidNumber(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestEqualIsAboutData(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":2}`, `{"b":2,"a":1.0}`, true}, {`[1]`, `{"0":1}`, false}, {`null`, `{}`, false},
		{`{}`, `{"a":null}`, false}, {`[]`, `[]`, true}, {`"1"`, `1`, false}, {`[1,2]`, `[2,1]`, false}, {`true`, `true`, true},
	} {
		if got := Equal(parse(t, c.a), parse(t, c.b)); got != c.want {
			t.Errorf("Equal(%s, %s) = %v", c.a, c.b, got)
		}
	}
}

func TestMergeGoesThroughMapsOnly(t *testing.T) {
	lower, upper := parse(t, `{"a":{"x":1,"y":2},"l":[1,2],"s":1}`), parse(t, `{"a":{"y":3},"l":[],"s":{"k":1}}`)
	merged := Merge(lower, upper)
	if diff := cmp.Diff(parse(t, `{"a":{"x":1,"y":3},"l":[],"s":{"k":1}}`), merged); diff != "" {
		t.Error(diff)
	}
	merged.(map[string]any)["a"].(map[string]any)["x"] = "changed"
	if !Equal(lower, parse(t, `{"a":{"x":1,"y":2},"l":[1,2],"s":1}`)) {
		t.Error("the merged tree shares with what it was made of")
	}
}

func TestFromSaysWhereAndWhatIsNoJSON(t *testing.T) {
	type inner struct {
		F float64 `json:"f"`
	}
	loop := map[string]any{}
	loop["self"] = loop
	list := []any{nil}
	list[0] = list
	deep := any("leaf")
	for range MaxDepth + 10 {
		deep = []any{deep}
	}
	for name, c := range map[string]struct {
		value any
		path  string
		kind  string
	}{
		"function":        {map[string]any{"value": map[string]any{"at": func() {}}}, "$.value.at", "a function"},
		"channel":         {map[string]any{"value": []any{make(chan int)}}, "$.value[0]", "a channel"},
		"infinity":        {map[string]any{"n": math.Inf(1)}, "$.n", "a non-finite number"},
		"odd key":         {map[string]any{"a.b": math.NaN()}, `$["a.b"]`, "a non-finite number"},
		"map cycle":       {map[string]any{"value": loop}, "$.value.self", "a circular reference"},
		"list cycle":      {list, "$[0]", "a circular reference"},
		"integer keys":    {map[string]any{"m": map[int]int{1: 2}}, "$.m", "a map whose keys are not strings"},
		"no UTF-8":        {map[string]any{"s": "\xff"}, "$.s", "a string that is not UTF-8"},
		"no number":       {map[string]any{"n": json.Number("1x")}, "$.n", "a json.Number that is no number"},
		"complex":         {[]any{complex(1, 2)}, "$[0]", "a complex number"},
		"inside a struct": {map[string]any{"s": inner{math.NaN()}}, "$.s", "a jsontree.inner that encoding/json refuses"},
		"deep":            {deep, "$" + strings.Repeat("[0]", MaxDepth+1), "data nested deeper than 256"},
	} {
		_, err := From(c.value)
		var not *NotJSON
		if !errors.As(err, &not) || not.Path != c.path || not.Kind != c.kind {
			t.Errorf("%s: %v, want %s at %s", name, err, c.kind, c.path)
		}
	}
}

func TestFromTakesWhatJSONHasWordsFor(t *testing.T) {
	shared := map[string]any{"k": 1}
	type named map[string]int
	value := map[string]any{
		"n": int64(9007199254740993), "u": uint64(18446744073709551615), "f": 1.5, "nil": nil, "raw": json.RawMessage(`{"a":1e3}`),
		"twice": []any{shared, shared}, "named": named{"x": 1}, "pointer": &shared, "struct": struct {
			A int    `json:"a"`
			B string `json:"b,omitempty"`
		}{A: 1}, "none": (*int)(nil), "array": [2]bool{true, false},
	}
	tree, err := From(value)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"array":[true,false],"f":1.5,"n":9007199254740993,"named":{"x":1},"nil":null,"none":null,"pointer":{"k":1},"raw":{"a":1e3},"struct":{"a":1},"twice":[{"k":1},{"k":1}],"u":18446744073709551615}`
	if got := string(Encode(tree)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	shared["k"] = 2
	if got := string(Encode(tree)); got != want {
		t.Error("the tree shares with the value that it was made of")
	}
}

func TestDecodeIsExactAndNamesNoValue(t *testing.T) {
	var into struct {
		N int64 `json:"n"`
		S struct {
			B int8 `json:"b"`
		} `json:"s"`
	}
	if err := Decode(parse(t, `{"n":9.007199254740993e15,"s":{"b":1.0}}`), &into); err != nil || into.N != 9007199254740993 || into.S.B != 1 {
		t.Errorf("%+v, %v", into, err)
	}
	for _, text := range []string{`{"s":{"b":4711}}`, `{"s":{"b":"4711"}}`, `{"s":{"b":1.4711}}`} {
		err := Decode(parse(t, text), &into)
		if err == nil || strings.Contains(err.Error(), "4711") || !strings.Contains(err.Error(), "$.s.b") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestParseRefusesWhatIsNotOneValue(t *testing.T) {
	for _, text := range []string{``, `{`, `{} {}`, `{"a":sk-SECRET}`, "\xff", `[1,]`, strings.Repeat("[", 300) + strings.Repeat("]", 300)} {
		if _, err := Parse([]byte(text)); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestPathsAreReadBack(t *testing.T) {
	for _, p := range []Path{{}, {"a"}, {"a", "b-c"}, {"a.b", "c"}, {"", "x"}, {"a", `q"]`}, {"1", "true"}, {"~", "/"}, {"$"}, {"é"}} {
		back, err := ParsePath(p.String())
		if err != nil || !cmp.Equal(p, back) {
			t.Errorf("%q → %s → %q, %v", []string(p), p, []string(back), err)
		}
	}
	for text, want := range map[string]Path{"": {}, "a.b": {"a", "b"}, `a["x.y"].b`: {"a", "x.y", "b"}, "a.1.c d": {"a", "1", "c d"}, "$x": {"$x"}} {
		if got, err := ParsePath(text); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %q, %v", text, []string(got), err)
		}
	}
	for _, text := range []string{".", "a.", "a..b", "a[b]", `a["b"`, `a["b"]c`, "a.[", "$.", `["a"] `} {
		if p, err := ParsePath(text); err == nil {
			t.Errorf("%s was read as %q", text, []string(p))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.50,"x",null,true,{"b":-0e3}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := Parse(data)
		if err != nil {
			return
		}
		again, err := Parse(Encode(tree))
		if err != nil || !Equal(tree, again) || !Equal(tree, Clone(tree)) {
			t.Fatalf("%q: %v", data, err)
		}
	})
}

func FuzzParsePath(f *testing.F) {
	f.Add(`a["x.y"].b`)
	f.Fuzz(func(t *testing.T, text string) {
		path, err := ParsePath(text)
		if err != nil {
			return
		}
		if back, err := ParsePath(path.String()); err != nil || !cmp.Equal(path, back) {
			t.Fatalf("%q → %q → %q, %v", text, []string(path), []string(back), err)
		}
	})
}
