package document

import "testing"

func TestAValueIsLocatedByItsPath(t *testing.T) {
	t.Parallel()
	const yaml = "# settings\nshell:\n  timeoutMs: nope\n  roots:\n    - /a\n    - [b, {c: d}]\n  \"odd key\": &a 1\n  empty:\nother: {x: {y: 2}}\nlink: *a\n"
	const jwcc = "{\n  // settings\n  \"shell\": {\"timeoutMs\": true, \"roots\": [1,\n 2]},\n}\n"
	for _, c := range []struct {
		name, text   string
		format       Format
		path         string
		line, column int
	}{
		{"the root", yaml, YAML, "$", 1, 1},
		{"a section by its key", yaml, YAML, "$.shell", 2, 1},
		{"a scalar by itself", yaml, YAML, "$.shell.timeoutMs", 3, 14},
		{"a list by its key", yaml, YAML, "$.shell.roots", 4, 3},
		{"an item", yaml, YAML, "$.shell.roots[0]", 5, 7},
		{"an item of an item", yaml, YAML, "$.shell.roots[1][1].c", 6, 15},
		{"an odd key", yaml, YAML, `$.shell["odd key"]`, 7, 14},
		{"a value that is not written", yaml, YAML, "$.shell.empty", 8, 3},
		{"within a flow map", yaml, YAML, "$.other.x.y", 9, 16},
		{"what is not there by its container", yaml, YAML, "$.shell.absent.below", 2, 1},
		{"an item that is not there", yaml, YAML, "$.shell.roots[7]", 4, 3},
		{"through a scalar", yaml, YAML, "$.shell.timeoutMs.x", 3, 14},
		{"an alias", yaml, YAML, "$.link", 10, 1},
		{"a path that is none", yaml, YAML, `$.shell["x`, 2, 1},
		{"in JSON", jwcc, JSON, "$.shell.timeoutMs", 3, 26},
		{"an item in JSON", jwcc, JSON, "$.shell.roots[1]", 4, 2},
		{"an empty document", "", YAML, "$.shell", 1, 1},
	} {
		d, err := Parse("settings", c.format, []byte(c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if line, column := d.Locate(c.path); line != c.line || column != c.column {
			t.Errorf("%s: %s is at %d:%d, want %d:%d", c.name, c.path, line, column, c.line, c.column)
		}
	}
	d, err := Parse("settings", YAML, []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	if line, column := d.LocateKey("$.shell.timeoutMs"); line != 3 || column != 3 {
		t.Errorf("the key of a scalar is at %d:%d", line, column)
	}
}
