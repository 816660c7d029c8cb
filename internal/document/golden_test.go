package document

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each archive in testdata/edit is a document, edits of it one by one, and the
// document that results. An edit that is refused leaves its error in the place
// of the document.
func TestEditsChangeWhatTheyNameAndNothingElse(t *testing.T) {
	files, err := filepath.Glob("testdata/edit/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rebuilt := &txtar.Archive{Comment: archive.Comment}
			var d *Document
			for i := 0; i < len(archive.Files); i++ {
				f := archive.Files[i]
				rebuilt.Files = append(rebuilt.Files, f)
				if f.Name != "edits" {
					format, err := FormatOf(f.Name)
					if err != nil {
						t.Fatal(err)
					}
					if d, err = Parse(f.Name, format, f.Data); err != nil {
						t.Fatal(err)
					}
					continue
				}
				after := txtar.File{Name: "after"}
				edited, err := d.Apply(parseEdits(t, string(f.Data)))
				if err != nil {
					after.Data = []byte(err.Error() + "\n")
				} else {
					after.Data = edited.Bytes()
				}
				rebuilt.Files = append(rebuilt.Files, after)
				if i++; *update {
					if i < len(archive.Files) && archive.Files[i].Name != "after" {
						i--
					}
					continue
				}
				if diff := cmp.Diff(string(archive.Files[i].Data), string(after.Data)); diff != "" {
					t.Errorf("after %s (-want +got):\n%s", f.Data, diff)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(rebuilt), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// parseEdits reads lines like "set a.b = 1" and "unset a.b".
func parseEdits(t *testing.T, text string) []Edit {
	t.Helper()
	var edits []Edit
	for line := range strings.Lines(text) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, value, _ := strings.Cut(rest, " = ")
		e := Edit{Unset: verb == "unset"}
		var err error
		if e.Path, err = jsontree.ParsePath(path); err != nil {
			t.Fatal(err)
		}
		if verb == "set" {
			if e.Value, err = jsontree.Parse([]byte(value)); err != nil {
				t.Fatal(err)
			}
		}
		edits = append(edits, e)
	}
	return edits
}

// These documents have line ends and beginnings that no golden file can hold.
func TestEditsKeepLineEndsAndByteOrderMarks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		name, before, edits, after string
	}{
		"CRLF stays, in lines that are new as well": {
			"s.yaml", "a: 1 # c\r\n\r\nb:\r\n  - x\r\n", "set a = 2\nset b = [\"x\",\"z\"]\nset c.d = 1",
			"a: 2 # c\r\n\r\nb:\r\n  - x\r\n  - z\r\nc:\r\n  d: 1\r\n",
		},
		"CRLF stays when a key goes":     {"s.yaml", "a: 1\r\nb: 2\r\nc: 3\r\n", "unset b", "a: 1\r\nc: 3\r\n"},
		"CRLF stays in text":             {"s.yaml", "a: 1\r\n", `set a = "x\ny\n"`, "a: |\r\n  x\r\n  y\r\n"},
		"a lone CR is a line end":        {"s.yaml", "a: 1\rb: 2\r", "set c = 3", "a: 1\rb: 2\rc: 3\r"},
		"no last line end stays none":    {"s.yaml", "a: 1\nb: 2", "set b = 3", "a: 1\nb: 3"},
		"none, when a key is added":      {"s.yaml", "a: 1\nb: 2", "set c.d = 3", "a: 1\nb: 2\nc:\n  d: 3"},
		"none, when the last key goes":   {"s.yaml", "a: 1\nb: 2", "unset b", "a: 1"},
		"none, when the last is changed": {"s.yaml", "a:\n  b: 1", "unset a.b\nset a.c = 2", "a:\n  c: 2"},
		"none, and the only key goes":    {"s.yaml", "a:\n  b: 1", "unset a.b", "a: {}"},
		"none behind a comment":          {"s.yaml", "# only", "set a = 1", "# only\na: 1"},
		"none, and two keys are added":   {"s.yaml", "a:\n  b: 1", "set a.c = 2\nset d = 3", "a:\n  b: 1\n  c: 2\nd: 3"},
		"text at the end without one":    {"s.yaml", "a: 1\nb:\n  # c\n  d: |\n    x", "set b.e = 2\nset f = 3", "a: 1\nf: 3\nb:\n  e: 2\n  # c\n  d: |\n    x"},
		"stripped text at the end":       {"s.yaml", "a: |-\n  x", "set b = 1", "a: |-\n  x\nb: 1"},
		"spaces at the end":              {"s.yaml", "a: 1\n  ", "set b = 1", "a: 1\n  \nb: 1"},
		"a byte order mark stays":        {"s.yaml", "\ufeffa: 1\n", "set a = 2\nset b = 3", "\ufeffa: 2\nb: 3\n"},
		"also when all goes":             {"s.yaml", "\ufeffa: 1\n", "unset a", "\ufeff"},
		"also when nothing else was":     {"s.yaml", "\ufeff", "set a = 1", "\ufeffa: 1\n"},
		"also in JSON":                   {"s.json", "\ufeff{\"a\": 1}\n", "set a = 2", "\ufeff{\"a\": 2}\n"},
		"also in empty JSON":             {"s.json", "\ufeff", "set a = 2", "\ufeff{\n  \"a\": 2\n}\n"},
		"JSON with CRLF":                 {"s.json", "{\r\n\t\"a\": 1\r\n}\r\n", "set b.c = 2", "{\r\n\t\"a\": 1,\r\n\t\"b\": {\r\n\t\t\"c\": 2\r\n\t}\r\n}\r\n"},
		"JSON without a last line end":   {"s.json", "{\n  \"a\": 1\n}", "set a = 2", "{\n  \"a\": 2\n}"},
		"a comment without one, in JSON": {"s.json", "{} // c", "set a = 2", "{\n  \"a\": 2\n} // c"},
		"an empty document":              {"s.yaml", "", "set a.b = [1]", "a:\n  b:\n    - 1\n"},
		"an empty JSON document":         {"s.json", "", "set a.b = [1]", "{\n  \"a\": {\n    \"b\": [\n      1\n    ]\n  }\n}\n"},
		"null without a line end":        {"s.yaml", "~", "set a = 1\nset b = 2", "a: 1\nb: 2"},
		"null in JSON":                   {"s.json", "null\n", "set a = 1", "{\n  \"a\": 1\n}\n"},
		"characters of several bytes":    {"s.yaml", "é: \"ü\" # ö\nb: {ä: 1, ö: 2} # ß\n", "set b[\"ö\"] = 3\nset [\"é\"] = \"ï\"", "é: \"ï\" # ö\nb: {ä: 1, ö: 3} # ß\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			format, _ := FormatOf(c.name)
			d, err := Parse(c.name, format, []byte(c.before))
			if err != nil {
				t.Fatal(err)
			}
			edited, err := d.Apply(parseEdits(t, c.edits))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(edited.Bytes()); got != c.after {
				t.Errorf("got  %q\nwant %q", got, c.after)
			}
			if string(d.Bytes()) != c.before {
				t.Error("the document before has changed")
			}
		})
	}
}

func TestAnEditThatChangesNothingReturnsTheDocument(t *testing.T) {
	t.Parallel()
	d, err := Parse("s.yaml", YAML, []byte("a: 1.0\nb: {c: yes}\nd: [1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	edited, err := d.Apply(parseEdits(t, "set a = 1\nset b.c = \"yes\"\nunset x.y\nset d = [1e0]\nunset b.z"))
	if err != nil || edited != d {
		t.Fatalf("%v, %v", edited, err)
	}
}

func TestAPathThroughAValueThatIsNoMapIsRefused(t *testing.T) {
	t.Parallel()
	d, err := Parse("s.yaml", YAML, []byte("a:\n  s: x\n  l: [1]\n  n:\nbad: .nan\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []string{"set a.s.x = 1", "unset a.s.x", "set a.l[\"0\"] = 1", "unset a.l[\"0\"]"} {
		if _, err := d.Apply(parseEdits(t, edit)); !errors.Is(err, fault.PathNotContainer) {
			t.Errorf("%s: %v", edit, err)
		}
	}
	var refused *Error
	if _, err := d.Apply(parseEdits(t, "set bad.x = 1")); !errors.As(err, &refused) || refused.Reason != Number {
		t.Errorf("a section without data: %v", err)
	}
	for edit, want := range map[string]string{"set a.n.x = 1": "a:\n  s: x\n  l: [1]\n  n:\n    x: 1\nbad: .nan\n", "unset bad": "a:\n  s: x\n  l: [1]\n  n:\n", "set bad = {\"x\":1}": "a:\n  s: x\n  l: [1]\n  n:\nbad:\n  x: 1\n"} {
		if edited, err := d.Apply(parseEdits(t, edit)); err != nil || string(edited.Bytes()) != want {
			t.Errorf("%s: %v", edit, err)
		}
	}
	var not *jsontree.NotJSON
	if _, err := d.Apply([]Edit{{Path: jsontree.Path{"a"}, Value: func() {}}}); !errors.As(err, &not) {
		t.Errorf("a function: %v", err)
	}
	if _, err := d.Apply([]Edit{{Value: "x"}}); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("a document that is a string: %v", err)
	}
}

func TestDiffEditsLeaves(t *testing.T) {
	t.Parallel()
	parse := func(text string) any {
		tree, err := jsontree.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	for _, c := range []struct{ old, new, want string }{
		{`{"a":1}`, `{"a":1.0}`, ""},
		{`{"a":{"b":1,"c":2},"d":[1]}`, `{"a":{"b":1,"e":3},"d":[1,2]}`, `unset $.s.a.c;set $.s.a.e 3;set $.s.d [1,2];`},
		{`{"a":{"b":1}}`, `{"a":2}`, `set $.s.a 2;`},
		{`{"a":1,"b":1}`, `{}`, `unset $.s.a;unset $.s.b;`},
		{`{}`, `{"z":{},"a":null}`, `set $.s.a null;set $.s.z {};`},
		{`null`, `{"a":1}`, `set $.s {"a":1};`},
	} {
		var got strings.Builder
		for _, e := range Diff(jsontree.Path{"s"}, parse(c.old), parse(c.new)) {
			got.WriteString(e.String())
			if !e.Unset {
				fmt.Fprintf(&got, " %s", jsontree.Encode(e.Value))
			}
			got.WriteByte(';')
		}
		if got.String() != c.want {
			t.Errorf("%s → %s: %s, want %s", c.old, c.new, got.String(), c.want)
		}
	}
}

// A document that went through no edit is its bytes.
func TestParsingKeepsBytes(t *testing.T) {
	t.Parallel()
	text := []byte("\ufeff%YAML 1.2\n--- # c\na:   1\r\n...\n")
	d, err := Parse("s.yaml", YAML, bytes.Clone(text))
	if err != nil || !bytes.Equal(d.Bytes(), text) {
		t.Fatalf("%q, %v", d.Bytes(), err)
	}
}
