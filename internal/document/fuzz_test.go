package document

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
)

// seeds are the documents of the golden files, and odd ones.
func seeds(f *testing.F) []string {
	texts := []string{
		"", "a: 1\n", "a: |+\n  x\n\n\nb: 1\n", "a: >-\n  x\n\n   y\n", "? a\n: b\n? c\n", "a: !!str &x 1\nb: *x\n", "{a: {b: 1}, c: [1, {d: e}], }\n", "a:\n- b\n-\n  - c\n- d: 1\n  e: 2\n",
		"%YAML 1.2\n---\na: 1\n...\n", "\ufeffa: 1\r\nb:\r\n  c: 2\r\n", "a: 'x''y'\nb: \"\\x41\"\nc: x\n  y\n", "a: &a\n  b: *a\n", "<<: 1\n", "a: .nan\n", "- a\n", "a: 1\n---\nb: 1\n", "a: |2\n   x\n", "a:\n  \t\n  b: 1\n", "a: [\n# c\n1, # d\n]\n",
		"\u2028a: 1\u0085b: 2", "a: \"x\n\n  y\"", "!!map\na: 1", "a: {? b : c, : d}", "a: [b: c, ? d]", "\ra: 1\r",
	}
	files, _ := filepath.Glob("testdata/edit/*.txtar")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range txtar.Parse(text).Files {
			if part.Name != "edits" {
				texts = append(texts, string(part.Data))
			}
		}
	}
	return texts
}

func FuzzParse(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range []Format{YAML, JSON} {
			d, err := Parse("s", format, bytes.Clone(data))
			if err != nil {
				var refused *Error
				if !errors.As(err, &refused) || refused.Line < 1 || refused.Column < 1 || refused.Reason == "" {
					t.Fatalf("%q: %v", data, err)
				}
				if lines := 1 + strings.Count(string(data), "\n") + strings.Count(string(data), "\r"); refused.Line > lines {
					t.Fatalf("%q: line %d of %d", data, refused.Line, lines)
				}
				continue
			}
			if !bytes.Equal(d.Bytes(), data) {
				t.Fatal("parsing changed the bytes")
			}
			tree := d.Tree()
			if err := jsontree.Check(tree); tree != nil && err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			for name := range tree {
				if d.Problem(name) != nil {
					t.Fatalf("%q has both data and a problem", name)
				}
			}
			checkSpans(t, d)
		}
	})
}

// checkSpans has a document whose places make no sense be read, and not edited.
func checkSpans(t *testing.T, d *Document) {
	t.Helper()
	if d.misplaced() == nil {
		return
	}
	_, err := d.Apply([]Edit{{Path: jsontree.Path{"never there"}, Value: "x"}})
	var refused *Error
	if !errors.As(err, &refused) || refused.Reason != Layout {
		t.Fatalf("%q: places that make no sense are edited: %v", d.data, err)
	}
}

func FuzzApply(f *testing.F) {
	for i, text := range seeds(f) {
		f.Add([]byte(text), byte(i), byte(i/2), "new value", i%3 == 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, at, what byte, text string, unset bool) {
		for _, format := range []Format{YAML, JSON} {
			d, err := Parse("s", format, bytes.Clone(data))
			if err != nil {
				continue
			}
			tree := orEmpty(d.Tree())
			e := Edit{Path: pathAt(tree, int(at)), Unset: unset}
			if !unset {
				values := []any{text, nil, true, 5, map[string]any{text: text}, []any{text, map[string]any{"a": text}}, map[string]any{}, []any{}, text + "\n" + text + "\n"}
				if e.Value, err = jsontree.From(values[int(what)%len(values)]); err != nil {
					continue
				}
			}
			edited, err := d.Apply([]Edit{e})
			if !bytes.Equal(d.Bytes(), data) {
				t.Fatal("the document before has changed")
			}
			if err != nil {
				var refused *Error
				if !errors.As(err, &refused) && !errors.Is(err, fault.PathNotContainer) {
					t.Fatalf("%q, %v: %v", data, e, err)
				}
				continue
			}
			applyToTree(tree, e)
			if !jsontree.Equal(tree, orEmpty(edited.Tree())) {
				t.Fatalf("%q, %v: %q", data, e, edited.Bytes())
			}
			again, err := Parse("s", format, edited.Bytes())
			if err != nil || !jsontree.Equal(tree, orEmpty(again.Tree())) {
				t.Fatalf("%q, %v: %v", data, e, err)
			}
		}
	})
}

// pathAt picks a path in or beside a tree by a number.
func pathAt(tree map[string]any, at int) jsontree.Path {
	var path jsontree.Path
	for {
		keys := append(sortedKeys(tree), "new")
		key := keys[at%len(keys)]
		path = append(path, key)
		next, isMap := tree[key].(map[string]any)
		if at /= len(keys); !isMap || at == 0 {
			return path
		}
		tree = next
	}
}
