package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/settings"
)

func TestWritesLandAndAreReadBack(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"settings.yaml", "settings.yml", "settings.json", "deep/er/settings.yaml"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := homeAt(t, filepath.Join(t.TempDir(), "home"))
			f := opened(t, Config{Home: home, Path: filepath.Join(home.Root(), name)}, nil)
			if _, err := os.Stat(home.Root()); err == nil {
				t.Error("opening created the home")
			}
			first := f.mustSet("alpha", "n", 1)
			f.mustSet("beta", "s", "x")
			second := f.mustSet("alpha", "n", 2)
			if first.Revision != 1 || second.Revision != 2 {
				t.Errorf("the revisions are %d and %d", first.Revision, second.Revision)
			}
			f.holds(`alpha={"n":2} beta={"s":"x"}`)
			f.quiet()
			f.noTemps()
			for path, mode := range map[string]os.FileMode{f.path: 0o600, filepath.Dir(f.path): 0o700, home.Run(): 0o700} {
				if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
					t.Errorf("%s: %v, %v", path, info.Mode(), err)
				}
			}
		})
	}
}

func TestAnAbsentFileCostsNothing(t *testing.T) {
	t.Parallel()
	home := homeAt(t, t.TempDir())
	f := prepared(t, Config{Home: home}, nil)
	if doc := f.open(); len(doc.Sections) != 0 {
		t.Errorf("opened: %v", doc)
	}
	if left := names(t, home.Root()); len(left) != 0 {
		t.Errorf("opening left %v", left)
	}
}

func TestAWriteTakesInWhatOthersWrote(t *testing.T) {
	t.Parallel()
	f := opened(t, Config{}, nil)
	f.mustSet("alpha", "a", 1)
	put(t, f.path, "# mine\nalpha: {a: 1}\nbeta: {b: 2}\nBad Name: {c: 3}\n")
	var order []string
	f.publish = func(doc settings.Document) { order = append(order, "publish "+show(doc)) }
	err := f.Change(t.Context(), "gamma", func(settings.Section) (map[string]any, error) {
		order = append(order, "derive")
		return map[string]any{"g": true}, nil
	}, func(section settings.Section) { order = append(order, "commit") })
	must(t, err)
	want := []string{`publish Bad Name={"c":3} alpha={"a":1} beta={"b":2}`, "derive", "commit"}
	if !slices.Equal(order, want) {
		t.Errorf("the order was %q, want %q", order, want)
	}
	f.holds(`Bad Name={"c":3} alpha={"a":1} beta={"b":2} gamma={"g":true}`)
	if text := get(t, f.path); !strings.HasPrefix(text, "# mine\n") {
		t.Errorf("the comment is gone: %q", text)
	}
}

func TestASectionCanBeEmptiedAndRemoved(t *testing.T) {
	t.Parallel()
	f := opened(t, Config{}, nil)
	f.mustSet("alpha", "a", 1)
	f.mustSet("beta", "b", 1)
	becomes := func(next map[string]any) (got settings.Section) {
		must(t, f.Change(t.Context(), "alpha", func(settings.Section) (map[string]any, error) { return next, nil },
			func(section settings.Section) { got = section }))
		return got
	}
	if got := becomes(map[string]any{}); got.Revision != 2 {
		t.Errorf("emptied: %+v", got)
	}
	f.holds(`alpha={} beta={"b":1}`)
	if got := becomes(nil); got.Revision != 3 || got.Data != nil {
		t.Errorf("removed: %+v", got)
	}
	f.holds(`beta={"b":1}`)
	f.mustSet("beta", "b", 2)
	if got := f.mustSet("alpha", "a", 1); got.Revision != 4 {
		t.Errorf("back: %+v", got)
	}
}

func TestWhatChangesNothingWritesNothing(t *testing.T) {
	t.Parallel()
	f := opened(t, Config{}, nil)
	stored := f.mustSet("alpha", "a", 1)
	before := identityOf(t, f.path)
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		next      map[string]any
		err, want error
	}{
		"unchanged":     {nil, settings.ErrUnchanged, nil},
		"refused":       {nil, boom, boom},
		"equal content": {stored.Data.(map[string]any), nil, nil},
	} {
		err := f.Change(t.Context(), "alpha", func(settings.Section) (map[string]any, error) { return c.next, c.err },
			func(section settings.Section) {
				if c.err != nil || section.Revision != 1 {
					t.Errorf("%s: committed %+v", name, section)
				}
			})
		if err != c.want { //nolint:errorlint // as it is
			t.Errorf("%s: %v", name, err)
		}
		if identityOf(t, f.path) != before {
			t.Errorf("%s: the file was rewritten", name)
		}
	}
	f.quiet()
}

func TestADocumentThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(path string) error
		says   string
	}{
		"a list":        {func(path string) error { return os.WriteFile(path, []byte("- a\n"), 0o600) }, ""},
		"broken":        {func(path string) error { return os.WriteFile(path, []byte("a: [s3cret"), 0o600) }, ""},
		"a directory":   {func(path string) error { return os.Mkdir(path, 0o700) }, "a directory"},
		"a link loop":   {func(path string) error { return os.Symlink(filepath.Base(path), path) }, "a loop"},
		"a link to dir": {func(path string) error { return os.Symlink(".", path) }, "a directory"},
		"a link into nothing": {func(path string) error {
			return os.Symlink("none/at/all.yaml", path)
		}, "does not exist|no such"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := opened(t, Config{}, nil)
			f.mustSet("alpha", "a", 1)
			must(t, os.Remove(f.path), c.damage(f.path))
			nothing := name == "a link into nothing"
			_, err := f.set("alpha", "a", 2)
			if !errors.Is(err, fault.DocumentInvalid) && !nothing || nothing && !errors.Is(err, fault.SettingsReadOnly) {
				t.Errorf("a write: %v", err)
			}
			if c.says != "" && !nothing && !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a write says %q", err)
			}
			other := prepared(t, Config{Home: f.home}, nil)
			if _, err := other.Open(t.Context(), nil); !nothing && !errors.Is(err, fault.DocumentInvalid) {
				t.Errorf("opening: %v", err)
			}
			f.noTemps()
			// It works again once it has been put right, without a restart.
			must(t, os.RemoveAll(f.path))
			put(t, f.path, "alpha: {a: 1}\n")
			f.mustSet("alpha", "a", 3)
			f.holds(`alpha={"a":3}`)
		})
	}
}

func TestAFileAsAncestor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "f"), "")
	f := prepared(t, Config{Path: filepath.Join(dir, "f", "settings.yaml")}, nil)
	if _, err := f.Open(t.Context(), nil); !errors.Is(err, fault.DocumentInvalid) {
		t.Errorf("got %v", err)
	}
}

func TestPathsThatCanBeNoDocument(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"settings", "settings.toml", "settings.yaml/"} {
		if _, err := New(Config{Home: homeAt(t, t.TempDir()), Path: path}); err == nil && !strings.HasSuffix(path, "/") {
			t.Errorf("%s was accepted", path)
		}
	}
	if _, err := New(Config{Path: "/x/settings.yaml"}); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("without a home: %v", err)
	}
}

func TestALockThatIsHeldForTooLong(t *testing.T) {
	t.Parallel()
	f := opened(t, Config{}, func(p *Provider) { p.times.lock = 100 * time.Millisecond })
	f.mustSet("alpha", "a", 1)
	at, err := locate(f.path)
	must(t, err)
	held, err := state.Lock(t.Context(), f.filesOf(at).lock)
	must(t, err)
	// Those that wait behind it give up together, not one after the other.
	const writers = 20
	began := time.Now()
	failures := make(chan error, writers)
	for range writers {
		go func() {
			_, err := f.set("alpha", "a", 2)
			failures <- err
		}()
	}
	for range writers {
		if err := <-failures; !errors.Is(err, fault.LockTimeout) {
			t.Errorf("got %v", err)
		}
	}
	if took := time.Since(began); took > writers*f.times.lock/2 {
		t.Errorf("they gave up after %v", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := set(ctx, f.Provider, "alpha", "a", 2); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that ended: %v", err)
	}
	must(t, held.Release())
	f.mustSet("alpha", "a", 3)
	f.holds(`alpha={"a":3}`)
}

func TestATurnThatNobodyEnds(t *testing.T) {
	t.Parallel()
	f := opened(t, Config{}, func(p *Provider) { p.times.stuck = 20 * time.Millisecond })
	err := f.Change(t.Context(), "alpha", func(settings.Section) (map[string]any, error) {
		_, err := f.set("beta", "b", 1) // would wait for itself
		return nil, err
	}, nil)
	if !errors.Is(err, fault.LockTimeout) {
		t.Errorf("got %v", err)
	}
}

func TestWritesOfOneProcessKeepTheirOrderAndAllLand(t *testing.T) {
	t.Parallel()
	f := opened(t, Config{}, nil)
	const writers = 50
	done := make(chan error, writers)
	for i := range writers {
		go func() {
			_, err := f.set("alpha", "k"+string(rune('A'+i)), i)
			done <- err
		}()
	}
	for range writers {
		must(t, <-done)
	}
	if got := f.mustSet("beta", "b", 1); got.Revision != 1 {
		t.Errorf("beta: %+v", got)
	}
	if got := f.known.sections["alpha"]; got.Revision != writers || len(got.Data.(map[string]any)) != writers {
		t.Errorf("alpha has revision %d and %d keys", got.Revision, len(got.Data.(map[string]any)))
	}
	f.quiet()
}

func TestAfterCloseNothingIsWritten(t *testing.T) {
	t.Parallel()
	f := opened(t, Config{}, nil)
	inside, leave := make(chan struct{}), make(chan struct{})
	written := make(chan error, 1)
	go func() {
		written <- f.Change(context.Background(), "alpha", func(settings.Section) (map[string]any, error) {
			close(inside)
			<-leave
			return tree("a", 1), nil
		}, func(settings.Section) {})
	}()
	<-inside
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Close(short); !errors.Is(err, context.Canceled) {
		t.Errorf("Close did not wait for a write that had begun: %v", err)
	}
	put(t, f.path, "beta: {b: 1}\n") // written by an editor during the write
	close(leave)
	if err := <-written; err != nil {
		t.Errorf("the write that had begun: %v", err)
	}
	must(t, f.Close(t.Context()))
	if _, err := f.set("alpha", "a", 2); !errors.Is(err, settings.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	f.holds(`alpha={"a":1} beta={"b":1}`)
}

func TestAnEditBetweenReadingAndReplacingIsNotLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit string
		want string
		err  error
	}{
		"another section": {"alpha: {a: 1}\nbeta: {b: 1}\n", `alpha={"a":2} beta={"b":1}`, nil},
		"the section":     {"alpha: {a: 5}\n", `alpha={"a":5}`, ErrUnrest},
	} {
		f := opened(t, Config{}, nil)
		f.mustSet("alpha", "a", 1)
		edits := 0
		f.hooks.step = func(step string) error {
			if step == "check" && edits == 0 {
				edits++
				put(t, f.path, c.edit)
			}
			return nil
		}
		derived := 0
		err := f.Change(t.Context(), "alpha", func(settings.Section) (map[string]any, error) {
			derived++
			return tree("a", 2), nil
		}, func(settings.Section) {})
		if !errors.Is(err, c.err) || derived != 1 {
			t.Errorf("%s: %v, derived %d times", name, err, derived)
		}
		f.next()
		f.holds(c.want)
		f.noTemps()
	}
}

func TestASectionThatIsNoJSONData(t *testing.T) {
	t.Parallel()
	f := prepared(t, Config{}, nil)
	put(t, f.path, "# kept\nalpha: {a: .nan}\nbeta: {b: 1}\nnull: {c: 1}\ngamma:\n")
	doc := f.open()
	shows(t, doc, `alpha=! beta={"b":1} null={"c":1}`)
	f.mustSet("beta", "b", 2)
	f.mustSet("gamma", "c", 3)
	if got := f.known.sections["alpha"]; got.Problem == nil || got.Revision != doc.Sections["alpha"].Revision {
		t.Errorf("after a write elsewhere: %+v", got)
	}
	if got := f.mustSet("alpha", "a", 4); got.Problem != nil || got.Revision != doc.Sections["alpha"].Revision+1 {
		t.Errorf("after it was replaced: %+v", got)
	}
	f.holds(`alpha={"a":4} beta={"b":2} gamma={"c":3} null={"c":1}`)
	if text := get(t, f.path); !strings.HasPrefix(text, "# kept\nalpha:") {
		t.Errorf("the file is %q", text)
	}
	f.quiet()
}

func TestOnlyTheEditedBytesChange(t *testing.T) {
	t.Parallel()
	f := prepared(t, Config{}, nil)
	const before = "# mine\r\nalpha:   # yes\r\n    a:   0x1F  # one\r\n    s: 'it''s'\r\nBad Name: [1,   2]\r\n"
	put(t, f.path, before)
	f.open()
	f.mustSet("alpha", "a", 7)
	if got, want := get(t, f.path), strings.Replace(before, "0x1F", "7", 1); got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
}
