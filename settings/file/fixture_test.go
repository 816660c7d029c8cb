package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hardshell/internal/jsontree"
	"hardshell/internal/racecheck"
	"hardshell/internal/state"
	"hardshell/settings"
)

// roles are what this program does when a test starts it as another process.
var roles = map[string]func(args []string) error{}

func TestMain(m *testing.M) {
	if role := os.Getenv("FILE_TEST_ROLE"); role != "" {
		if err := roles[role](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(racecheck.Main(m))
}

func process(t testing.TB, role string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "FILE_TEST_ROLE="+role)
	return cmd
}

// bg is for what a test never gives up.
var bg = context.Background()

// longest bounds every wait of a test.
const longest = 30 * time.Second

// fixture is a provider that records what it tells its service.
type fixture struct {
	*Provider
	t         testing.TB
	published chan settings.Document
	log       *logBuffer
}

type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
	// written gets a value for every warning, unless it is nil.
	written chan<- struct{}
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.written != nil && bytes.Contains(b, []byte("level=WARN")) {
		l.written <- struct{}{}
	}
	return l.buf.Write(b)
}

func (l *logBuffer) tell(written chan<- struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written = written
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func homeAt(t testing.TB, dir string) state.Home {
	t.Helper()
	home, err := state.ResolveHome(dir)
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// prepared returns a provider that is not open. Files that tests have just written
// count at once, unless the change says otherwise.
func prepared(t testing.TB, c Config, change func(*Provider)) *fixture {
	t.Helper()
	if c.Home == (state.Home{}) {
		c.Home = homeAt(t, t.TempDir())
	}
	if c.Debounce == 0 {
		c.Debounce = -1
	}
	f := &fixture{t: t, published: make(chan settings.Document, 1000), log: &logBuffer{}}
	c.Log = slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	f.Provider = p
	if c.Debounce < 0 {
		p.times.grace = 0
	}
	p.times.stuck = longest
	if change != nil {
		change(p)
	}
	return f
}

// opened returns a provider that is open until the test ends.
func opened(t testing.TB, c Config, change func(*Provider)) *fixture {
	t.Helper()
	f := prepared(t, c, change)
	f.open()
	return f
}

func (f *fixture) open() settings.Document {
	f.t.Helper()
	doc, err := f.Open(context.Background(), func(doc settings.Document) { f.published <- doc })
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := f.Close(context.Background()); err != nil {
			f.t.Error(err)
		}
	})
	return doc
}

// next waits for the next document that is published.
func (f *fixture) next() settings.Document {
	f.t.Helper()
	select {
	case doc := <-f.published:
		return doc
	case <-time.After(longest):
		f.t.Fatalf("nothing was published; the log:\n%s", f.log)
		panic("unreachable")
	}
}

// quiet fails when something was published.
func (f *fixture) quiet() {
	f.t.Helper()
	select {
	case doc := <-f.published:
		f.t.Errorf("published: %s", show(doc))
	default:
	}
}

// set stores one key of one section.
func (f *fixture) set(ns, key string, value any) (settings.Section, error) {
	return set(context.Background(), f.Provider, ns, key, value)
}

func (f *fixture) mustSet(ns, key string, value any) settings.Section {
	f.t.Helper()
	section, err := f.set(ns, key, value)
	if err != nil {
		f.t.Fatal(err)
	}
	return section
}

func set(ctx context.Context, p *Provider, ns, key string, value any) (stored settings.Section, err error) {
	err = p.Change(ctx, settings.Namespace(ns), func(section settings.Section) (map[string]any, error) {
		tree, _ := jsontree.Clone(section.Data).(map[string]any)
		if tree == nil {
			tree = map[string]any{}
		}
		clean, err := jsontree.From(value)
		tree[key] = clean
		return tree, err
	}, func(section settings.Section) { stored = section })
	return stored, err
}

// tree is a section with one number.
func tree(key string, n int) map[string]any {
	return map[string]any{key: json.Number(strconv.Itoa(n))}
}

// show is a document as text: the sections that are there.
func show(doc settings.Document) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(doc.Sections)) {
		switch section := doc.Sections[key]; {
		case section.Problem != nil:
			out = append(out, key+"=!")
		case section.Data != nil:
			out = append(out, key+"="+string(jsontree.Encode(section.Data)))
		}
	}
	return strings.Join(out, " ")
}

// shows fails when the document is another.
func shows(t testing.TB, doc settings.Document, want string) {
	t.Helper()
	if got := show(doc); got != want {
		t.Errorf("the document is %q, want %q", got, want)
	}
}

// holds fails when another provider of the home reads another document.
func (f *fixture) holds(want string) {
	f.t.Helper()
	other := prepared(f.t, Config{Home: f.home, Path: f.path}, nil)
	shows(f.t, other.open(), want)
}

func put(t testing.TB, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// names are the entries of a directory.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, entry := range entries {
		out = append(out, entry.Name())
	}
	return out
}

// noTemps fails when a temporary file was left, beside the document or in the
// home.
func (f *fixture) noTemps() {
	f.t.Helper()
	for _, dir := range []string{filepath.Dir(f.path), f.home.Run()} {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		for _, name := range names(f.t, dir) {
			if strings.HasSuffix(name, ".tmp") {
				f.t.Errorf("%s was left in %s", name, dir)
			}
		}
	}
}

// identityOf fails a test that compares it when the file was rewritten.
func identityOf(t testing.TB, path string) stamp {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return stampOf(info)
}
