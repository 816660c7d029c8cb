package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/plugin"
)

// TestMain wants that no goroutine is left in the package when all is closed.
func TestMain(m *testing.M) {
	code := m.Run()
	for deadline := time.Now().Add(hang); code == 0; runtime.Gosched() {
		left := goroutines()
		if left == "" {
			break
		}
		if time.Now().After(deadline) {
			fmt.Println("goroutines are left:\n" + left)
			code = 1
		}
	}
	os.Exit(code)
}

// goroutines are the stacks of the other goroutines that run this package.
func goroutines() string {
	buf := make([]byte, 1<<20)
	var left []string
	for i, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if i > 0 && strings.Contains(stack, "hardshell/plugin") { // the first is the caller
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

// hang bounds what would otherwise hang.
const hang = 20 * time.Second

// trace is what happened, in order.
type trace struct {
	mu    sync.Mutex
	lines []string
}

func (t *trace) add(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

// take returns what happened since the last take.
func (t *trace) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.Join(t.lines, " ")
	t.lines = nil
	return s
}

func (t *trace) deferred(line string) func(context.Context) error {
	return func(context.Context) error {
		t.add("%s", line)
		return nil
	}
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantErr wants an error with a code and all texts.
func wantErr(t *testing.T, err error, code fault.Code, texts ...string) {
	t.Helper()
	if err == nil || code != "" && !errors.Is(err, code) {
		t.Fatalf("error %v has not the code %s", err, code)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not contain %q", err, text)
		}
	}
}

// keys are services of type string by one-letter names: "a b".
func keys(names string) (ks []plugin.AnyKey) {
	for _, name := range strings.Fields(names) {
		ks = append(ks, plugin.NewKey[string](name))
	}
	return ks
}

// parts makes plugins that trace "+row(services)" and "-row", and provide each
// service as "row.config".
func (t *trace) part(name, needs, optional, provides string) plugin.Plugin {
	return plugin.Plugin{
		Name: name, Needs: keys(needs), Optional: keys(optional), Provides: keys(provides),
		Apply: func(ctx context.Context, a *plugin.Activation) error {
			var uses []string
			for _, n := range strings.Fields(needs) {
				uses = append(uses, plugin.Get(a, plugin.NewKey[string](n)))
			}
			for _, n := range strings.Fields(optional) {
				if v, ok := plugin.Lookup(a, plugin.NewKey[string](n)); ok {
					uses = append(uses, v)
				}
			}
			if a.Config == "fail" {
				return errors.New("it was told to fail")
			}
			for _, n := range strings.Fields(provides) {
				v := a.Row
				if a.Config != nil {
					v = fmt.Sprintf("%s/%v", a.Row, a.Config)
				}
				if err := plugin.Provide(a.Scope, plugin.NewKey[string](n), v); err != nil {
					return err
				}
			}
			t.add("+%s(%s)", a.Row, strings.Join(uses, ","))
			return a.Scope.Defer(t.deferred("-" + a.Row))
		},
	}
}

func newHost(t *testing.T, plugins ...plugin.Plugin) *plugin.Host {
	t.Helper()
	h, err := plugin.NewHost(plugins, nil)
	must(t, err)
	t.Cleanup(func() { must(t, h.Close(context.Background())) })
	return h
}

// rows makes rows of plugins of the same names.
func rows(names string) (rs []plugin.Row) {
	for _, name := range strings.Fields(names) {
		rs = append(rs, plugin.Row{ID: name, Plugin: name})
	}
	return rs
}

func states(h *plugin.Host) string {
	var s []string
	for _, r := range h.Status() {
		s = append(s, fmt.Sprintf("%s:%s", r.ID, r.State))
	}
	return strings.Join(s, " ")
}

// logged is a log that can be read.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func receive[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(hang):
		t.Fatalf("%s did not happen", what)
	}
	return v
}
