package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"hardshell/internal/jsontree"
)

// report notes a violation. At a secret the message must do with the rule's
// kind: what exactly is accepted there stays private.
func (r *run) report(s spot, keyword, message string) {
	if r.trying {
		r.failed = true
		return
	}
	if s.hidden {
		switch {
		case s.place == nil:
			message = "must have the shape that its schema describes"
		case keyword == "enum", keyword == "const", keyword == "anyOf", keyword == "oneOf":
			message = "must be one of the accepted values"
		case keyword == "pattern", keyword == "propertyNames":
			message = "must match the pattern of its schema"
		}
	}
	p := Problem{s.trail.String(), keyword, message}
	if !slices.Contains(r.problems, p) {
		r.problems = append(r.problems, p)
	}
}

// check applies what one schema says about data itself, not about its parts.
func (r *run) check(n *node, s spot) {
	kind := kindOf(s.value)
	switch {
	case n.never:
		r.report(s, "not", "must not be set; remove it")
		return
	case kind == 0:
		r.report(s, "type", "must be JSON data")
		return
	case kind&n.types == 0:
		r.report(s, "type", "must be "+n.types.words())
		return
	}
	if n.hasConst && !jsontree.Equal(n.constant, s.value) {
		r.report(s, "const", oneOf([]any{n.constant}))
	}
	if n.hasEnum && !slices.ContainsFunc(n.enum, func(v any) bool { return jsontree.Equal(v, s.value) }) {
		r.report(s, "enum", oneOf(n.enum))
	}
	switch value := s.value.(type) {
	case json.Number:
		r.checkNumber(n, value, s)
	case string:
		r.checkString(n, value, s)
	case []any:
		r.checkCount(s, len(value), n.minItems, n.maxItems, "Items", "item")
		if n.unique && repeats(value) {
			r.report(s, "uniqueItems", "must not have an item twice")
		}
	}
}

func (r *run) checkNumber(n *node, value json.Number, s spot) {
	if n.minimum != "" && jsontree.CompareNumbers(value, n.minimum) < 0 {
		r.report(s, "minimum", "must be at least "+string(n.minimum))
	}
	if n.above != "" && jsontree.CompareNumbers(value, n.above) <= 0 {
		r.report(s, "exclusiveMinimum", "must be more than "+string(n.above))
	}
	if n.maximum != "" && jsontree.CompareNumbers(value, n.maximum) > 0 {
		r.report(s, "maximum", "must be at most "+string(n.maximum))
	}
	if n.below != "" && jsontree.CompareNumbers(value, n.below) >= 0 {
		r.report(s, "exclusiveMaximum", "must be less than "+string(n.below))
	}
	if n.multipleOf != "" && !isMultiple(value, n.multipleOf) {
		r.report(s, "multipleOf", "must be a multiple of "+string(n.multipleOf))
	}
}

func (r *run) checkString(n *node, value string, s spot) {
	if n.minLength >= 0 || n.maxLength >= 0 {
		r.checkCount(s, utf8.RuneCountInString(value), n.minLength, n.maxLength, "Length", "character")
	}
	if n.pattern != nil && !n.pattern.MatchString(value) {
		r.report(s, "pattern", "must match the pattern "+n.pattern.String())
	}
	if n.reference {
		if why := Text(value).fault(); why != "" {
			r.report(s, "x-dsh-role", why)
		}
	}
}

// checkCount compares a count with minX and maxX; below 0 they say nothing.
func (r *run) checkCount(s spot, count, low, high int, keyword, unit string) {
	if low >= 0 && count < low {
		r.report(s, "min"+keyword, "must have at least "+plural(low, unit))
	}
	if high >= 0 && count > high {
		r.report(s, "max"+keyword, "must have at most "+plural(high, unit))
	}
}

func plural(count int, unit string) string {
	if count == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", count, unit)
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._/:+-]*$`) })

// mostShown is how many accepted values a message lists.
const mostShown = 20

// oneOf says what is accepted.
func oneOf(values []any) string {
	if len(values) == 1 {
		return "must be " + word(values[0])
	}
	words := make([]string, 0, mostShown)
	for i, v := range values {
		if i == mostShown {
			words = append(words, "…")
			break
		}
		words = append(words, word(v))
	}
	return "must be one of: " + strings.Join(words, ", ")
}

// word is a value as a person writes it: a plain string without quotes.
func word(value any) string {
	if s, isString := value.(string); isString && plainWord().MatchString(s) {
		return s
	}
	return string(jsontree.Encode(value))
}

func valuesOf(choices []Choice) []any {
	values := make([]any, len(choices))
	for i, c := range choices {
		values[i] = c.Value
	}
	return values
}

// repeats reports whether two items are equal.
func repeats(items []any) bool {
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		key := string(appendCanonical(nil, item))
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// appendCanonical writes a tree so that equal data gives equal bytes.
func appendCanonical(out []byte, tree any) []byte {
	switch v := tree.(type) {
	case json.Number:
		d, ok := decimalOf(v)
		if !ok {
			return append(out, '?')
		}
		return append(append(append(out, d.digits.String()...), 'e'), strconv.FormatInt(d.exponent, 10)...)
	case []any:
		out = append(out, '[')
		for _, item := range v {
			out = append(appendCanonical(out, item), ',')
		}
		return append(out, ']')
	case map[string]any:
		out = append(out, '{')
		for _, key := range sortedKeys(v) {
			out = append(append(out, jsontree.Encode(key)...), ':')
			out = append(appendCanonical(out, v[key]), ',')
		}
		return append(out, '}')
	case nil, bool, string:
		return append(out, jsontree.Encode(v)...)
	default:
		return append(out, '?')
	}
}
