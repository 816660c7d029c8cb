package schema

import (
	"encoding/json"
	"regexp"
	"slices"

	"hardshell/internal/jsontree"
)

// setTypes takes one type or a list of them.
func (n *node) setTypes(value any) error {
	words, several := value.([]any)
	if !several {
		words = []any{value}
	}
	n.types = 0
	for _, word := range words {
		name, _ := word.(string)
		kind, known := kindNamed(name)
		if !known {
			return refuse(n.at, "type", "must be null, boolean, string, integer, number, array or object, or a list of them")
		}
		n.types |= kind
	}
	if n.types == 0 {
		return refuse(n.at, "type", "must name at least one type")
	}
	return nil
}

// setNames takes the one rule about keys that is known: a pattern.
func (n *node) setNames(value any) error {
	rule, ok := value.(*object)
	if !ok {
		return refuse(n.at, "propertyNames", "must be an object with a pattern")
	}
	for i, key := range rule.keys {
		switch key {
		case "pattern":
			var err error
			if n.keyPattern, err = n.compilePattern("propertyNames", rule.values[i]); err != nil {
				return err
			}
		case "type":
			if rule.values[i] != "string" {
				return refuse(n.at, "propertyNames", "must be about strings")
			}
		default:
			return refuse(n.at+"/propertyNames", key, "is not supported there; pattern is")
		}
	}
	return nil
}

func (n *node) setRequired(value any) error {
	names, ok := value.([]any)
	if !ok {
		return refuse(n.at, "required", "must be a list of keys")
	}
	for _, name := range names {
		key, ok := name.(string)
		if !ok || slices.Contains(n.required, key) {
			return refuse(n.at, "required", "must be a list of different keys")
		}
		n.required = append(n.required, key)
	}
	return nil
}

// count is where the count of a keyword is kept.
func (n *node) count(keyword string) *int {
	switch keyword {
	case "minItems":
		return &n.minItems
	case "maxItems":
		return &n.maxItems
	case "minLength":
		return &n.minLength
	default:
		return &n.maxLength
	}
}

// bound is where the number of a keyword is kept.
func (n *node) bound(keyword string) *json.Number {
	switch keyword {
	case "minimum":
		return &n.minimum
	case "maximum":
		return &n.maximum
	case "exclusiveMinimum":
		return &n.above
	case "exclusiveMaximum":
		return &n.below
	default:
		return &n.multipleOf
	}
}

func (n *node) setFlag(into *bool, key string, value any) error {
	flag, ok := value.(bool)
	if !ok {
		return refuse(n.at, key, "must be true or false")
	}
	*into = flag
	return nil
}

func (n *node) setText(into *string, key string, value any) error {
	words, ok := value.(string)
	if !ok {
		return refuse(n.at, key, "must be a string")
	}
	*into = words
	return nil
}

func (n *node) compilePattern(key string, value any) (*regexp.Regexp, error) {
	source, ok := value.(string)
	if !ok {
		return nil, refuse(n.at, key, "must be a string")
	}
	pattern, err := regexp.Compile(source)
	if err != nil {
		return nil, refuse(n.at, key, "must be a regular expression of RE2: no look-around, no back-references")
	}
	return pattern, nil
}

// counted is a count written as a number without a fraction.
func counted(value any) (int, bool) {
	written, ok := value.(json.Number)
	if !ok || !jsontree.IsInteger(written) {
		return 0, false
	}
	var count int
	if jsontree.Decode(written, &count) != nil || count < 0 || count > 1<<30 {
		return 0, false
	}
	return count, true
}
