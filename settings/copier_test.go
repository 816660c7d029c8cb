package settings_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hardshell/settings"
	"hardshell/settings/schema"
)

func freeSchema(t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(`{"type":"object","additionalProperties":true}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// hidden decodes itself into what reflection cannot copy.
type hidden struct{ words []string }

func (h *hidden) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &h.words) }

type everything struct {
	N      int
	P      *int
	L      [][]string
	A      [2][]int
	M      map[string]*shell
	Any    any
	Hidden *hidden
}

func TestGetIsACopyOfWhateverTypeTheValueHas(t *testing.T) {
	type plain struct {
		P    *int
		L    [][]string
		A    [2][]int
		M    map[string]*shell
		Any  any
		Self *plain
	}
	section := map[string]any{
		"N": 1, "P": 2, "L": []any{[]any{"a"}}, "A": []any{[]any{1}, []any{2}}, "M": map[string]any{"k": map[string]any{"cwd": "/"}},
		"Any": map[string]any{"list": []any{1}}, "Hidden": []any{"w"}, "Self": map[string]any{"L": []any{[]any{"b"}}},
	}
	s := open(t, settings.NewMemory(map[string]any{"walked": section, "decoded": section}), settings.Options{})
	walked := register(t, s, "walked", settings.RegisterOptions[plain]{Schema: freeSchema(t)})
	spoiled, before := walked.Get(), fmt.Sprint(cmp.Diff(plain{}, walked.Get()))
	*spoiled.P, spoiled.L[0][0], spoiled.A[1][0], spoiled.M["k"].Cwd, spoiled.Self.L[0][0] = 9, "x", 9, "x", "x"
	spoiled.Any.(map[string]any)["list"].([]any)[0] = "x"
	if after := fmt.Sprint(cmp.Diff(plain{}, walked.Get())); after != before {
		t.Errorf("walked:\n%s\nbefore:\n%s", after, before)
	}
	decoded := register(t, s, "decoded", settings.RegisterOptions[everything]{Schema: freeSchema(t)})
	decoded.Get().Hidden.words[0] = "x"
	decoded.Get().L[0][0] = "x"
	if got := decoded.Get(); got.Hidden.words[0] != "w" || got.L[0][0] != "a" {
		t.Errorf("decoded: %+v", got)
	}
}

func TestGetOfAFlatValueAllocatesNothing(t *testing.T) {
	s := open(t, settings.NewMemory(nil), settings.Options{})
	scope := register(t, s, "shell", settings.RegisterOptions[shell]{})
	if n := testing.AllocsPerRun(100, func() { _ = scope.Get() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkGet(b *testing.B) {
	s := open(b, settings.NewMemory(nil), settings.Options{})
	flat := register(b, s, "flat", settings.RegisterOptions[shell]{})
	deep := register(b, s, "deep", settings.RegisterOptions[struct {
		Tags []string          `json:"tags,omitempty"`
		Env  map[string]string `json:"env,omitempty"`
	}]{Base: map[string]any{"tags": []any{"a", "b"}, "env": map[string]any{"k": "v"}}})
	b.Run("flat", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = flat.Get()
		}
	})
	b.Run("with lists and maps", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = deep.Get()
		}
	})
}

func BenchmarkUpdateAmong200(b *testing.B) {
	s := open(b, settings.NewMemory(nil), settings.Options{})
	var scopes []*settings.Scope[shell]
	for i := range 200 {
		scopes = append(scopes, register(b, s, settings.Namespace(fmt.Sprint("n", i)), settings.RegisterOptions[shell]{}))
	}
	ctx, n := context.Background(), 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		if err := scopes[n%200].Update(ctx, map[string]any{"timeoutMs": n}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEditOfOneAmong200(b *testing.B) {
	memory := settings.NewMemory(nil)
	s := open(b, memory, settings.Options{})
	sections := map[string]any{}
	for i := range 200 {
		ns := fmt.Sprint("n", i)
		sections[ns] = map[string]any{"timeoutMs": 1}
		register(b, s, settings.Namespace(ns), settings.RegisterOptions[shell]{})
	}
	n := 0
	for b.Loop() {
		n++
		sections["n7"] = map[string]any{"timeoutMs": n}
		memory.Edit(sections)
	}
}

func BenchmarkRegister(b *testing.B) {
	s := open(b, settings.NewMemory(nil), settings.Options{})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		scope, err := settings.Register(s, "shell", settings.RegisterOptions[shell]{})
		if err != nil {
			b.Fatal(err)
		}
		if err := scope.Close(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
