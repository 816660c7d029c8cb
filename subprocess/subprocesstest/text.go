//go:build unix

package subprocesstest

import (
	"encoding/json"
	"os"
	"strings"
	"unicode/utf8"

	"hardshell/subprocess"
)

// textChecks are about bytes becoming text: always valid UTF-8, one U+FFFD per
// maximal invalid part, and no character cut where the bytes merely have not
// all come, or where the window begins.
func textChecks() []check {
	return []check{
		{"each maximal invalid part is one replacement", invalidParts},
		{"zeros and control bytes pass through", controlBytes},
		{"a character of which bytes are missing is held back while the stream is open", heldBack},
		{"what can never become a character is not held back", notHeldBack},
		{"a character cut by the end is replaced", cutByTheEnd},
		{"the tail does not begin within a character", tailAtCharacter},
		{"no part of the window reads as invalid text", everyOffset},
		{"text survives json", textInJSON},
	}
}

func invalidParts(f *fixture) {
	const r = "\uFFFD"
	for bytes, want := range map[string]string{
		"plain\n":                  "plain\n",
		"\xef\xbb\xbfbom":          "\ufeffbom",
		"\xff\xfeabc":              r + r + "abc",
		"\xe2\x82a":                r + "a",
		"\xe2\x82\xe2\x82\xac":     r + "€",
		"\xf0\x9f\x98x":            r + "x",
		"\xf0\x9f\x98\x80":         "😀",
		"\x80\x80":                 r + r,
		"\xc0\x80":                 r + r,
		"\xc3(":                    r + "(",
		"\xed\xa0\x80":             r + r + r, // a surrogate
		"\xe0\x80\x80":             r + r + r, // overlong
		"\xf0\x80\x80\x80":         r + r + r + r,
		"\xf4\x90\x80\x80":         r + r + r + r, // beyond U+10FFFF
		"\xf5\x80\x80\x80":         r + r + r + r,
		"\xf4\x8f\xbf\xbf.":        "\U0010FFFF.",
		"a\xe2\x82\xacb\xe2\x82cd": "a€b" + r + "cd",
	} {
		spec := f.program("cat")
		spec.Stdin = data(bytes)
		h := f.run(spec)
		if got := collected(h); got.Text != want || got.Bytes != int64(len(bytes)) || got.Truncated {
			f.Errorf("%+q is collected as %+q (%d bytes, truncated %v), want %+q", bytes, got.Text, got.Bytes, got.Truncated, want)
		}
	}
}

func controlBytes(f *fixture) {
	const all = "a\x00b\x01\x1b[31m\x07\r\n\x7f\t\v\n"
	spec := f.program("cat")
	spec.Stdin = data(all)
	f.expectStdout(f.run(spec), all)
}

func heldBack(f *fixture) {
	d := f.feed(collect(100))
	d.print("a\xe2")
	d.reads(0, subprocess.Chunk{Text: "a", Next: 1})
	d.reads(1, subprocess.Chunk{Text: "", Next: 1})
	d.print("\x82")
	d.reads(0, subprocess.Chunk{Text: "a", Next: 1})
	d.print("\xacb")
	d.reads(1, subprocess.Chunk{Text: "€b", Next: 5})
	d.print("\xf0\x9f\x98")
	d.reads(4, subprocess.Chunk{Text: "b", Next: 5})
	d.print("\x80")
	d.reads(5, subprocess.Chunk{Text: "😀", Next: 9})
	d.end()
	d.reads(0, subprocess.Chunk{Text: "a€b😀", Next: 9})
}

func notHeldBack(f *fixture) {
	const r = "\uFFFD"
	for bytes, want := range map[string]string{
		"a\xff": "a" + r, "a\x80": "a" + r, "a\xc0": "a" + r, "\xe2(": r + "(", "\xed\xa0": r + r, "\xf5\x80": r + r,
	} {
		d := f.feed(collect(100))
		d.print(bytes)
		d.reads(0, subprocess.Chunk{Text: want, Next: int64(len(bytes))})
		d.end()
		d.reads(0, subprocess.Chunk{Text: want, Next: int64(len(bytes))})
	}
}

func cutByTheEnd(f *fixture) {
	for _, cut := range []string{"\xe2", "\xe2\x82", "\xf0\x9f\x98", "\xc3"} {
		d := f.feed(collect(100))
		d.print("a" + cut)
		d.reads(0, subprocess.Chunk{Text: "a", Next: 1})
		if got := d.end().Text; got != "a\uFFFD" {
			f.Errorf("%+q is collected as %+q, want one replacement", "a"+cut, got)
		}
		d.reads(1, subprocess.Chunk{Text: "\uFFFD", Next: 1 + int64(len(cut))})
	}
}

func tailAtCharacter(f *fixture) {
	tests := []struct {
		bytes  string
		window int64
		want   string
	}{
		{"€€", 1, ""}, {"€€", 2, ""}, {"€€", 3, "€"}, {"€€", 4, "€"}, {"€€", 5, "€"},
		{"😀x😀", 5, "x😀"}, {"😀x😀", 6, "x😀"}, {"😀x😀", 8, "x😀"}, {"ää", 3, "ä"}, {"aä", 2, "ä"}, {"äa", 2, "a"},
	}
	for _, tt := range tests {
		spec := f.program("cat")
		spec.Stdin = data(tt.bytes)
		spec.Stdout = collectSpilling(tt.window, 100)
		h := f.run(spec)
		got := collected(h)
		if got.Text != tt.want || !got.Truncated || got.Bytes != int64(len(tt.bytes)) {
			f.Errorf("a window of %d on %q is %+q (truncated %v, %d bytes), want %+q", tt.window, tt.bytes, got.Text, got.Truncated, got.Bytes, tt.want)
		}
		if c := h.Reader(subprocess.Stdout).ReadFrom(0); c != (subprocess.Chunk{Text: tt.want, Next: got.Bytes, Lossy: true}) {
			f.Errorf("ReadFrom(0) of a window of %d on %q = %s", tt.window, tt.bytes, show(c))
		}
		f.expectSpill(got.SpillPath, tt.bytes)
	}
}

func everyOffset(f *fixture) {
	spec := f.program("cat")
	for window := int64(1); window <= 22; window++ {
		spec.Stdin = data("a€\xff😀\xe2\x82é\x00\x80\x80\x80\x80\x80")
		spec.Stdout = collect(window)
		h := f.run(spec)
		for offset := int64(0); offset <= 22; offset++ {
			c := h.Reader(subprocess.Stdout).ReadFrom(offset)
			if !utf8.ValidString(c.Text) || c.Next < offset && c.Next != collected(h).Bytes {
				f.Errorf("a window of %d: ReadFrom(%d) = %s", window, offset, show(c))
			}
		}
	}
}

func textInJSON(f *fixture) {
	const raw = "a\x00\xff\xfeb\n"
	spec := f.program("cat")
	spec.Stdin = data(raw)
	f.expectStdout(f.run(spec), "a\x00\uFFFD\uFFFDb\n")

	spec.Stdin = data(raw)
	spec.Stdout = collectSpilling(2, 100)
	got := collected(f.run(spec))
	f.expectSpill(got.SpillPath, raw)
	encoded, err := json.Marshal(got)
	if err != nil {
		f.Fatal(err)
	}
	var back subprocess.CollectedOutput
	if err := json.Unmarshal(encoded, &back); err != nil || back != got {
		f.Errorf("json gives %+v (%v), want %+v", back, err, got)
	}
	if content, _ := os.ReadFile(got.SpillPath); !strings.Contains(string(content), "\xff\xfe") {
		f.Errorf("the file holds %+q, want the raw bytes", content)
	}
}
