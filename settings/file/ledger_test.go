package file

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"hardshell/internal/jsontree"
	"hardshell/internal/state"
)

func TestAdvance(t *testing.T) {
	t.Parallel()
	type entries = map[string]entry
	for _, c := range []struct {
		name     string
		start    uint64
		stored   entries
		hashes   map[string]string
		held     entries
		want     uint64 // of the section a
		unlisted bool
		moved    bool
	}{
		{name: "a section that is as it was", stored: entries{"a": {3, "x"}}, hashes: map[string]string{"a": "x"}, want: 3},
		{name: "a section that changed", stored: entries{"a": {3, "x"}}, hashes: map[string]string{"a": "y"}, want: 4, moved: true},
		{name: "a section that went", stored: entries{"a": {3, "x"}}, want: 4, moved: true},
		{name: "a section that stays away", stored: entries{"a": {3, ""}}, want: 3},
		{name: "a section that came back", stored: entries{"a": {4, ""}}, hashes: map[string]string{"a": "x"}, want: 5, moved: true},
		{name: "a new section", hashes: map[string]string{"a": "x"}, want: 1, moved: true},
		{name: "a new section after a loss", start: 1000, hashes: map[string]string{"a": "x"}, want: 1001, moved: true},
		{name: "a section that nobody knows", unlisted: true},
		{name: "a loss that this process remembers", start: 1000, hashes: map[string]string{"a": "x"}, held: entries{"a": {2000, "x"}}, want: 2000, moved: true},
		{name: "a loss, and content that this process gave out otherwise", start: 1000, hashes: map[string]string{"a": "x"}, held: entries{"a": {2000, "y"}}, want: 2001, moved: true},
		{name: "what others have counted further", stored: entries{"a": {7, "x"}}, hashes: map[string]string{"a": "x"}, held: entries{"a": {5, "x"}}, want: 7},
		{name: "what was given out without the lock", stored: entries{"a": {7, "x"}}, hashes: map[string]string{"a": "x"}, held: entries{"a": {5000, "x"}}, want: 5000, moved: true},
		{name: "what was given out without the lock and changed", stored: entries{"a": {7, "x"}}, hashes: map[string]string{"a": "x"}, held: entries{"a": {5000, "y"}}, want: 5001, moved: true},
	} {
		next, moved := ledger{Start: c.start, Sections: c.stored}.advance("", c.hashes, c.held)
		got, listed := next.Sections["a"]
		if got.Revision != c.want || listed == c.unlisted || moved != c.moved || got.Hash != c.hashes["a"] {
			t.Errorf("%s: %+v, %v, %v", c.name, got, listed, moved)
		}
	}
}

func TestRevisionsAreTheSameEverywhereAndOnlyGrow(t *testing.T) {
	t.Parallel()
	f := opened(t, Config{}, nil)
	reopened := func() uint64 {
		t.Helper()
		return prepared(t, Config{Home: f.home}, nil).open().Sections["alpha"].Revision
	}
	f.mustSet("alpha", "a", 1)
	f.mustSet("beta", "b", 1)
	if got := reopened(); got != 1 {
		t.Errorf("after a restart it is %d", got)
	}
	put(t, f.path, "alpha: {a: 1.0} # the same\nbeta: {b: 1}\n")
	if got := reopened(); got != 1 {
		t.Errorf("after an edit that changes no value it is %d", got)
	}
	put(t, f.path, "alpha: {a: 2}\nbeta: {b: 1}\n")
	if got := reopened(); got != 2 {
		t.Errorf("after an edit it is %d", got)
	}
	put(t, f.path, "alpha: {a: 1}\nbeta: {b: 1}\n")
	if got := reopened(); got != 3 {
		t.Errorf("after the edit back it is %d", got)
	}
	// This process has seen none of that, but its write does not go back.
	if got := f.mustSet("alpha", "a", 9); got.Revision != 4 {
		t.Errorf("after a write it is %d", got.Revision)
	}
	must(t, os.Remove(f.path))
	if got := reopened(); got != 5 {
		t.Errorf("of the removed section it is %d", got)
	}
}

func TestALostLedgerBeginsAtTheTime(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{
		"removed": os.Remove,
		"damaged": func(path string) error { return os.WriteFile(path, []byte(`{"sections":`), 0o600) },
		"absurd": func(path string) error {
			return os.WriteFile(path, []byte(`{"start":1,"sections":{"alpha":{"revision":18446744073709551615}}}`), 0o600)
		},
		"empty": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := opened(t, Config{}, nil)
			f.mustSet("alpha", "a", 1)
			at, err := locate(f.path)
			must(t, err, lose(f.filesOf(at).ledger))
			before := milliseconds()
			first := prepared(t, Config{Home: f.home}, nil).open().Sections["alpha"].Revision
			if first < before || first > milliseconds()+1 {
				t.Errorf("it is %d, the time was %d", first, before)
			}
			if again := prepared(t, Config{Home: f.home}, nil).open().Sections["alpha"].Revision; again != first {
				t.Errorf("then it is %d, before it was %d", again, first)
			}
			if got := f.mustSet("alpha", "a", 2); got.Revision != first+1 {
				t.Errorf("a write makes it %d from %d", got.Revision, first)
			}
		})
	}
}

func TestAReaderWithoutTheLock(t *testing.T) {
	t.Parallel()
	f := opened(t, Config{}, nil)
	f.mustSet("alpha", "a", 1)
	f.mustSet("beta", "b", 1)
	at, err := locate(f.path)
	must(t, err)
	held, err := state.Lock(t.Context(), f.filesOf(at).lock)
	must(t, err)
	put(t, f.path, "alpha: {a: 2}\nbeta: {b: 1}\n")
	reader := prepared(t, Config{Home: f.home}, func(p *Provider) { p.times.glance, p.times.latest = time.Millisecond, 10*time.Millisecond })
	doc := reader.open()
	shows(t, doc, `alpha={"a":2} beta={"b":1}`)
	given := doc.Sections["alpha"].Revision
	if given < 1e12 || doc.Sections["beta"].Revision != 1 {
		t.Errorf("the revisions are %d and %d", given, doc.Sections["beta"].Revision)
	}
	must(t, held.Release())
	if got, err := reader.set("alpha", "a", 3); err != nil || got.Revision != given+1 {
		t.Errorf("its own write: %+v, %v", got, err)
	}
	if got := prepared(t, Config{Home: f.home}, nil).open().Sections["alpha"].Revision; got != given+1 {
		t.Errorf("others read %d", got)
	}
}

func TestEqualDataHasOneHash(t *testing.T) {
	t.Parallel()
	number := func(s string) any { return json.Number(s) }
	values := []any{
		nil, true, false, "", "a", "n", "true", "1", number("1"), number("1.0"), number("1e0"), number("10e-1"), number("100E-2"),
		number("0"), number("-0"), number("0.000"), number("0e99999999999999999999"), number("-1"), number("10"), number("1e1"),
		number("9007199254740993"), number("9007199254740992"), number("1e400"), number("10e399"), number("0.10"), number("0.1"), number("0.01"), number("1e-2"),
		[]any{}, map[string]any{}, []any{nil}, []any{"a", "b"}, []any{"ab"}, []any{[]any{"a"}, "b"},
		map[string]any{"a": "b"}, map[string]any{"a": nil}, map[string]any{"ab": nil}, map[string]any{"a": number("1")}, map[string]any{"a": number("1.0")},
	}
	for i, a := range values {
		for j, b := range values {
			if equal := jsontree.Equal(a, b); equal != (hashOf(a) == hashOf(b)) {
				t.Errorf("values %d and %d: equal is %v, the hashes are %q and %q", i, j, equal, hashOf(a), hashOf(b))
			}
		}
	}
}
