package settings_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"hardshell/settings"
)

// TestManyAtOnce is of use with the race detector.
func TestManyAtOnce(t *testing.T) {
	memory := settings.NewMemory(nil)
	s := open(t, memory, settings.Options{})
	beside := open(t, memory.Beside(), settings.Options{})
	names := []settings.Namespace{"a", "b", "c"}
	var scopes, others []*settings.Scope[shell]
	for _, ns := range names {
		scopes = append(scopes, register(t, s, ns, settings.RegisterOptions[shell]{}))
		others = append(others, register(t, beside, ns, settings.RegisterOptions[shell]{}))
	}
	for _, scope := range scopes {
		scope.Watch(func(_ context.Context, next, prev shell) error {
			if next == prev {
				t.Error("a change that is none")
			}
			return nil
		})
	}
	last := map[settings.Namespace]uint64{}
	s.OnDocumentUpdated(func(_ context.Context, e settings.DocumentUpdated) error {
		if e.Revision <= last[e.NS] && e.NS != "passing" {
			t.Errorf("%s: revision %d after %d", e.NS, e.Revision, last[e.NS])
		}
		last[e.NS] = e.Revision
		return nil
	})
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for range 8 {
		readers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				if scopes[i%3].Get().Timeout < 1 {
					t.Error("a value that is none")
				}
				s.Get(names[i%3])
				if i%50 == 0 {
					s.DescribeForWire()
				}
				runtime.Gosched()
			}
		})
	}
	const rounds = 60
	for w := range 4 {
		writers.Go(func() {
			for i := range rounds {
				scope := scopes[(i+w)%3]
				if w == 3 {
					scope = others[i%3]
				}
				if err := scope.Update(context.Background(), map[string]any{"timeoutMs": 1 + rand.IntN(1000)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Go(func() {
		for i := range rounds {
			memory.Edit(map[string]any{"a": map[string]any{"timeoutMs": i - 5}, "b": map[string]any{"timeoutMs": i + 1}, "stray": i})
		}
	})
	writers.Go(func() {
		for range rounds {
			scope, err := settings.Register(s, "passing", settings.RegisterOptions[shell]{})
			if err != nil {
				t.Error(err)
				return
			}
			scope.Watch(func(context.Context, shell, shell) error { return nil })
			if err := scope.Update(context.Background(), map[string]any{"timeoutMs": 1 + rand.IntN(1000)}); err != nil {
				t.Error(err)
			}
			if err := scope.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	writers.Wait()
	close(done)
	readers.Wait()
	for i, ns := range names {
		must(t, scopes[i].Update(context.Background(), map[string]any{"timeoutMs": 7}))
		stored, _ := memory.Stored()[string(ns)].(map[string]any)
		if scopes[i].Get().Timeout != 7 || fmt.Sprint(stored["timeoutMs"]) != "7" {
			t.Errorf("%s: %+v, stored %v", ns, scopes[i].Get(), stored)
		}
	}
}
