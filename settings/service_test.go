package settings_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hardshell/internal/fault"
	"hardshell/settings"
)

type shell struct {
	Timeout int    `json:"timeoutMs" default:"120000" minimum:"1"`
	Cwd     string `json:"cwd,omitempty"`
	Token   string `json:"token,omitempty" role:"secret"`
}

// held is a Memory whose changes wait, in derive, until they are let go.
type held struct {
	*settings.Memory
	gate chan struct{}
}

func (h *held) Change(ctx context.Context, ns settings.Namespace, derive func(settings.Section) (map[string]any, error), commit func(settings.Section)) error {
	return h.Memory.Change(ctx, ns, func(s settings.Section) (map[string]any, error) {
		<-h.gate
		return derive(s)
	}, commit)
}

func open(t testing.TB, p settings.Provider, options settings.Options) *settings.Service {
	t.Helper()
	s, err := settings.Open(context.Background(), p, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return s
}

func register[T any](t testing.TB, s *settings.Service, ns settings.Namespace, o settings.RegisterOptions[T]) *settings.Scope[T] {
	t.Helper()
	scope, err := settings.Register(s, ns, o)
	if err != nil {
		t.Fatal(err)
	}
	return scope
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWritesOfANamespaceHaveTheirTurnsInTheOrderOfTheirCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		s := open(t, &held{settings.NewMemory(nil), gate}, settings.Options{})
		scope := register(t, s, "shell", settings.RegisterOptions[shell]{})
		var mu sync.Mutex
		var order []int
		s.OnUpdated(func(_ context.Context, e settings.Updated) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, scope.Get().Timeout)
			return nil
		})
		canceled, cancel := context.WithCancel(t.Context())
		for i := 1; i <= 6; i++ {
			ctx, value := t.Context(), i
			switch i {
			case 3: // refused, and does not poison the queue
				value = -1
			case 4:
				ctx = canceled
			}
			go func() {
				err := scope.Update(ctx, map[string]any{"timeoutMs": value})
				switch {
				case i == 3 && !errors.Is(err, fault.SettingsInvalid), i == 4 && !errors.Is(err, context.Canceled), i != 3 && i != 4 && err != nil:
					t.Errorf("write %d: %v", i, err)
				}
			}()
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		close(gate)
		synctest.Wait()
		if got := fmt.Sprint(order); got != "[1 2 5 6]" {
			t.Errorf("the order is %s", got)
		}
	})
}

func TestClosingLetsTheRunningWriteLandAndRefusesTheQueuedOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		memory := settings.NewMemory(nil)
		s := open(t, &held{memory, gate}, settings.Options{})
		scope := register(t, s, "shell", settings.RegisterOptions[shell]{})
		told := 0
		s.OnUpdated(func(context.Context, settings.Updated) error { told++; return nil })
		first, second, closed := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() { first <- scope.Update(t.Context(), map[string]any{"timeoutMs": 1}) }()
		synctest.Wait()
		go func() { second <- scope.Update(t.Context(), map[string]any{"timeoutMs": 2}) }()
		synctest.Wait()
		go func() { closed <- s.Close(t.Context()) }()
		if err := <-second; !errors.Is(err, settings.ErrClosed) || !strings.Contains(err.Error(), "before the queued") {
			t.Errorf("the queued write: %v", err)
		}
		synctest.Wait()
		select {
		case err := <-closed:
			t.Fatalf("closing did not wait: %v", err)
		default:
		}
		close(gate)
		must(t, <-first)
		must(t, <-closed)
		if told != 1 || fmt.Sprint(memory.Stored()) != "map[shell:map[timeoutMs:1]]" {
			t.Errorf("told %d times, stored %v", told, memory.Stored())
		}
	})
}

func TestAQueuedWriteIsRefusedWhenItsRegistrationHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		memory := settings.NewMemory(nil)
		s := open(t, &held{memory, gate}, settings.Options{})
		scope := register(t, s, "shell", settings.RegisterOptions[shell]{})
		errs := make(chan error, 2)
		for range 2 {
			go func() { errs <- scope.Update(t.Context(), map[string]any{"timeoutMs": 1}) }()
		}
		synctest.Wait()
		must(t, scope.Close(t.Context()))
		register(t, s, "shell", settings.RegisterOptions[shell]{})
		close(gate)
		for range 2 {
			if err := <-errs; !errors.Is(err, fault.SettingsUnknown) {
				t.Errorf("the error is %v", err)
			}
		}
		if len(memory.Stored()) != 0 {
			t.Errorf("stored: %v", memory.Stored())
		}
	})
}

func TestACheckOfAnOwner(t *testing.T) {
	for name, c := range map[string]struct {
		check func(map[string]any) error
		want  string // of the error; "" for none
	}{
		"that panics refuses the write":         {func(map[string]any) error { panic("sk-canary") }, "panicked"},
		"that never returns refuses the write":  {func(map[string]any) error { select {} }, "longer than 5s"},
		"that exits refuses the write":          {func(map[string]any) error { runtime.Goexit(); return nil }, "panicked"},
		"that refuses, refuses the write":       {func(map[string]any) error { return errors.New("not today") }, "$: not today"},
		"that changes its value changes a copy": {func(v map[string]any) error { v["cwd"] = "changed"; return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ready := false
				memory := settings.NewMemory(nil)
				s := open(t, memory, settings.Options{})
				scope := register(t, s, "shell", settings.RegisterOptions[map[string]any]{
					Schema: freeSchema(t),
					Validate: func(v map[string]any) error {
						if !ready {
							return nil
						}
						if strings.Contains(name, "never") {
							<-t.Context().Done() // the end of the test
							return nil
						}
						return c.check(v)
					},
				})
				other := register(t, s, "other", settings.RegisterOptions[shell]{})
				ready = true
				err := scope.Update(t.Context(), map[string]any{"cwd": "mine"})
				if c.want == "" {
					must(t, err)
					if scope.Get()["cwd"] != "mine" {
						t.Errorf("the value is %v", scope.Get())
					}
				} else {
					if !errors.Is(err, fault.SettingsInvalid) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
						t.Errorf("the error is %v", err)
					}
					if len(memory.Stored()) != 0 {
						t.Errorf("stored: %v", memory.Stored())
					}
				}
				must(t, other.Update(t.Context(), map[string]any{"timeoutMs": 1}))
			})
		})
	}
}

func TestALoadThatFailsGivesNoService(t *testing.T) {
	want := errors.New("no document")
	if s, err := settings.Open(t.Context(), failing{err: want}, settings.Options{}); s != nil || !errors.Is(err, want) {
		t.Errorf("%v, %v", s, err)
	}
}

type failing struct {
	settings.Provider
	err error
}

func (f failing) Open(context.Context, func(settings.Document)) (settings.Document, error) {
	return settings.Document{}, f.err
}

func TestNoLogLineHoldsAValue(t *testing.T) {
	const canary = "sk-canary"
	var log bytes.Buffer
	memory := settings.NewMemory(nil)
	s := open(t, memory, settings.Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	scope := register(t, s, "shell", settings.RegisterOptions[shell]{Validate: func(v shell) error {
		if v.Cwd != "" {
			return errors.New("bad directory " + v.Cwd)
		}
		return nil
	}})
	s.OnUpdated(func(_ context.Context, e settings.Updated) error { return fmt.Errorf("%v", e.Next) })
	s.OnUpdated(func(_ context.Context, e settings.Updated) error { return fault.New(fault.Invariant, "%v", e.Next) })
	s.OnUpdated(func(_ context.Context, e settings.Updated) error { panic(e.Next) })
	s.OnUpdated(func(context.Context, settings.Updated) error { runtime.Goexit(); return nil })
	watched := make(chan struct{})
	scope.Watch(func(_ context.Context, next, _ shell) error {
		defer close(watched)
		return errors.New(next.Token)
	})
	if err := scope.Update(t.Context(), map[string]any{"token": canary}); !errors.Is(err, fault.Invariant) {
		t.Errorf("the error is %v", err)
	}
	<-watched
	for _, section := range []any{map[string]any{"timeoutMs": canary}, map[string]any{"cwd": canary}, canary, []any{canary}, map[string]any{"cwd": make(chan string)}} {
		memory.Edit(map[string]any{"shell": section})
	}
	must(t, s.Close(t.Context()))
	if strings.Contains(log.String(), canary) || strings.Count(log.String(), "\n") < 10 {
		t.Errorf("the log:\n%s", log.String())
	}
}

func TestASlowCheckHoldsUpNoOtherNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := settings.NewMemory(nil)
		s := open(t, memory, settings.Options{})
		beside := open(t, memory.Beside(), settings.Options{})
		release := make(chan struct{})
		slow := register(t, s, "slow", settings.RegisterOptions[shell]{Validate: func(v shell) error {
			if v.Timeout == 1 {
				<-release
			}
			return nil
		}})
		done := make(chan error, 1)
		go func() { done <- slow.Update(t.Context(), map[string]any{"timeoutMs": 1}) }()
		synctest.Wait()
		start := time.Now()
		must(t, register(t, s, "quick", settings.RegisterOptions[shell]{}).Update(t.Context(), map[string]any{"timeoutMs": 2}))
		must(t, register(t, beside, "slow", settings.RegisterOptions[shell]{}).Update(t.Context(), map[string]any{"cwd": "/"}))
		synctest.Wait()
		if waited := time.Since(start); waited != 0 {
			t.Errorf("they waited %v", waited)
		}
		close(release)
		must(t, <-done)
		if got := slow.Get(); got.Timeout != 1 || got.Cwd != "/" {
			t.Errorf("the value is %+v", got)
		}
	})
}

func TestWhatWasNotYetToldOfAnEndedRegistrationIsNotToldAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := settings.NewMemory(nil)
		s := open(t, memory, settings.Options{})
		scope := register(t, s, "shell", settings.RegisterOptions[shell]{})
		release, told := make(chan struct{}), 0
		s.OnUpdated(func(context.Context, settings.Updated) error {
			told++
			<-release
			return nil
		})
		memory.Edit(map[string]any{"shell": map[string]any{"timeoutMs": 1}})
		memory.Edit(map[string]any{"shell": map[string]any{"timeoutMs": 2}})
		synctest.Wait()
		must(t, scope.Close(t.Context()))
		close(release)
		synctest.Wait()
		if told != 1 {
			t.Errorf("told %d times", told)
		}
	})
}

func TestAWriteReturnsWhenItsContextEndsWhileAListenerIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, settings.NewMemory(nil), settings.Options{})
		scope := register(t, s, "shell", settings.RegisterOptions[shell]{})
		s.OnUpdated(func(ctx context.Context, _ settings.Updated) error {
			<-ctx.Done()
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		must(t, scope.Update(ctx, map[string]any{"timeoutMs": 1}))
		if scope.Get().Timeout != 1 {
			t.Error("it is not stored")
		}
	})
}
