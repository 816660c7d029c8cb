package textutil

import (
	"strings"
	"unicode/utf8"
)

// replacement is U+FFFD in UTF-8.
const replacement = string(utf8.RuneError)

// Decode returns b as valid UTF-8. Each maximal part of b that is no UTF-8
// becomes one U+FFFD, as in the WHATWG Encoding Standard ("UTF-8 decode
// without BOM"): "\xff\xfe" gives two, "\xe2\x82a" gives one and an a. A byte
// order mark is kept.
//
// Valid input costs one copy; the result never shares memory with b.
func Decode(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	out.Grow(len(b) + 2*len(replacement))
	start := 0 // of the valid stretch that ends at i
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		n, valid := scan(b[i:])
		if !valid {
			out.Write(b[start:i])
			out.WriteString(replacement)
			start = i + n
		}
		i += n
	}
	out.Write(b[start:])
	return out.String()
}

// IncompleteSuffix returns how many bytes at the end of b, 0 to 3, begin a
// character that further bytes can complete. A reader of an open stream holds
// them back: decoding the two sides of such a cut separately then gives the
// same text as decoding the whole.
func IncompleteSuffix(b []byte) int {
	for n := 1; n <= utf8.UTFMax-1 && n <= len(b); n++ {
		tail := b[len(b)-n:]
		if isContinuation(tail[0]) {
			continue
		}
		size, lo, hi := lead(tail[0])
		if n < size && (n == 1 || lo <= tail[1] && tail[1] <= hi) {
			return n
		}
		return 0
	}
	return 0
}

// TrimLeadingContinuation returns b without the continuation bytes, three at
// most, that it begins with: what is left of a character when the tail of a
// text is cut at a byte. The result shares memory with b.
func TrimLeadingContinuation(b []byte) []byte {
	n := 0
	for n < utf8.UTFMax-1 && n < len(b) && isContinuation(b[n]) {
		n++
	}
	return b[n:]
}

// scan measures what b, which is not empty, begins with: a character of n
// bytes, or n bytes that belong together and are none.
func scan(b []byte) (n int, valid bool) {
	size, lo, hi := lead(b[0])
	if size <= 1 {
		return 1, size == 1
	}
	for n = 1; n < size; n++ {
		if n == len(b) || b[n] < lo || b[n] > hi {
			return n, false
		}
		lo, hi = 0x80, 0xBF
	}
	return size, true
}

// lead says how many bytes a character has that begins with c, and the range
// of its second byte; all others are 80..BF. The size is 0 when no character
// begins with c. This is table 3-7, "Well-Formed UTF-8 Byte Sequences", of the
// Unicode Standard.
func lead(c byte) (size int, lo, hi byte) {
	switch {
	case c < 0x80:
		return 1, 0, 0
	case c < 0xC2:
		return 0, 0, 0
	case c < 0xE0:
		return 2, 0x80, 0xBF
	case c == 0xE0: // below A0: overlong
		return 3, 0xA0, 0xBF
	case c == 0xED: // above 9F: surrogates
		return 3, 0x80, 0x9F
	case c < 0xF0:
		return 3, 0x80, 0xBF
	case c == 0xF0: // below 90: overlong
		return 4, 0x90, 0xBF
	case c < 0xF4:
		return 4, 0x80, 0xBF
	case c == 0xF4: // above 8F: beyond U+10FFFF
		return 4, 0x80, 0x8F
	default:
		return 0, 0, 0
	}
}

func isContinuation(c byte) bool { return c&0xC0 == 0x80 }
