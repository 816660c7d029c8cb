package document

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
)

func TestFormatsAreToldByExtension(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Format{"a.yaml": YAML, "a.yml": YAML, "/x/A.YAML": YAML, "a.json": JSON, "a.b.json": JSON} {
		if got, err := FormatOf(name); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"a", "a.toml", "yaml", "a.yaml.bak", ""} {
		if _, err := FormatOf(name); !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The values are those of the core schema of YAML 1.2, not those of YAML 1.1.
func TestScalarsMeanWhatYAML12Says(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2024-01-02": `"2024-01-02"`, "2024-01-02T03:04:05Z": `"2024-01-02T03:04:05Z"`, "12:30:45": `"12:30:45"`,
		"yes": `"yes"`, "no": `"no"`, "on": `"on"`, "off": `"off"`, "NO": `"NO"`, "y": `"y"`,
		"true": `true`, "True": `true`, "TRUE": `true`, "tRUE": `"tRUE"`, "false": `false`, "False": `false`, "FALSE": `false`,
		"null": `null`, "Null": `null`, "NULL": `null`, "nULL": `"nULL"`, "~": `null`, "": `null`, "~~": `"~~"`,
		"017": `17`, "012": `12`, "000": `0`, "1_000": `"1_000"`, "0b11": `"0b11"`, "0o14": `12`, "0o8": `"0o8"`, "0x1f": `31`, "0X1F": `"0X1F"`, "0xFFFFFFFFFFFFFFFFFF": `4722366482869645213695`, "+0x1": `"+0x1"`, "-0o7": `"-0o7"`, "0x": `"0x"`,
		"-0": `-0`, "-0.0": `-0.0`, "+5": `5`, "-12": `-12`, "+-5": `"+-5"`, "--5": `"--5"`,
		"1e3": `1e3`, "1E+3": `1E+3`, "1.": `1`, ".5": `0.5`, "-.5e-3": `-0.5e-3`, "01.50": `1.50`, "1.e3": `1e3`, "1.2.3": `"1.2.3"`, "e3": `"e3"`, "1e": `"1e"`, "1 2": `"1 2"`, ".": `"."`, "1,5": `"1,5"`,
		"9007199254740993": `9007199254740993`, "18446744073709551616": `18446744073709551616`, "123456789012345678901234567890": `123456789012345678901234567890`, "0.1000000000000000055511151231257827": `0.1000000000000000055511151231257827`,
		"=": `"="`, "!!str 5": `"5"`, "! 5": `"5"`, "!!int \"5\"": `5`, "!!float 5": `5`, "!!int 0x10": `16`, "!!null ''": `null`, "!!bool 'true'": `true`, "!!str": `""`, "!!null": `null`,
		"'5'": `"5"`, "\"true\"": `"true"`, "|-\n  5": `"5"`, ">\n  a\n  b\n": `"a b\n"`, "[yes, 0x10, 1_0]": `["yes",16,"1_0"]`, "{a: , b}": `{"a":null,"b":null}`,
		"<<": `"<<"`, "!!seq [1]": `[1]`, "!!map {}": `{}`, "a\n  b\n\n  c": `"a b\nc"`, "!<tag:yaml.org,2002:str> 5": `"5"`,
	} {
		d, err := Parse("s.yaml", YAML, []byte("a: "+text+"\n"))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := string(jsontree.Encode(d.Tree()["a"])); got != want || d.Problem("a") != nil {
			t.Errorf("%q is %s, %v; want %s", text, got, d.Problem("a"), want)
		}
	}
}

func TestKeysAreWhatTheySay(t *testing.T) {
	t.Parallel()
	d, err := Parse("s.yaml", YAML, []byte("1: a\ntrue: b\n~: c\n0x1F: d\n.nan: e\n\"<<\": f\n2024-01-02: g\n? h\n: i\n? 'j k'\n__proto__: l\n!!str 5: m\n\"\": n\n? |-\n  o\n: p\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"":"n",".nan":"e","0x1F":"d","1":"a","2024-01-02":"g","5":"m","<<":"f","__proto__":"l","h":"i","j k":null,"o":"p","true":"b","~":"c"}`
	if got := string(jsontree.Encode(d.Tree())); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestASectionWithoutJSONDataLeavesTheOthers(t *testing.T) {
	t.Parallel()
	d, err := Parse("s.yaml", YAML, []byte("ok: 1\nnan: .nan\ninf: {a: [-.Inf]}\nbinary:\n  deep:\n    x: !!binary c2VjcmV0\ntime: !!timestamp 2024-01-02\nset: !!set {a}\nown: !mine [1]\nint: !!int abc\nalias: &x !!binary aGk=\nuse: *x\nbig: 1e99999999999999999999\nkey: {!mine k: 1}\nhex: 0x"+strings.Repeat("f", 2000)+"\nfine: {a: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(jsontree.Encode(d.Tree())); got != `{"fine":{"a":1},"ok":1}` {
		t.Errorf("the tree is %s", got)
	}
	for section, want := range map[string]string{
		"nan": "2:6 number", "inf": "3:11 number", "binary": "6:8 tag", "time": "7:7 tag", "set": "8:6 tag", "own": "9:6 tag", "int": "10:6 tag",
		"alias": "11:8 tag", "use": "11:8 tag", "big": "13:6 number", "key": "14:7 tag", "hex": "15:6 number",
	} {
		var problem *Error
		if err := d.Problem(section); !errors.As(err, &problem) || !errors.Is(err, fault.DocumentInvalid) {
			t.Errorf("%s: %v", section, err)
		} else if got := fmt.Sprintf("%d:%d %s", problem.Line, problem.Column, problem.Reason); got != want {
			t.Errorf("%s: %s, want %s", section, got, want)
		}
	}
	if d.Problem("ok") != nil || d.Problem("absent") != nil || len(d.Problems()) != 12 {
		t.Errorf("%v, %v, %q", d.Problem("ok"), d.Problem("absent"), d.Problems())
	}
	if j, err := Parse("s.json", JSON, []byte(`{"a": 1e99999999999999, "b": 2}`)); err != nil || j.Problem("a") == nil || len(j.Tree()) != 1 {
		t.Errorf("JSON: %v, %v", j, err)
	}
}

func TestDocumentsThatAreRefusedSayWhereAndWhy(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [1,2,3,4,5,6,7,8,9]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 9))
	}
	for name, c := range map[string]struct {
		format Format
		text   string
		want   string
	}{
		"a key twice":                 {YAML, "sk-secret: 1\nb: 2\nsk-secret: 3\n", "3:1 duplicate-key"},
		"a key twice, nested":         {YAML, "a:\n  b: {c: 1, é: 2, c: 3}\n", "2:19 duplicate-key"},
		"a key twice, written twice":  {YAML, "a:\n  \"1\": x\n  1: y\n", "3:3 duplicate-key"},
		"a key twice, in JSON":        {JSON, "{\"a\": {\"k\": 1,\n \"\\u006b\": 2}}", "2:2 duplicate-key"},
		"a section twice, in JSON":    {JSON, "{\"a\": 1,\n\"a\": 2}", "2:1 duplicate-key"},
		"a merge":                     {YAML, "b: &b {x: 1}\na:\n  <<: *b\n", "3:3 merge-key"},
		"a merge with its tag":        {YAML, "a: {!!merge x: 1}\n", "1:5 merge-key"},
		"a merge, twice":              {YAML, "a:\n  <<: {}\n  <<: {}\n", "2:3 merge-key"},
		"a list as a key":             {YAML, "a:\n  [1, 2]: x\n", "2:3 complex-key"},
		"a map as a key":              {YAML, "? {a: 1}\n: x\n", "1:3 complex-key"},
		"two documents":               {YAML, "a: 1\n---\nb: 2\n", "2:1 multiple-documents"},
		"two, the second empty":       {YAML, "a: 1\n---\n", "2:1 multiple-documents"},
		"two, split by an end":        {YAML, "a: 1\n...\nb: 2\n", "3:1 multiple-documents"},
		"a list":                      {YAML, "# c\n- a\n", "2:1 not-a-map"},
		"a string":                    {YAML, "sk-secret\n", "1:1 not-a-map"},
		"a number in JSON":            {JSON, " 1", "1:2 not-a-map"},
		"a list in JSON":              {JSON, "[{}]", "1:1 not-a-map"},
		"a tagged root":               {YAML, "!mine\na: 1\n", "1:1 tag"},
		"an unknown alias":            {YAML, "a: *b\n", "1:4 alias"},
		"an alias of itself":          {YAML, "a: &a [1, *a]\n", "1:11 alias"},
		"an alias of itself, deeper":  {YAML, "a: &a\n  b:\n    c: *a\n", "3:8 alias"},
		"an alias of the root":        {YAML, "&r\na: *r\n", "2:4 alias"},
		"a bomb":                      {YAML, bomb, "6:8 alias"},
		"a bomb of text":              {YAML, "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 40) + "]\n", "2:29 alias"},
		"brackets 20000 deep":         {YAML, "a: " + strings.Repeat("[", 20000), "1:262 too-deep"},
		"257 deep":                    {YAML, "a: " + strings.Repeat("[", 257) + strings.Repeat("]", 257), "1:260 too-deep"},
		"dashes 20000 deep":           {YAML, "a:\n " + strings.Repeat("- ", 20000), "2:516 too-deep"},
		"maps 2000 deep":              {YAML, deepMaps(2000), "259:260 too-deep"},
		"brackets 20000 deep in JSON": {JSON, "{\"a\":" + strings.Repeat("[", 20000), "1:262 too-deep"},
		"aliases 300 deep":            {YAML, deepAliases(300), "256:14 too-deep"},
		"too large":                   {YAML, "a: " + strings.Repeat("x", MaxSize), "1:1 too-large"},
		"UTF-16":                      {YAML, "\xff\xfea\x00:\x00", "1:1 encoding"},
		"UTF-16, big-endian":          {JSON, "\xfe\xff\x00{", "1:1 encoding"},
		"UTF-16 without a mark":       {YAML, "a\x00:\x00", "1:1 encoding"},
		"Latin-1":                     {YAML, "a: 1\nb: é\xe9\n", "2:5 encoding"},
		"Latin-1 in JSON":             {JSON, "{\"a\": \"\xe9\"}", "1:8 encoding"},
		"a control character":         {YAML, "a: 1\nb: x\x01\n", "2:5 encoding"},
		"NUL":                         {JSON, "{\"a\": 1}\n\x00", "2:1 encoding"},
		"DEL":                         {YAML, "a: \x7f\n", "1:4 encoding"},
		"a tab that indents":          {YAML, "a:\n\tb: 1\n", "2:1 tab"},
		"a bracket left open":         {YAML, "a: [1, 2\nb: 3\n", "1:4 syntax"},
		"a quote left open":           {YAML, "a: 1\nb: \"x\nc: 2\n", "2:4 syntax"},
		"a line without a colon":      {YAML, "a: 1\nsk-secret\nb: 2\n", "2:1 syntax"},
		"two colons":                  {YAML, "a: b: c\n", "1:5 syntax"},
		"a wrong indentation":         {YAML, "a:\n    b: 1\n  c: 2\n", "3:3 syntax"},
		"a reserved character":        {YAML, "a: `x`\n", "1:4 syntax"},
		"an unknown escape":           {YAML, "a: \"\\q\"\n", "1:5 syntax"},
		"an unknown tag handle":       {YAML, "a: !e!x 1\n", "1:4 tag"},
		"a directive without start":   {YAML, "%YAML 1.2\na: 1\n", "2:2 syntax"},
		"a later major version":       {YAML, "%YAML 2.0\n---\na: 1\n", "1:1 syntax"},
		"JSON cut off":                {JSON, "{\"a\": ", "1:7 syntax"},
		"JSON cut off in a string":    {JSON, "{\"a\": \"sk-secret", "1:7 syntax"},
		"JSON cut off in a comment":   {JSON, "{} /* x", "1:4 syntax"},
		"JSON with a short comment":   {JSON, "{} /*/", "1:4 syntax"},
		"JSON without a comma":        {JSON, "{\"a\": 1\n \"b\": 2}", "2:2 syntax"},
		"JSON without a colon":        {JSON, "{\"a\" 1}", "1:6 syntax"},
		"JSON with a bare key":        {JSON, "{a: 1}", "1:2 syntax"},
		"JSON with a bare value":      {JSON, "{\"a\": sk-secret}", "1:7 syntax"},
		"JSON with a leading zero":    {JSON, "{\"a\": 01}", "1:7 syntax"},
		"JSON with NaN":               {JSON, "{\"a\": NaN}", "1:7 syntax"},
		"JSON with more behind it":    {JSON, "{}\n{}", "2:1 syntax"},
		"JSON with a comma too many":  {JSON, "{\"a\": 1,,}", "1:9 syntax"},
		"JSON with a comma alone":     {JSON, "{,}", "1:2 syntax"},
		"JSON with a line in text":    {JSON, "{\"a\": \"x\n\"}", "1:9 syntax"},
		"JSON with an odd escape":     {JSON, "{\"a\": \"\\q\"}", "1:7 syntax"},
		"JSON with a mark inside":     {JSON, "{\ufeff}", "1:2 syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("s", c.format, []byte(c.text))
			var refused *Error
			if !errors.As(err, &refused) || !errors.Is(err, fault.DocumentInvalid) || fault.CodeOf(err) != fault.DocumentInvalid {
				t.Fatalf("%v", err)
			}
			if got := fmt.Sprintf("%d:%d %s", refused.Line, refused.Column, refused.Reason); got != c.want {
				t.Errorf("%s (%v), want %s", got, err, c.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the document: %v", err)
			}
		})
	}
}

func deepMaps(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "k:\n")
	}
	return b.String()
}

func deepAliases(depth int) string {
	var b strings.Builder
	b.WriteString("k0: &k0 [1]\n")
	for i := 1; i < depth; i++ {
		fmt.Fprintf(&b, "k%d: &k%d [*k%d]\n", i, i, i-1)
	}
	return b.String()
}

func TestDirectivesAndMarksAreAccepted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"%YAML 1.2\n---\na: 1\n...\n", "%YAML 1.1\n---\na: 1\n", "# c\n%YAML 1.2 # d\n%TAG !e! tag:x,2000:\n---\na: 1\n", "---\na: 1\n...\n", "--- # c\na: 1\n",
		"a: 1\n...\n# c\n", "a: 1\n... # c\n", "\ufeffa: 1\n", "\ufeff---\na: 1\n", "---\r\na: 1\r\n...\r\n", "%YAML 1.2\r\n---\r\na: 1\r\n", "{a: 1}\n", "{\"a\":1}", "--- {a: 1}", "!!map\na: 1\n", "&x a: 1\n", "\ra: 1\r", "a: 1",
	} {
		d, err := Parse("s.yaml", YAML, []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := string(jsontree.Encode(d.Tree())); got != `{"a":1}` {
			t.Errorf("%q: %s", text, got)
		}
	}
	for _, text := range []string{"\ufeff{\"a\": 1}", "// c\n{\"a\": 1, /* d */}\n// e", "{\"a\":1}//", "\r\n{\r\n\t\"\\u0061\":1}\r\n", "{\"a\":1}/**/"} {
		d, err := Parse("s.json", JSON, []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := string(jsontree.Encode(d.Tree())); got != `{"a":1}` {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestEmptyDocumentsHaveNoTree(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "  \n\t\n", "# c\n", "~", "null\n", "{}", "---\n", "---", "--- # c\n", "--- ~\n...\n", "...\n", "\ufeff", "%YAML 1.2\n---\n", "{ # c\n}"} {
		d, err := Parse("s.yaml", YAML, []byte(text))
		if err != nil || d.Tree() != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for _, edits := range []string{"set a.b = 1\nset c = [1]", "set a = \"x\\ny\\n\""} {
			edited, err := d.Apply(parseEdits(t, edits))
			if err != nil {
				t.Errorf("%q: %v", text, err)
			} else if strings.Contains(text, "# c") && !strings.Contains(string(edited.Bytes()), "# c") {
				t.Errorf("%q: the comment is lost: %q", text, edited.Bytes())
			}
		}
	}
	for _, text := range []string{"", " \n", "{}", "null", "// c\n", "/* c */", "{ // c\n}", "\ufeff// c", "// c"} {
		d, err := Parse("s.json", JSON, []byte(text))
		if err != nil || d.Tree() != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		edited, err := d.Apply(parseEdits(t, "set a.b = 1\nset c = [1]"))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if strings.Contains(text, " c") && !strings.Contains(string(edited.Bytes()), " c") {
			t.Errorf("%q: the comment is lost: %q", text, edited.Bytes())
		}
	}
}

// Aliases are copies: a caller who changes one changes no other.
func TestTheTreeSharesNothing(t *testing.T) {
	t.Parallel()
	d, err := Parse("s.yaml", YAML, []byte("a: &x {k: 1}\nb: *x\n"))
	if err != nil {
		t.Fatal(err)
	}
	d.Tree()["a"].(map[string]any)["k"] = "changed"
	if got := string(jsontree.Encode(d.Tree())); got != `{"a":{"k":1},"b":{"k":1}}` {
		t.Error(got)
	}
}

// Documents that are large in one way each take time in proportion to their
// size. The bound is generous: a minute is what a quadratic step would take.
func TestLargeDocumentsTakeBoundedTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const size = 1 << 18
	for name, text := range map[string]string{
		"a megabyte in a line": "a: " + strings.Repeat("x y ", 1<<18) + "\n",
		"a plain line":         "a: " + strings.Repeat("x y ", size/4) + "\n",
		"a quoted line":        "a: \"" + strings.Repeat("x é ", size/4) + "\"\n",
		"a list in one line":   "a: [é, " + strings.Repeat("1,", size/2) + "]\n",
		"a map in one line":    "a: {é: 1, " + manyKeys(40000, "k%d: 1, ") + "}\n",
		"comments":             "a:\n" + strings.Repeat("  # c\n", size/6) + "  b: 1\n",
		"comments and keys":    manyKeys(20000, "# c\nk%d: 1\n"),
		"blank lines":          "a: 1\n" + strings.Repeat("\n", size) + "b: 1\n",
		"a block of text":      "a: |\n" + strings.Repeat("  x\n\n", size/5),
		"folded plain lines":   "a: x\n" + strings.Repeat("  x\n", size/4),
		"anchors and aliases":  manyKeys(20000, "k%[1]d: &a%[1]d v\nl%[1]d: *a%[1]d\n"),
		"explicit keys":        manyKeys(20000, "? k%d\n: v\n"),
		"lone returns":         manyKeys(20000, "k%d: 1\r"),
		"problems":             manyKeys(20000, "k%d: .nan\n"),
		"problems in a line":   "{" + manyKeys(20000, "é%d: .nan, ") + "}\n",
		"sections":             manyKeys(10000, "k%d:\n  a: 1\n"),
		"an open bracket":      "a: " + strings.Repeat("[1, ", 200) + strings.Repeat("1,", size/2),
		"hashes":               "a: {" + strings.Repeat("#", size) + "\n",
	} {
		start := time.Now()
		d, err := Parse("s.yaml", YAML, []byte(text))
		if err == nil {
			_, err = d.Apply([]Edit{{Path: jsontree.Path{"new"}, Value: "v"}})
		}
		if err != nil && name != "an open bracket" && name != "hashes" {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s took %v", name, took)
		} else {
			t.Logf("%s, %d bytes: %v", name, len(text), took)
		}
	}
}

func manyKeys(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestOldLineBreaksAreCharacters(t *testing.T) {
	t.Parallel()
	text := "a: x\u0085b\n\"c\u2028d\": \"\u2029\\u0101\\L\" # \u2028 e: 1\nf: |\n  g\u0085h\n"
	d, err := Parse("s", YAML, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": "x\u0085b", "c\u2028d": "\u2029\u0101\u2028", "f": "g\u0085h\n"}
	if tree := d.Tree(); !jsontree.Equal(tree, want) {
		t.Errorf("the tree is %q", tree)
	}
	edited, err := d.Apply([]Edit{{Path: jsontree.Path{"a"}, Value: "z"}})
	if err != nil || string(edited.Bytes()) != strings.Replace(text, "x\u0085b", "z", 1) {
		t.Errorf("an edit gives %q, %v", edited.Bytes(), err)
	}
}
