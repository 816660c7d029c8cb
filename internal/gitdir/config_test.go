package gitdir

import (
	"strings"
	"testing"
)

// configs are configurations, and whether git takes them.
var configs = []struct {
	name, text string
	valid      bool
}{
	{"nothing", "", true},
	{"a section and a value", "[core]\n\tbare = true\n", true},
	{"everything on one line", "[core] bare = true", true},
	{"names regardless of case", "[CoRe]\nHooksPath = X\n", true},
	{"a subsection with its case", "[remote \"Or\\\"i\\\\g in\"]\nurl = x\n", true},
	{"an escape in a subsection that means nothing", "[a \"x\\ty\"]\nb = c\n", true},
	{"an old subsection", "[Branch.Main]\nmerge = x\n", true},
	{"a name alone", "[core]\nbare\n", true},
	{"an empty value", "[core]\neditor =\n", true},
	{"comments", "# one\n; two\n[core] ; three\nbare = true # four\nx = \"a # b\" ; c\n", true},
	{"quotes", "[a]\nb = \" x \"  y\"z\"\n", true},
	{"blanks inside and around", "[a]\nb = \t x y \t\n", true},
	{"escapes", "[a]\nb = \\t\\n\\\\\\\"\n", true},
	{"a continued line", "[a]\nb = x\\\ny\nc = z\n", true},
	{"a continued line in quotes", "[a]\nb = \"x\\\n y\"\n", true},
	{"lines of Windows", "[a]\r\nb = c\r\nd = e\\\r\nf\r\n", true},
	{"a mark at the beginning", "\ufeff[a]\nb = c\n", true},
	{"no line at the end", "[a]\nb = c", true},
	{"a backslash at the end", "[a]\nb = c\\", true},
	{"the same section twice", "[a]\nb = 1\n[c]\nd = 2\n[a]\nb = 3\n", true},
	{"a hash without a blank", "[a]\nb = x#y\n", true},
	{"no section", "a = b\n", true},
	{"an open section", "[core\nbare = true\n", false},
	{"an open subsection", "[core \"x\nbare = true\n", false},
	{"text behind a subsection", "[core \"x\" ]\nbare = true\n", false},
	{"an open quote", "[a]\nb = \"x\nc = d\n", false},
	{"an unknown escape", "[a]\nb = \\q\n", false},
	{"a name that begins with a digit", "[a]\n1 = x\n", false},
	{"a name with an underscore", "[a]\nb_c = x\n", false},
	{"a question mark", "[a]\n?\nb = c\n", false},
}

func TestConfigurationsReadAsGitReadsThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range configs {
		t.Run(c.name, func(t *testing.T) {
			entries, valid := parseConfig([]byte(c.text))
			if valid != c.valid {
				t.Errorf("valid is %v", valid)
			}
			w.write("config", c.text)
			out, err := w.tryGit("", "config", "--file", "config", "--null", "--list")
			if (err == nil) != c.valid {
				t.Fatalf("git disagrees: %v: %s", err, out)
			}
			if !c.valid {
				return
			}
			var got strings.Builder
			for _, e := range entries {
				for _, part := range []string{e.section, e.subsection} {
					if part != "" {
						got.WriteString(part + ".")
					}
				}
				got.WriteString(e.name + "\n" + e.value + "\x00")
			}
			// git lists a name alone without a value.
			want := strings.ReplaceAll(out, "core.bare\x00", "core.bare\ntrue\x00")
			if got.String() != want {
				t.Errorf("%q, git says %q", got.String(), want)
			}
		})
	}
}

// Protection reads on where git gives up: the next git may be more lenient.
func TestWhatFollowsABadLineIsStillRead(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"?", "[x", "[x \"", "b = \"", "b = \\q", "1 = 2", "]"} {
		entries, valid := parseConfig([]byte("[core]\n" + bad + "\n[core]\nhooksPath = h\n"))
		if value, _ := last(entries, "core", "hookspath"); value != "h" || valid {
			t.Errorf("behind %q the value is %q, valid %v", bad, value, valid)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, c := range configs {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, _ := parseConfig(data)
		for _, e := range entries {
			if e.name == "" || strings.ContainsAny(e.name, "\n= \t") || strings.ContainsAny(e.section, "\n]\" ") || strings.Contains(e.subsection, "\n") {
				t.Errorf("%+v is no entry", e)
			}
		}
		// A section and a value in front change nothing but themselves.
		more, _ := parseConfig(append([]byte("[z]\ny = x\n"), strings.TrimPrefix(string(data), "\ufeff")...))
		if len(more) < len(entries)+1 {
			t.Errorf("%d entries, with one in front %d", len(entries), len(more))
		}
	})
}

func FuzzParseGitFile(f *testing.F) {
	for _, text := range []string{"gitdir: x\n", "gitdir: /a/b\r\n", "gitdir:x", "gitdir: \n", "", "gitdir: a\x00b", "gitdir: a\nb\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path, ok := parseGitFile(data)
		if ok != (path != "") {
			t.Errorf("%q, %v", path, ok)
		}
		if ok && (strings.ContainsAny(path, "\x00\n") || !strings.HasPrefix(string(data), "gitdir: "+path)) {
			t.Errorf("%q is not what stands there", path)
		}
	})
}
