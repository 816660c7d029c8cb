package cli

import (
	"strings"
	"testing"
)

func TestAGridIsLaidOut(t *testing.T) {
	t.Parallel()
	g := grid{indent: 1, widest: []int{0, 8, 0}}
	g.add([]string{"NAME", "VALUE", "DESCRIPTION"}, faint)
	g.add([]string{"a", `["one","two"]`, "What it is, in more words than fit."}, plain)
	g.add([]string{"long", "-", "Short."}, plain)
	for _, c := range []struct {
		name  string
		width int
		want  string
	}{
		{"where there is no terminal", 0, "" +
			" NAME  VALUE          DESCRIPTION\n" +
			" a     [\"one\",\"two\"]  What it is, in more words than fit.\n" +
			" long  -              Short.\n"},
		{"beside each other", 50, "" +
			" NAME  VALUE     DESCRIPTION\n" +
			" a     [\"one\",   What it is, in more words than\n" +
			"       \"two\"]    fit.\n" +
			" long  -         Short.\n"},
		{"below each other where it is narrow", 30, "" +
			" NAME  VALUE\n" +
			" a     [\"one\",\n" +
			"       \"two\"]\n" +
			"   What it is, in more words\n" +
			"   than fit.\n" +
			" long  -\n" +
			"   Short.\n"},
	} {
		if got := strings.Join(g.lines(screen{width: c.width}), "\n") + "\n"; got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestATextIsWrapped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 5, ""},
		{"short", 5, "short"},
		{"two words", 5, "two|words"},
		{"two words", 8, "two|words"},
		{"unbreakable", 5, "unbre|akabl|e"},
		{"a,b,c", 2, "a,|b,|c"},
		{"größer als", 6, "größer|als"},
	} {
		if got := strings.Join(wrap(c.text, c.width), "|"); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
