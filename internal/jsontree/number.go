package jsontree

import (
	"encoding/json"
	"strconv"
	"strings"
)

// decimal is a number as digits x 10^exponent, without zeros at either end of
// the digits. The number 0 has none.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

// parseDecimal reads the text of a JSON number. It is not ok when the text is
// none, or its exponent is beyond any use.
func parseDecimal(text string) (d decimal, ok bool) {
	rest, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, scientific := rest, "", false
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exponent, scientific = rest[:i], rest[i+1:], true
	}
	whole, fraction, pointed := strings.Cut(mantissa, ".")
	if !digits(whole) || len(whole) > 1 && whole[0] == '0' || pointed && !digits(fraction) {
		return decimal{}, false
	}
	if scientific {
		sign := strings.TrimLeft(exponent, "+-")
		if !digits(sign) || len(exponent)-len(sign) > 1 {
			return decimal{}, false
		}
		value, err := strconv.ParseInt(exponent, 10, 64)
		if err != nil || value > 1<<40 || value < -1<<40 {
			return decimal{}, false
		}
		d.exponent = value
	}
	all := whole + fraction
	d.exponent -= int64(len(fraction))
	trimmed := strings.TrimRight(all, "0")
	d.exponent += int64(len(all) - len(trimmed))
	d.digits = strings.TrimLeft(trimmed, "0")
	d.negative = negative
	if d.digits == "" {
		return decimal{}, true
	}
	return d, true
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// ValidNumber reports whether text is the text of a JSON number (RFC 8259,
// section 6) with an exponent that can be worked with.
func ValidNumber(text string) bool {
	_, ok := parseDecimal(text)
	return ok
}

// IsInteger reports whether a number has no fraction: 1, 1.0 and 1e3 have none.
func IsInteger(n json.Number) bool {
	d, ok := parseDecimal(string(n))
	return ok && d.exponent >= 0
}

// CompareNumbers compares two numbers by their exact values, as
// strings.Compare compares strings. What is no number is compared as text.
func CompareNumbers(a, b json.Number) int {
	if a == b {
		return 0
	}
	x, xOK := parseDecimal(string(a))
	y, yOK := parseDecimal(string(b))
	if !xOK || !yOK {
		return strings.Compare(string(a), string(b))
	}
	switch {
	case x.sign() != y.sign():
		return compare(x.sign(), y.sign())
	case x.negative:
		return y.compareSize(x)
	default:
		return x.compareSize(y)
	}
}

func (d decimal) sign() int64 {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	default:
		return 1
	}
}

// compareSize compares without the signs.
func (d decimal) compareSize(other decimal) int {
	if order := compare(d.exponent+int64(len(d.digits)), other.exponent+int64(len(other.digits))); order != 0 {
		return order
	}
	// Both begin at the same place now: as digits behind a point.
	return strings.Compare(d.digits, other.digits)
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// longestInteger is how many digits a number may be written out with.
const longestInteger = 400

// plain is the number written out as an integer when it is one: encoding/json
// reads no 1.0 or 1e3 into an int.
func plain(n json.Number) json.Number {
	if !strings.ContainsAny(string(n), ".eE") {
		return n
	}
	d, ok := parseDecimal(string(n))
	if !ok || d.exponent < 0 || int64(len(d.digits))+d.exponent > longestInteger {
		return n
	}
	if d.digits == "" {
		return "0"
	}
	written := d.digits + strings.Repeat("0", int(d.exponent))
	if d.negative {
		written = "-" + written
	}
	return json.Number(written)
}
