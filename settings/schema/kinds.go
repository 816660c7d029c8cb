package schema

import (
	"encoding/json"
	"strings"

	"hardshell/internal/jsontree"
)

// kinds is a set of the kinds of JSON data. The numbers are two kinds, so that
// "integer" is a part of "number".
type kinds uint8

const (
	null kinds = 1 << iota
	boolean
	text
	integer
	fraction
	list
	mapping

	number   = integer | fraction
	anything = null | boolean | text | number | list | mapping
)

// kindOf is the kind of a tree; none for what is no part of a tree.
func kindOf(tree any) kinds {
	switch v := tree.(type) {
	case nil:
		return null
	case bool:
		return boolean
	case string:
		return text
	case json.Number:
		switch {
		case jsontree.IsInteger(v):
			return integer
		case jsontree.ValidNumber(string(v)):
			return fraction
		}
	case []any:
		return list
	case map[string]any:
		return mapping
	}
	return 0
}

// kindNamed is the kind that a word of the keyword "type" means.
func kindNamed(word string) (kinds, bool) {
	switch word {
	case "null":
		return null, true
	case "boolean":
		return boolean, true
	case "string":
		return text, true
	case "integer":
		return integer, true
	case "number":
		return number, true
	case "array":
		return list, true
	case "object":
		return mapping, true
	}
	return 0, false
}

// words says what data of these kinds is called: "a string or null".
func (k kinds) words() string {
	if k&anything == anything {
		return "anything"
	}
	var words []string
	for _, one := range []struct {
		kind kinds
		word string
	}{
		{text, "a string"}, {integer, "an integer"}, {fraction, "a number"}, {boolean, "true or false"},
		{list, "a list"}, {mapping, "a map"}, {null, "null"},
	} {
		if k&one.kind == 0 || one.kind == integer && k&fraction != 0 {
			continue
		}
		words = append(words, one.word)
	}
	if len(words) == 0 {
		return "nothing"
	}
	return orList(words)
}

// orList joins words: "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
