package document

import (
	"encoding/json"
	"math/big"
	"strings"

	"hardshell/internal/jsontree"
)

// The tags of the core schema (YAML 1.2.2, chapter 10.3).
const (
	nullTag  = "!!null"
	boolTag  = "!!bool"
	intTag   = "!!int"
	floatTag = "!!float"
	strTag   = "!!str"
	mapTag   = "!!map"
	listTag  = "!!seq"
)

// longestHex bounds the digits of a hexadecimal or octal number, whose decimal
// form takes more than linear time to find.
const longestHex = 1024

// resolve returns what a scalar means: by its tag when it has one, else by the
// core schema when it is plain. The reason is "" unless it is no JSON data.
func resolve(text, tag string, plain bool) (value any, reason Reason) {
	switch tag {
	case "":
		if !plain {
			return text, ""
		}
		if value, reason, ok := core(text); ok || reason != "" {
			return value, reason
		}
		return text, ""
	case "!", strTag:
		return text, ""
	case nullTag, boolTag, intTag, floatTag:
		value, reason, ok := core(text)
		if reason == "" && (!ok || !fits(value, text, tag)) {
			reason = Tag
		}
		return value, reason
	default:
		return nil, Tag
	}
}

// fits reports whether a value of the core schema is of a tag. A number without
// a point is a float, too.
func fits(value any, text, tag string) bool {
	switch value.(type) {
	case nil:
		return tag == nullTag
	case bool:
		return tag == boolTag
	default:
		return tag == floatTag || tag == intTag && !strings.ContainsAny(strings.TrimPrefix(text, "0x"), ".eE") ||
			tag == intTag && strings.HasPrefix(text, "0x")
	}
}

// core reads a plain scalar that is no string. A reason comes with those that
// are numbers and no JSON data.
func core(text string) (value any, reason Reason, ok bool) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nil, "", true
	case "true", "True", "TRUE":
		return true, "", true
	case "false", "False", "FALSE":
		return false, "", true
	case ".nan", ".NaN", ".NAN":
		return nil, Number, false
	}
	unsigned := strings.TrimLeft(text, "+-")
	if len(text)-len(unsigned) > 1 {
		return nil, "", false
	}
	switch unsigned {
	case ".inf", ".Inf", ".INF":
		return nil, Number, false
	}
	if len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'o') {
		return based(text)
	}
	number, ok := decimal(unsigned)
	if !ok {
		return nil, "", false
	}
	if text[0] == '-' {
		number = "-" + number
	}
	if !jsontree.ValidNumber(number) {
		return nil, Number, false
	}
	return json.Number(number), "", true
}

// based reads 0x1F and 0o17.
func based(text string) (value any, reason Reason, ok bool) {
	base, digits := 16, "0123456789abcdefABCDEF"
	if text[1] == 'o' {
		base, digits = 8, "01234567"
	}
	if strings.Trim(text[2:], digits) != "" {
		return nil, "", false
	}
	if len(text) > longestHex {
		return nil, Number, false
	}
	number, ok := new(big.Int).SetString(text[2:], base)
	if !ok {
		return nil, "", false
	}
	return json.Number(number.String()), "", true
}

// decimal reads a number of the core schema without its sign, and returns it as
// JSON writes it: without zeros in front, and with digits around the point. It
// is left as it is when it is JSON already.
func decimal(text string) (string, bool) {
	whole, rest := leadingDigits(text)
	fraction, pointed := "", false
	if strings.HasPrefix(rest, ".") {
		pointed = true
		fraction, rest = leadingDigits(rest[1:])
	}
	if whole == "" && fraction == "" {
		return "", false
	}
	exponent := rest
	if rest != "" {
		if rest[0] != 'e' && rest[0] != 'E' {
			return "", false
		}
		power := rest[1:]
		if power != "" && (power[0] == '+' || power[0] == '-') {
			power = power[1:]
		}
		if digits, more := leadingDigits(power); digits == "" || more != "" {
			return "", false
		}
	}
	if trimmed := strings.TrimLeft(whole, "0"); trimmed != "" {
		whole = trimmed
	} else {
		whole = "0"
	}
	if pointed && fraction != "" {
		whole += "." + fraction
	}
	return whole + exponent, true
}

func leadingDigits(text string) (digits, rest string) {
	i := 0
	for i < len(text) && '0' <= text[i] && text[i] <= '9' {
		i++
	}
	return text[:i], text[i:]
}
