package document

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hardshell/internal/jsontree"
)

// writer writes random documents in all the ways that people do.
type writer struct {
	t       *rapid.T
	out     strings.Builder
	nl      string
	step    int
	dash    int
	anchors int
}

func (w *writer) pick(name string, n int) int { return rapid.IntRange(0, n-1).Draw(w.t, name) }

func (w *writer) chance(name string, of int) bool { return w.pick(name, of) == 0 }

var plainTexts = []string{"word", "two words", "a:b", "x#y", "é ü", "~/.config", "v1.2", "-1", "0x1F", "017", "1e3", "3.14", "true", "null", "2024-01-02", "yes", "9007199254740993", "http://x/?q=1"}

var quotedTexts = []string{`"a # b"`, `"\u00e9\n"`, `'it''s'`, `""`, `'a: b'`, `"\"\\"`, `'# no comment'`}

func (w *writer) inlineScalar() string {
	switch w.pick("scalar", 8) {
	case 0:
		return rapid.SampledFrom(quotedTexts).Draw(w.t, "quoted")
	case 1:
		return "!!str " + rapid.SampledFrom(plainTexts).Draw(w.t, "tagged")
	case 2:
		w.anchors++
		return fmt.Sprintf("&n%d ", w.anchors) + rapid.SampledFrom(plainTexts).Draw(w.t, "anchored")
	default:
		return rapid.SampledFrom(plainTexts).Draw(w.t, "plain")
	}
}

func (w *writer) flow(depth int) string {
	if depth == 0 || w.chance("leaf", 2) {
		return strings.NewReplacer(",", "", "#", "").Replace(w.inlineScalar())
	}
	space := rapid.SampledFrom([]string{"", " "}).Draw(w.t, "inside")
	var parts []string
	n := w.pick("length", 4)
	if w.chance("list", 2) {
		for range n {
			parts = append(parts, w.flow(depth-1))
		}
		return "[" + space + strings.Join(parts, ", ") + space + "]"
	}
	for _, key := range w.keys(n) {
		parts = append(parts, key+": "+w.flow(depth-1))
	}
	return "{" + space + strings.Join(parts, ", ") + space + "}"
}

func (w *writer) keys(n int) []string {
	all := []string{"a", "b", "c", "long-key", "\"q k\"", "'s'", "1", "é", "x.y"}
	start := w.pick("keys", len(all))
	keys := []string{}
	for i := range n {
		keys = append(keys, all[(start+i)%len(all)])
	}
	return keys
}

// noise writes what stands between entries: blank lines and comments.
func (w *writer) noise(indent string) {
	for w.chance("noise", 4) {
		switch w.pick("kind", 4) {
		case 0:
			w.out.WriteString(w.nl)
		case 1:
			w.out.WriteString("# far left: x" + w.nl)
		default:
			w.out.WriteString(indent + "# note: y" + w.nl)
		}
	}
}

func (w *writer) lineEnd() {
	if w.chance("comment", 5) {
		w.out.WriteString("   # inline: z")
	} else if w.chance("space", 10) {
		w.out.WriteString("  ")
	}
	w.out.WriteString(w.nl)
}

func (w *writer) block(depth, column int, root bool) {
	indent := strings.Repeat(" ", column)
	for _, key := range w.keys(1 + w.pick("length", 4)) {
		w.noise(indent)
		w.out.WriteString(indent)
		explicit := !root && w.chance("explicit", 20)
		if explicit {
			w.out.WriteString("? " + key + w.nl + indent)
			key = ""
		}
		w.out.WriteString(key + ":")
		inner := strings.Repeat(" ", column+w.step)
		switch kind := w.pick("value", 9); {
		case kind == 0:
			w.lineEnd()
		case kind == 1:
			w.out.WriteString(" " + w.flow(2))
			w.lineEnd()
		case kind == 2:
			w.out.WriteString(rapid.SampledFrom([]string{" |", " >-", " |+", " >", " |-", " | # c"}).Draw(w.t, "header") + w.nl)
			w.out.WriteString(inner + "first" + w.nl)
			for range w.pick("lines", 3) {
				w.out.WriteString(inner + rapid.SampledFrom([]string{"text", "more: text", "# no comment", "  deep"}).Draw(w.t, "line") + w.nl)
				if w.chance("blank", 4) {
					w.out.WriteString(w.nl)
				}
			}
		case kind == 3:
			w.out.WriteString(" some words" + w.nl + inner + "go on")
			w.lineEnd()
		case kind == 4 && depth > 0:
			w.lineEnd()
			dash := strings.Repeat(" ", column+w.dash)
			for range 1 + w.pick("length", 3) {
				w.noise(dash)
				if w.chance("compact", 3) {
					w.out.WriteString(dash + "- k: 1" + w.nl + dash + "  l: [x]")
				} else {
					w.out.WriteString(dash + "- " + w.inlineScalar())
				}
				w.lineEnd()
			}
		case kind <= 6 && depth > 0:
			if w.chance("anchor", 8) {
				w.anchors++
				fmt.Fprintf(&w.out, " &m%d", w.anchors)
			}
			w.lineEnd()
			w.block(depth-1, column+w.step, false)
		case kind == 7:
			w.out.WriteString(w.nl + inner + w.inlineScalar())
			w.lineEnd()
		default:
			w.out.WriteString(" " + w.inlineScalar())
			w.lineEnd()
		}
	}
}

func drawDocument(t *rapid.T) string {
	w := &writer{t: t, nl: rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "line end")}
	w.step = 1 + w.pick("step", 4)
	w.dash = rapid.SampledFrom([]int{0, w.step}).Draw(t, "dash")
	if w.chance("mark", 8) {
		w.out.WriteString("\ufeff")
	}
	if w.chance("start", 6) {
		w.out.WriteString("--- # start" + w.nl)
	}
	if !w.chance("empty", 15) {
		w.block(3, 0, true)
	}
	w.noise("")
	if w.chance("end", 8) {
		w.out.WriteString("..." + w.nl)
	}
	return w.out.String()
}

var newValues = rapid.SampledFrom([]any{
	nil, true, "word", "two words", "yes", "", "it's", "a\nb\n", "a\n\n b", "# x", "012", 5, -1.5,
	map[string]any{}, map[string]any{"k": 1, "l": map[string]any{"m": []any{1, "x"}}}, []any{}, []any{"a", map[string]any{"b": 1, "c": "x\ny"}, []any{1, 2}},
})

// drawPath draws a path to something in the tree, or beside it.
func drawPath(t *rapid.T, tree any) jsontree.Path {
	var path jsontree.Path
	for {
		node, _ := tree.(map[string]any)
		keys := append(sortedKeys(node), "new", "other key")
		key := rapid.SampledFrom(keys).Draw(t, "key")
		path = append(path, key)
		next, present := node[key]
		if _, isMap := next.(map[string]any); !present || !isMap || rapid.IntRange(0, 2).Draw(t, "stop") == 0 {
			if !present && rapid.IntRange(0, 3).Draw(t, "deeper") == 0 {
				path = append(path, "below")
			}
			return path
		}
		tree = next
	}
}

// applyToTree is what an edit means, written once more.
func applyToTree(tree map[string]any, e Edit) {
	for _, key := range e.Path[:len(e.Path)-1] {
		next, ok := tree[key].(map[string]any)
		if !ok {
			if e.Unset {
				return
			}
			next = map[string]any{}
			tree[key] = next
		}
		tree = next
	}
	if e.Unset {
		delete(tree, e.Path[len(e.Path)-1])
	} else {
		tree[e.Path[len(e.Path)-1]] = jsontree.Clone(e.Value)
	}
}

// Whatever a document looks like: edits come out as what they mean, none is
// refused, and what is outside of them keeps its bytes.
func TestAnyEditOfAnyDocument(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawDocument(t)
		d, err := Parse("s.yaml", YAML, []byte(text))
		if err != nil {
			t.Fatalf("the generator wrote no document: %v\n%s", err, text)
		}
		tree := d.Tree()
		if tree == nil {
			tree = map[string]any{}
		}
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
			t.Fatalf("%v: %s, want %s\n%s", edits, jsontree.Encode(orEmpty(edited.Tree())), jsontree.Encode(tree), edited.Bytes())
		}
		if bytes.Count(edited.Bytes(), []byte("# far left")) < bytes.Count([]byte(text), []byte("# far left"))-16 {
			t.Fatalf("comments are lost")
		}
		if strings.Contains(text, "\r\n") && strings.Contains(strings.ReplaceAll(string(edited.Bytes()), "\r\n", ""), "\n") {
			t.Fatalf("%v: line ends are mixed\n%q", edits, edited.Bytes())
		}
		if len(edits) == 1 {
			checkBytes(t, d, edited, edits[0])
		}
	})
}

func orEmpty(tree map[string]any) map[string]any {
	if tree == nil {
		return map[string]any{}
	}
	return tree
}

func mustTree(v any) any {
	tree, err := jsontree.From(v)
	if err != nil {
		panic(err)
	}
	return tree
}

// checkBytes holds one edit to what it may change: of a value that is replaced,
// the lines that it is written on; of a key that goes, its lines, the comments
// above and below that belong to it, and the line of the key that it is the last
// of; of a key that comes, nothing that was there.
func checkBytes(t *rapid.T, d, edited *Document, e Edit) {
	before, after := d.Bytes(), edited.Bytes()
	n, parents := d.root, []*entry{}
	for _, key := range e.Path {
		if n == nil {
			break
		}
		i := slices.IndexFunc(n.entries, func(e entry) bool { return e.name == key })
		if i < 0 {
			n = nil
			break
		}
		parents = append(parents, &n.entries[i])
		n = n.entries[i].value
	}
	p := newPlan(d, asUsual)
	if len(parents) == 0 {
		if e.Unset {
			if !bytes.Equal(before, after) {
				t.Fatalf("unset of nothing changed the text")
			}
			return
		}
		if d.root != nil && d.root.kind == mapNode && d.root.style == blockStyle && !contiguous(before, after) {
			t.Fatalf("%v changed what was there:\n%q\n%q", e, before, after)
		}
		return
	}
	last := parents[len(parents)-1]
	from, to := p.commentAbove(last.start), p.nextLine(p.trailing(last.end(), 1))
	if n == nil && !e.Unset && last.value.kind == mapNode && len(last.value.entries) > 0 {
		if !contiguous(before, after) {
			// A comma, too, may come in a map in brackets.
			from, to = p.lineStart(last.start), p.nextLine(p.trailing(last.end(), 1))
		} else {
			return
		}
	}
	if e.Unset && len(parents) > 1 {
		from = p.lineStart(parents[len(parents)-2].start)
		to = max(to, p.nextLine(parents[len(parents)-2].end()))
	}
	if prefix := before[:from]; !bytes.HasPrefix(after, prefix) {
		t.Fatalf("%v changed what is before it:\n%q\n%q", e, before, after)
	}
	if suffix := before[to:]; !bytes.HasSuffix(after, suffix) {
		t.Fatalf("%v changed what is behind it:\n%q\n%q", e, before, after)
	}
	// The value alone, when one scalar in a line took the place of another.
	if n != nil && n.kind == scalarNode && n.written() && !e.Unset && n.style <= singleQuoted {
		switch value := e.Value.(type) {
		case map[string]any, []any, nil:
			return
		case string:
			if strings.Contains(value, "\n") {
				return
			}
		}
		if !bytes.HasPrefix(after, before[:n.start]) || !bytes.HasSuffix(after, before[n.end:]) {
			t.Fatalf("%v changed more than the value:\n%q\n%q", e, before, after)
		}
	}
}

// contiguous reports whether b is a with one piece put in.
func contiguous(a, b []byte) bool {
	prefix := 0
	for prefix < min(len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	suffix := 0
	for suffix < min(len(a), len(b))-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return prefix+suffix >= len(a)
}

// What is set and unset again leaves the document as it was.
func TestSetAndUnsetReturnTheDocument(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawDocument(t)
		d, err := Parse("s.yaml", YAML, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if d.root == nil || d.root.style != blockStyle {
			t.Skip("a document without sections")
		}
		path := jsontree.Path{"new section"}
		there, err := d.Apply([]Edit{{Path: path, Value: mustTree(newValues.Draw(t, "value"))}})
		if err != nil {
			t.Fatal(err)
		}
		back, err := there.Apply([]Edit{{Path: path, Unset: true}})
		if err != nil {
			t.Fatal(err)
		}
		// A comment that the section was put below may be taken for its own.
		want := string(d.Bytes())
		if got := string(back.Bytes()); got != want && !strings.Contains(want, "#") {
			t.Fatalf("%q\n%q", want, got)
		}
	})
}

// An alias is edited, or what it shares is, only with an error that says where.
func TestEditsBesideAliasesNeverChangeThem(t *testing.T) {
	t.Parallel()
	text := "base: &b\n  x: 1\n  y: {z: 2}\nuse: *b\nlist: [*b, &c 3]\nmore:\n  deep: *c\n  own: 4\nkeys: {*c : 1}\n"
	d, err := Parse("s.yaml", YAML, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		tree := d.Tree()
		e := Edit{Path: drawPath(t, tree), Unset: rapid.Bool().Draw(t, "unset")}
		if !e.Unset {
			e.Value = mustTree(newValues.Draw(t, "value"))
		}
		edited, err := d.Apply([]Edit{e})
		var refused *Error
		switch {
		case errors.As(err, &refused):
			if refused.Reason != Alias {
				t.Fatalf("%v: %v", e, err)
			}
		case err != nil:
			t.Fatal(err)
		default:
			applyToTree(tree, e)
			if !jsontree.Equal(tree, orEmpty(edited.Tree())) {
				t.Fatalf("%v: %s", e, edited.Bytes())
			}
		}
	})
}
