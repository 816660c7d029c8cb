package textutil

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	const r = "\uFFFD"
	tests := map[string]struct{ in, want string }{
		"nothing stays nothing":                               {"", ""},
		"ASCII with NUL and control bytes is kept":            {"a\x00b\x1b[0m\r\n", "a\x00b\x1b[0m\r\n"},
		"a byte order mark is kept":                           {"\xef\xbb\xbfa", "\uFEFFa"},
		"the largest character of each size is kept":          {"\x7f\u07ff\uffff\U0010ffff", "\x7f\u07ff\uffff\U0010ffff"},
		"bytes that begin nothing are replaced one by one":    {"\xff\xfeabc", r + r + "abc"},
		"a cut character is replaced once":                    {"\xe2\x82a", r + "a"},
		"a cut character before another is replaced once":     {"\xe2\x82\xe2\x82\xac", r + "€"},
		"a character cut by the end is replaced once":         {"a\xf0\x9f\x98", "a" + r},
		"a lone lead byte at the end is replaced once":        {"a\xc3", "a" + r},
		"continuation bytes are replaced one by one":          {"\x80\xbfa", r + r + "a"},
		"an overlong slash falls into its bytes":              {"\xc0\xaf", r + r},
		"an overlong three-byte form falls into its bytes":    {"\xe0\x80\xaf", r + r + r},
		"an overlong four-byte form falls into its bytes":     {"\xf0\x8f\xbf\xbf", r + r + r + r},
		"a surrogate falls into its bytes":                    {"\xed\xa0\x80", r + r + r},
		"what is beyond U+10FFFF falls into its bytes":        {"\xf4\x90\x80\x80", r + r + r + r},
		"the example of the Unicode Standard, table 3-8":      {"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82A", strings.Repeat(r, 8) + "A"},
		"the example of the Unicode Standard, table 3-9":      {"\xed\xa0\x80\xed\xbf\xbf\xed\xafA", strings.Repeat(r, 8) + "A"},
		"the example of the Unicode Standard, table 3-10":     {"\xf4\x91\x92\x93\xffA\x80\xbfB", strings.Repeat(r, 5) + "A" + r + r + "B"},
		"the example of the Unicode Standard, table 3-11":     {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbfA", r + r + r + r + "A"},
		"valid text on both sides of an invalid byte is kept": {"€\xff€", "€" + r + "€"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Decode([]byte(tt.in)); got != tt.want {
				t.Errorf("Decode(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestDecodeOwnsItsResult(t *testing.T) {
	t.Parallel()
	b := []byte("abc")
	s := Decode(b)
	b[0] = 'x'
	if s != "abc" {
		t.Errorf("the text changed to %q with the bytes", s)
	}
}

func TestIncompleteSuffix(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   string
		want int
	}{
		"nothing":                                     {"", 0},
		"ASCII":                                       {"abc", 0},
		"a complete character":                        {"a€", 0},
		"a complete character of four bytes":          {"😀", 0},
		"one of two bytes":                            {"a\xc3", 1},
		"one of three bytes":                          {"a\xe2", 1},
		"two of three bytes":                          {"a\xe2\x82", 2},
		"three of four bytes":                         {"\xf0\x9f\x98", 3},
		"two of four bytes after a complete one":      {"€\xf0\x9f", 2},
		"a byte that begins nothing":                  {"\xff", 0},
		"the lead of an overlong form":                {"\xc1", 0},
		"a beginning that can only be overlong":       {"\xe0\x80", 0},
		"a beginning just above the overlong forms":   {"\xe0\xa0", 2},
		"a beginning that can only be a surrogate":    {"\xed\xa0", 0},
		"a beginning just below the surrogates":       {"\xed\x9f", 2},
		"a beginning that can only be too large":      {"\xf4\x90", 0},
		"the same with another byte":                  {"\xf4\x90\x80", 0},
		"a beginning of the largest characters":       {"\xf4\x8f\xbf", 3},
		"four bytes that can only be overlong":        {"\xf0\x8f\xbf", 0},
		"continuation bytes alone":                    {"\x80\x80\x80", 0},
		"a continuation byte too many":                {"\xe2\x82\xac\x82", 0},
		"a cut character followed by a complete one":  {"\xe2\x82a", 0},
		"a cut character followed by the next's lead": {"\xe2\x82\xe2", 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := IncompleteSuffix([]byte(tt.in)); got != tt.want {
				t.Errorf("IncompleteSuffix(%q) = %d, want %d", tt.in, got, tt.want)
			}
		})
	}
}

// TestIncompleteSuffixAgainstEveryCompletion decides by brute force which
// endings of up to three bytes more bytes could complete.
func TestIncompleteSuffixAgainstEveryCompletion(t *testing.T) {
	t.Parallel()
	prefixes := map[string]bool{} // proper prefixes of all characters
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if c := string(r); utf8.ValidRune(r) && len(c) > 1 {
			for n := 1; n < len(c); n++ {
				prefixes[c[:n]] = true
			}
		}
	}
	everyString(3, func(b []byte) {
		want := 0
		for n := len(b); n > 0; n-- {
			if prefixes[string(b[len(b)-n:])] {
				want = n
				break
			}
		}
		if got := IncompleteSuffix(b); got != want {
			t.Fatalf("IncompleteSuffix(%q) = %d, want %d", b, got, want)
		}
	})
}

func TestDecodeAgainstTheReference(t *testing.T) {
	t.Parallel()
	everyString(4, func(b []byte) {
		if got, want := Decode(b), reference(b); got != want {
			t.Fatalf("Decode(%q) = %q, want %q", b, got, want)
		}
	})
}

// everyString calls f with all strings of up to n bytes made of the first and
// the last byte of every range that UTF-8 tells apart.
func everyString(n int, f func([]byte)) {
	const limits = "\x00\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff"
	var extend func([]byte)
	extend = func(b []byte) {
		f(b)
		for i := 0; i < len(limits) && len(b) < n; i++ {
			extend(append(b, limits[i]))
		}
	}
	extend(make([]byte, 0, n))
}

func TestTrimLeadingContinuation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"nothing":                               {"", ""},
		"text is kept":                          {"€a", "€a"},
		"a lead byte is kept":                   {"\xe2\x82", "\xe2\x82"},
		"the rest of a cut character goes":      {"\x82\xac€", "€"},
		"three go":                              {"\x9f\x98\x80a", "a"},
		"a fourth stays":                        {"\x80\x80\x80\x80a", "\x80a"},
		"nothing but the rest of a character":   {"\xac", ""},
		"continuation bytes in the middle stay": {"a\x80", "a\x80"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := string(TrimLeadingContinuation([]byte(tt.in))); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestEveryTailOfValidTextIsValid cuts a text at every byte.
func TestEveryTailOfValidTextIsValid(t *testing.T) {
	t.Parallel()
	text := []byte("a\u00e9€😀\ufeff€z")
	for i := range text {
		if tail := TrimLeadingContinuation(text[i:]); !utf8.Valid(tail) || len(tail) > len(text)-i {
			t.Errorf("the tail from byte %d is %q", i, tail)
		}
	}
}

// reference is the UTF-8 decoder of the Encoding Standard, section 8.1.1,
// transcribed step by step as a state machine over single bytes. It shares
// nothing with Decode.
func reference(b []byte) string {
	var out []rune
	codePoint, seen, needed := rune(0), 0, 0
	lower, upper := byte(0x80), byte(0xBF)
	for i := 0; i <= len(b); {
		if i == len(b) {
			if needed != 0 {
				out = append(out, 0xFFFD)
			}
			break
		}
		c := b[i]
		if needed == 0 {
			i++
			switch {
			case c <= 0x7F:
				out = append(out, rune(c))
			case 0xC2 <= c && c <= 0xDF:
				needed, codePoint = 1, rune(c&0x1F)
			case 0xE0 <= c && c <= 0xEF:
				if c == 0xE0 {
					lower = 0xA0
				}
				if c == 0xED {
					upper = 0x9F
				}
				needed, codePoint = 2, rune(c&0xF)
			case 0xF0 <= c && c <= 0xF4:
				if c == 0xF0 {
					lower = 0x90
				}
				if c == 0xF4 {
					upper = 0x8F
				}
				needed, codePoint = 3, rune(c&0x7)
			default:
				out = append(out, 0xFFFD)
			}
			continue
		}
		if c < lower || c > upper {
			codePoint, needed, seen, lower, upper = 0, 0, 0, 0x80, 0xBF
			out = append(out, 0xFFFD)
			continue // the byte is prepended: read again
		}
		i++
		lower, upper = 0x80, 0xBF
		codePoint = codePoint<<6 | rune(c&0x3F)
		if seen++; seen == needed {
			out = append(out, codePoint)
			codePoint, needed, seen = 0, 0, 0
		}
	}
	return string(out)
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "abc", "a€😀", "\xff\xfeabc", "\xe2\x82a", "\xf0\x9f\x98", "\xed\xa0\x80\xe0\x80\xaf\xf4\x90", "\xef\xbb\xbf\x00"} {
		f.Add([]byte(s), uint8(1), uint8(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, cut1, cut2 uint8) {
		original := bytes.Clone(b)
		whole := Decode(b)
		if !utf8.ValidString(whole) {
			t.Fatalf("Decode(%q) = %q is not valid UTF-8", b, whole)
		}
		if want := reference(b); whole != want {
			t.Fatalf("Decode(%q) = %q, want %q", b, whole, want)
		}
		if got := decodeInPieces(b, int(cut1), int(cut2)); got != whole {
			t.Fatalf("in pieces of %d and %d bytes %q decodes to %q, at once to %q", cut1, cut2, b, got, whole)
		}
		if !bytes.Equal(b, original) {
			t.Fatalf("Decode changed its input %q to %q", original, b)
		}
	})
}

// decodeInPieces reads a stream in pieces of the two sizes in turn and holds
// back what IncompleteSuffix says.
func decodeInPieces(b []byte, size1, size2 int) string {
	var out strings.Builder
	var held []byte
	size1, size2 = size1+1, size2+1
	for len(b) > 0 {
		n := min(size1, len(b))
		held = append(held, b[:n]...)
		b = b[n:]
		keep := IncompleteSuffix(held)
		out.WriteString(Decode(held[:len(held)-keep]))
		held = bytes.Clone(held[len(held)-keep:])
		size1, size2 = size2, size1
	}
	out.WriteString(Decode(held))
	return out.String()
}

func BenchmarkDecode(b *testing.B) {
	inputs := map[string][]byte{
		"ascii":  bytes.Repeat([]byte("line of output\n"), 4000),
		"mixed":  bytes.Repeat([]byte("Zeile für 5 €\n"), 4000),
		"binary": bytes.Repeat([]byte("\x00\xff\x80a\xe2\x82"), 10000),
	}
	for name, in := range inputs {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				Decode(in)
			}
		})
	}
}
