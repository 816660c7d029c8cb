package file

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// digestOf names bytes: two different documents have two different names.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// hashOf names the data of a section: equal trees have the same name, in the
// sense of jsontree.Equal, and different ones different names. An absent section
// and null have the name "".
func hashOf(tree any) string {
	if tree == nil {
		return ""
	}
	return digestOf(appendCanonical(nil, tree))
}

// problemHash is the name of every section that is no JSON data.
const problemHash = "problem"

// appendCanonical appends one form of a tree, in which nothing can be taken for
// anything else.
func appendCanonical(out []byte, tree any) []byte {
	switch node := tree.(type) {
	case nil:
		return append(out, 'n')
	case bool:
		return strconv.AppendBool(out, node)
	case json.Number:
		return append(append(out, '#'), canonicalNumber(string(node))+";"...)
	case string:
		out = strconv.AppendInt(append(out, '"'), int64(len(node)), 10)
		return append(append(out, ':'), node...)
	case []any:
		out = append(out, '[')
		for _, value := range node {
			out = appendCanonical(out, value)
		}
		return append(out, ']')
	case map[string]any:
		out = append(out, '{')
		for _, key := range slices.Sorted(maps.Keys(node)) {
			out = appendCanonical(appendCanonical(out, key), node[key])
		}
		return append(out, '}')
	default:
		return append(out, '?')
	}
}

// canonicalNumber is one text for every JSON number of the same value: digits
// without zeros at either end, then the exponent.
func canonicalNumber(text string) string {
	rest, negative := strings.CutPrefix(text, "-")
	exponent := int64(0)
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		value, err := strconv.ParseInt(rest[i+1:], 10, 64)
		if err != nil || value > 1<<40 || value < -1<<40 {
			return text
		}
		rest, exponent = rest[:i], value
	}
	whole, fraction, _ := strings.Cut(rest, ".")
	digits := strings.TrimRight(whole+fraction, "0")
	exponent += int64(len(whole) - len(digits))
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return "0"
	}
	sign := ""
	if negative {
		sign = "-"
	}
	return sign + digits + "e" + strconv.FormatInt(exponent, 10)
}
