package settings

import (
	"encoding/json"
	"testing"
)

func TestATextQuotesASecret(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		secret any
		want   bool
	}{
		"as it is":                   {"bad key sk-1", "sk-1", true},
		"as part of a word":          {"bad key xsk-1x", "sk-1", true},
		"with escapes":               {`bad key "a\nb"`, "a\nb", true},
		"a number":                   {"bad pin 4711", json.Number("4711"), true},
		"in a map":                   {"bad key sk-1", map[string]any{"a": "x9", "b": []any{nil, true, "sk-1"}}, true},
		"not at all":                 {"bad key", "sk-1", false},
		"not a map's either":         {"bad key", map[string]any{"a": []any{"x9"}}, false},
		"an empty one is in no text": {"bad key", "", false},
		"a truth is no secret":       {"true", true, false},
	} {
		if got := quotes(c.text, c.secret); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestThePathOfASlot(t *testing.T) {
	t.Parallel()
	tree := map[string]any{"list": []any{map[string]any{"key": "v"}}, "word": "w"}
	for _, c := range []struct {
		path []string
		want any
	}{
		{[]string{"list", "0", "key"}, "v"}, {[]string{"word"}, "w"},
		{[]string{"list", "1"}, nil}, {[]string{"list", "x"}, nil}, {[]string{"no"}, nil}, {[]string{"word", "x"}, nil}, {[]string{"list", "-1"}, nil},
	} {
		if got, ok := at(tree, c.path); got != c.want || ok != (c.want != nil) {
			t.Errorf("%q leads to %v, %v", c.path, got, ok)
		}
	}
}
