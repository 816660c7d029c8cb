package document

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hardshell/internal/jsontree"
)

// TestMain draws more than the hundred documents that rapid draws by default,
// unless it is told how many.
func TestMain(m *testing.M) {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks != nil && checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set("1000"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func mustParse(t *testing.T, format Format, text string) *Document {
	t.Helper()
	d, err := Parse("s", format, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustApply(t *testing.T, d *Document, edits ...Edit) *Document {
	t.Helper()
	edited, err := d.Apply(edits)
	if err != nil {
		t.Fatalf("%v: %v\n%s", edits, err, d.Bytes())
	}
	again, err := Parse("s", d.Format(), bytes.Clone(edited.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestAnyStringIsAKey(t *testing.T) {
	t.Parallel()
	keys := []string{"__proto__", "constructor", "toString", "", "1", "true", "null", "a.b", "~", "/", "<<", "k: v # x", "c/d", "-", "? x", "multi\nline", "\u0000", "é", "\"", "'", " ", "#", "{}", "[a]", "*a", "&a", "0x1F", ".nan", "2024-01-02", strings.Repeat("long ", 150)}
	for _, c := range []struct {
		format Format
		text   string
	}{{YAML, "s:\n  stays: 1\n"}, {YAML, "s: {stays: 1}\n"}, {JSON, `{"s": {"stays": 1}}`}, {JSON, "{\n  \"s\": {\n    \"stays\": 1\n  }\n}\n"}} {
		d := mustParse(t, c.format, c.text)
		for i, key := range keys {
			d = mustApply(t, d, Edit{Path: jsontree.Path{"s", key}, Value: i})
		}
		d = mustApply(t, d, Edit{Path: jsontree.Path{"s", "constructor"}, Unset: true})
		section := d.Tree()["s"].(map[string]any)
		for i, key := range keys {
			if value, present := section[key]; key != "constructor" && (!present || !jsontree.Equal(value, mustTree(i))) {
				t.Errorf("%q is %v", key, value)
			}
		}
		for _, key := range keys {
			d = mustApply(t, d, Edit{Path: jsontree.Path{"s", key}, Unset: true})
		}
		if string(d.Bytes()) != c.text {
			t.Errorf("%q became %q", c.text, d.Bytes())
		}
	}
}

func TestWritingAndReadingAgainChangesNoType(t *testing.T) {
	t.Parallel()
	text := "typed:\n  date: 2024-01-02\n  yes: yes\n  off: off\n  octal: 012\n  octal12: 0o14\n  hex: 0x1f\n  exponent: 1e3\n  tilde: ~\n  empty:\n  quoted: \"\"\n  null: null\n  time: 12:30:45\n  big: 9007199254740993\n  bigger: 123456789012345678901234567890\n  zero: -0\n"
	d := mustParse(t, YAML, text)
	want := d.Tree()["typed"]
	for i := range 3 {
		d = mustApply(t, d, Edit{Path: jsontree.Path{"other"}, Value: i}, Edit{Path: jsontree.Path{"copy"}, Value: want})
		for _, section := range []string{"typed", "copy"} {
			if got := d.Tree()[section]; !jsontree.Equal(got, want) {
				t.Errorf("cycle %d: %s is %s", i, section, jsontree.Encode(got))
			}
		}
	}
	if !bytes.HasPrefix(d.Bytes(), []byte(text)) {
		t.Errorf("the section was written anew:\n%s", d.Bytes())
	}
}

func TestAHundredWritesLeaveOtherSectionsAlone(t *testing.T) {
	t.Parallel()
	other := "removed-plugin:   # of an older version\n    b:  0x1F\n    # odd: formatting\n    a: [ 1,2 ,  3 ]\n\n    'c': >-\n       folded\n       text\n\n"
	d := mustParse(t, YAML, "mine: {}\n\n"+other+"last: 1\n")
	for i := range 100 {
		path := jsontree.Path{"mine", fmt.Sprintf("key%d", i%7)}
		if i%3 == 0 {
			path = append(path, "deep")
			d = mustApply(t, d, Edit{Path: path[:2], Unset: true}, Edit{Path: path, Value: i})
		} else {
			d = mustApply(t, d, Edit{Path: path, Value: []any{i, "x"}, Unset: i%5 == 0})
		}
		if !bytes.Contains(d.Bytes(), []byte("\n\n"+other+"last: 1\n")) {
			t.Fatalf("after write %d:\n%s", i, d.Bytes())
		}
	}
}

// Whatever value is written anywhere, in either language, is read again.
func TestAnyValueIsReadAgain(t *testing.T) {
	t.Parallel()
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		scalar := rapid.OneOf(rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Float64Range(-1e300, 1e300).AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil),
			rapid.StringOf(rapid.SampledFrom([]rune("ab \n\t:#-'\"é"))).AsAny())
		if depth == 0 {
			return scalar
		}
		return rapid.OneOf(scalar, rapid.SliceOfN(value(depth-1), 0, 3).AsAny(), rapid.MapOfN(rapid.String(), value(depth-1), 0, 3).AsAny())
	}
	texts := map[Format][]string{
		YAML: {"", "a: 1\n", "a:\n  b:\n    - 1\n", "a: {b: 1}\n", "a: |\n  x\n  y\n", "{a: 1}", "# c\na: # d\n  # e\n", "a: &x 1 # c\nb: 2"},
		JSON: {"", "{\"a\":1}", "{\n\t\"a\": 1 // c\n}", "{\"a\": {}}"},
	}
	rapid.Check(t, func(rt *rapid.T) {
		format := rapid.SampledFrom([]Format{YAML, JSON}).Draw(rt, "format")
		d := mustParse(t, format, rapid.SampledFrom(texts[format]).Draw(rt, "text"))
		tree, err := jsontree.From(value(3).Draw(rt, "value"))
		if err != nil {
			rt.Skip(err)
		}
		path := rapid.SampledFrom([]jsontree.Path{{"a"}, {"new"}, {"new", "deep"}}).Draw(rt, "path")
		edited, err := d.Apply([]Edit{{Path: path, Value: tree}})
		if err != nil {
			rt.Fatalf("%v\n%q", err, jsontree.Encode(tree))
		}
		got, _ := jsontree.Get(edited.Tree(), path)
		if !jsontree.Equal(got, tree) {
			rt.Fatalf("%s, want %s\n%s", jsontree.Encode(got), jsontree.Encode(tree), edited.Bytes())
		}
	})
}
