package document

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hardshell/internal/jsontree"
)

// jsonWriter writes random JSON, on one line or many.
type jsonWriter struct {
	*rapid.T
	out strings.Builder
	nl  string
	// unit is the indentation; comments allows those, and commas at the end.
	unit     string
	comments bool
}

func (w *jsonWriter) chance(name string, of int) bool {
	return rapid.IntRange(0, of-1).Draw(w.T, name) == 0
}

func (w *jsonWriter) comment() string {
	if !w.comments || !w.chance("comment", 4) {
		return ""
	}
	return "/* c, } */"
}

func (w *jsonWriter) value(depth int, indent string, spread bool) {
	kind := rapid.IntRange(0, 5).Draw(w.T, "kind")
	if depth == 0 || kind > 3 {
		w.out.WriteString(rapid.SampledFrom([]string{"1", "-0", "1e3", "12345678901234567890", "true", "null", `"text"`, `"\u00e9 // no comment"`, `"é"`, `""`, "{}", "[]", `"\""`}).Draw(w.T, "scalar"))
		return
	}
	if kind == 0 {
		w.out.WriteString("[1," + w.comment() + " ")
		w.value(depth-1, indent, false)
		w.out.WriteString("]")
		return
	}
	w.object(depth, indent, spread && !w.chance("one line", 4))
}

func (w *jsonWriter) object(depth int, indent string, spread bool) {
	inner := indent + w.unit
	w.out.WriteString("{")
	keys := []string{`"a"`, `"b"`, `"c d"`, `"\u0065"`, `""`}[:rapid.IntRange(0, 4).Draw(w.T, "length")]
	for i, key := range keys {
		switch {
		case spread:
			w.out.WriteString(w.nl)
			if w.comments && w.chance("above", 4) {
				w.out.WriteString(inner + "// about it" + w.nl)
			}
			w.out.WriteString(inner)
		case i > 0:
			w.out.WriteString(" ")
		}
		w.out.WriteString(w.comment() + key + w.comment() + ":" + rapid.SampledFrom([]string{"", " "}).Draw(w.T, "space") + w.comment())
		w.value(depth-1, inner, spread)
		w.out.WriteString(w.comment())
		if i < len(keys)-1 || w.comments && w.chance("trailing comma", 5) {
			w.out.WriteString(",")
		}
		if spread && w.comments && w.chance("inline", 4) {
			w.out.WriteString(" // inline")
		}
	}
	if spread {
		w.out.WriteString(w.nl + indent)
	}
	w.out.WriteString("}")
}

func TestAnyEditOfAnyJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &jsonWriter{T: t, nl: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end"), unit: rapid.SampledFrom([]string{"  ", "\t", "    "}).Draw(t, "unit"), comments: rapid.Bool().Draw(t, "comments")}
		w.object(3, "", rapid.Bool().Draw(t, "spread"))
		if rapid.Bool().Draw(t, "end") {
			w.out.WriteString(w.nl)
		}
		text := w.out.String()
		d, err := Parse("s.json", JSON, []byte(text))
		if err != nil {
			t.Fatalf("the generator wrote no document: %v\n%s", err, text)
		}
		tree := orEmpty(d.Tree())
		var edits []Edit
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			e := Edit{Path: drawPath(t, tree), Unset: rapid.Bool().Draw(t, "unset")}
			if !e.Unset {
				e.Value = mustTree(newValues.Draw(t, "value"))
			}
			edits = append(edits, e)
			applyToTree(tree, e)
		}
		edited, err := d.Apply(edits)
		if err != nil {
			t.Fatalf("%v: %v\n%s", edits, err, text)
		}
		if !jsontree.Equal(tree, orEmpty(edited.Tree())) {
			t.Fatalf("%v: %s\n%s", edits, edited.Bytes(), text)
		}
		if !w.comments && !json.Valid(edited.Bytes()) {
			t.Fatalf("%v made of JSON what is none:\n%s\n%s", edits, text, edited.Bytes())
		}
		if strings.Contains(text, "\r\n") && strings.Contains(strings.ReplaceAll(string(edited.Bytes()), "\r\n", ""), "\n") {
			t.Fatalf("%v: line ends are mixed\n%q", edits, edited.Bytes())
		}
	})
}
