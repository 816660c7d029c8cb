package plugin_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hardshell/plugin"
)

// TestAnyCompositionStaysInOrder changes random compositions at random. After
// each change, a row runs exactly when it can, and uses the services that run.
func TestAnyCompositionStaysInOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := &model{up: map[string][]string{}, declared: map[string]plugin.Plugin{}}
		const n = 7
		var plugins []plugin.Plugin
		for i := range n {
			needs, optional := "", ""
			for j := range n {
				switch k := fmt.Sprint("s", j); {
				case j == i:
				case j < i && r.IntN(4) == 0 || r.IntN(30) == 0: // sometimes a circle
					needs += " " + k
				case r.IntN(4) == 0:
					optional += " " + k
				}
			}
			plugins = append(plugins, m.part(fmt.Sprint("p", i), needs, optional, fmt.Sprint("s", i)))
		}
		h, err := plugin.NewHost(plugins, nil)
		must(t, err)
		var all []plugin.Row
		for _, i := range r.Perm(n) {
			all = append(all, plugin.Row{ID: fmt.Sprint("p", i), Plugin: fmt.Sprint("p", i), Disabled: r.IntN(3) == 0})
		}
		must(t, h.Load(ctx, all))
		m.check(t, h)
		for range 15 {
			row := all[r.IntN(n)]
			row.Disabled, row.Config = r.IntN(3) == 0, nil
			if r.IntN(5) == 0 {
				row.Config = "fail"
			}
			_ = h.Reload(ctx, row)
			m.check(t, h)
		}
		must(t, h.Close(ctx))
		if len(m.up) != 0 || t.Failed() {
			t.Fatalf("seed %d: up at the end: %v", seed, m.up)
		}
	}
}

// model is what the plugins of a test know of one another.
type model struct {
	up       map[string][]string // the services that each row in effect uses
	declared map[string]plugin.Plugin
	faults   []string
}

func (m *model) part(name, needs, optional, provides string) plugin.Plugin {
	p := plugin.Plugin{Name: name, Needs: keys(needs), Optional: keys(optional), Provides: keys(provides)}
	m.declared[name] = p
	p.Apply = func(_ context.Context, a *plugin.Activation) error {
		var uses []string
		for _, k := range strings.Fields(needs) {
			uses = append(uses, plugin.Get(a, plugin.NewKey[string](k)))
		}
		for _, k := range strings.Fields(optional) {
			if v, ok := plugin.Lookup(a, plugin.NewKey[string](k)); ok {
				uses = append(uses, v)
			}
		}
		for _, u := range uses {
			if _, ok := m.up[u]; !ok {
				m.faults = append(m.faults, fmt.Sprintf("%s uses %q, which is down", name, u))
			}
		}
		if a.Config == "fail" {
			return context.Canceled
		}
		m.up[name] = uses
		if err := plugin.Provide(a.Scope, plugin.NewKey[string](provides), name); err != nil {
			return err
		}
		return a.Scope.Defer(func(context.Context) error {
			delete(m.up, name)
			for user, uses := range m.up {
				if strings.Contains(" "+strings.Join(uses, " ")+" ", " "+name+" ") {
					m.faults = append(m.faults, fmt.Sprintf("%s ended before its user %s", name, user))
				}
			}
			return nil
		})
	}
	return p
}

func (m *model) check(t *testing.T, h *plugin.Host) {
	t.Helper()
	for _, s := range h.Status() {
		_, up := m.up[s.ID]
		if up != (s.State == plugin.Active) {
			m.faults = append(m.faults, fmt.Sprintf("%s is %s and up: %v", s.ID, s.State, up))
		}
		able := true
		for _, k := range m.declared[s.Plugin].Needs {
			_, ok := plugin.Service(h, k.(plugin.Key[string]))
			able = able && ok
		}
		if s.State == plugin.Active && !able || s.State == plugin.Pending && able {
			m.faults = append(m.faults, fmt.Sprintf("%s is %s, its needs are there: %v", s.ID, s.State, able))
		}
		if s.State == plugin.Pending && len(s.Waiting) == 0 {
			m.faults = append(m.faults, s.ID+" waits for nothing")
		}
	}
	if len(m.faults) > 0 {
		t.Errorf("%s", strings.Join(m.faults, "; "))
		m.faults = nil
	}
}
