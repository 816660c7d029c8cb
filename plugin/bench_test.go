package plugin_test

import (
	"context"
	"fmt"
	"testing"

	"hardshell/plugin"
)

// chain is twelve plugins, each of which needs the one before it and the first.
func chain() (plugins []plugin.Plugin, rows []plugin.Row) {
	for i := range 12 {
		k := plugin.NewKey[int](fmt.Sprint("s", i))
		p := plugin.Plugin{Name: k.Name(), Provides: []plugin.AnyKey{k}, Apply: func(_ context.Context, a *plugin.Activation) error {
			return plugin.Provide(a.Scope, k, i)
		}}
		if i > 0 {
			p.Needs = []plugin.AnyKey{plugin.NewKey[int](fmt.Sprint("s", i-1))}
		}
		if i > 1 {
			p.Optional = []plugin.AnyKey{plugin.NewKey[int]("s0")}
		}
		plugins, rows = append(plugins, p), append(rows, plugin.Row{ID: p.Name, Plugin: p.Name})
	}
	return plugins, rows
}

func BenchmarkTwelveRows(b *testing.B) {
	plugins, rows := chain()
	b.ReportAllocs()
	for b.Loop() {
		h, err := plugin.NewHost(plugins, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := h.Load(context.Background(), rows); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTell(b *testing.B) {
	s := plugin.NewScope("outer", nil)
	e := plugin.NewEmit[int]("changed")
	for range 4 {
		_ = e.Listen(s, func(context.Context, int) error { return nil })
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = e.Tell(context.Background(), nil, 1)
	}
}
