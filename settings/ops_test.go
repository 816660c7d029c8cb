package settings_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/settings"
)

func TestAnEditAsJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"op":"set","path":["a"],"value":null}`:                  `stored {"a":null}`,
		`{"op":"set","path":["a"],"value":9007199254740993}`:      `stored {"a":9007199254740993}`,
		`{"op":"set","path":["a"],"value":"<&>","more":1}`:        `stored {"a":"<&>"}`,
		`{"op":"set","path":["a"]}`:                               "INVALID_ARGUMENT",
		`{"op":"unset"}`:                                          "INVALID_ARGUMENT",
		`{"op":"unset","path":null}`:                              "INVALID_ARGUMENT",
		`{"op":"unset","path":"a"}`:                               "INVALID_ARGUMENT",
		`{"op":"unset","path":[null]}`:                            "INVALID_ARGUMENT",
		`{"op":"unset","path":[1]}`:                               "INVALID_ARGUMENT",
		`{"op":"SET","path":["a"],"value":1}`:                     "INVALID_ARGUMENT",
		`{"path":["a"],"value":1}`:                                "INVALID_ARGUMENT",
		`[]`:                                                      "INVALID_ARGUMENT",
		`{"op":"set","path":[],"value":{"b":{"c":[1]}},"x":null}`: `stored {"b":{"c":[1]}}`,
	} {
		memory := settings.NewMemory(nil)
		s := open(t, memory, settings.Options{})
		register(t, s, "free", settings.RegisterOptions[map[string]any]{Schema: freeSchema(t)})
		var op settings.Op
		err := json.Unmarshal([]byte(text), &op)
		if err == nil {
			err = s.Mutate(t.Context(), "free", []settings.Op{op}, settings.Expect{})
		}
		got := string(fault.CodeOf(err))
		if err == nil {
			var plain bytes.Buffer
			encoder := json.NewEncoder(&plain)
			encoder.SetEscapeHTML(false)
			must(t, encoder.Encode(memory.Stored()["free"]))
			got = "stored " + strings.TrimSpace(plain.String())
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", text, got, err, want)
		}
	}
}

func FuzzEdits(f *testing.F) {
	for _, seed := range []string{
		`[{"op":"set","path":["a","b"],"value":{"c":[1,null]}},{"op":"unset","path":["a"]}]`,
		`[{"op":"set","path":["list","0"],"value":1}]`, `[{"op":"set","path":[],"value":{}}]`, `[{"op":"unset","path":[]},{}]`,
		`[{"op":"set","path":["map","list"],"value":1e400}]`, `[{"path":[null]}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var ops []settings.Op
		if json.Unmarshal(data, &ops) != nil {
			return
		}
		memory := settings.NewMemory(map[string]any{"free": map[string]any{"list": []any{1}, "map": map[string]any{"list": []any{}, "k": "v"}}})
		before := memory.Stored()
		s := open(t, memory, settings.Options{})
		scope := register(t, s, "free", settings.RegisterOptions[map[string]any]{Schema: freeSchema(t)})
		err := s.Mutate(t.Context(), "free", ops, settings.Expect{})
		after := memory.Stored()
		if err != nil {
			if !errors.Is(err, fault.InvalidArgument) && !errors.Is(err, fault.SettingsInvalid) && !errors.Is(err, fault.PathNotContainer) {
				t.Errorf("the error is %v", err)
			}
			if !jsontree.Equal(before, after) {
				t.Errorf("refused, but stored: %v", after)
			}
			return
		}
		if value := any(scope.Get()); !jsontree.Equal(value, after["free"]) {
			t.Errorf("stored %v, value %v", after["free"], value)
		}
		version := memory.Version()
		if err := s.Mutate(t.Context(), "free", nil, settings.Expect{}); err != nil || memory.Version() != version {
			t.Errorf("no edits: %v", err)
		}
	})
}
