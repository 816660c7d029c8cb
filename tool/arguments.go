package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"hardshell/internal/fault"
)

// parseArguments reads a JSON object; an empty text is {}. Arguments that a
// decoder would silently change are refused: what runs must be what was sent.
func parseArguments(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return map[string]any{}, nil
	}
	var value any
	err := json.Unmarshal(raw, &value)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, fault.New(fault.InvalidArgs, "%s: not valid JSON at byte %d: %v", notLossless, syntax.Offset, err)
	case err != nil || !utf8.Valid(raw) || hasLoneSurrogate(raw):
		// The only other error of decoding into any: a number beyond float64.
		return nil, fault.New(fault.InvalidArgs, notLossless)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, invalidArguments("expected a JSON object")
	}
	return object, nil
}

const notLossless = "tool execution arguments must be losslessly JSON-serializable"

// hasLoneSurrogate finds a \u escape that is half of a pair: Go has no string
// for it and would decode it as U+FFFD. The text is valid JSON.
func hasLoneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++ // the escaped byte
		first, ok := escapedUnit(raw[i-1:])
		if !ok || !utf16.IsSurrogate(first) {
			continue
		}
		second, _ := escapedUnit(raw[i+len("uXXXX"):])
		if utf16.DecodeRune(first, second) == utf8.RuneError {
			return true
		}
		i += len(`uXXXX\uXXXX`) - 1
	}
	return false
}

// escapedUnit reads the UTF-16 unit of a \uXXXX at the start of text.
func escapedUnit(text []byte) (rune, bool) {
	if len(text) < len(`\uXXXX`) || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit), err == nil
}

// checkArguments returns the declared properties of object alone, or an
// INVALID_ARGS error that names everything that breaks the schema. It reads
// the parts of a schema that tools use: type, enum, properties, required,
// items and additionalProperties.
func checkArguments(object map[string]any, schema *jsonschema.Schema) (map[string]any, error) {
	var c checker
	declared := c.object("", object, schema)
	if len(c.problems) > 0 {
		return nil, invalidArguments(strings.Join(c.problems, "; "))
	}
	return declared, nil
}

func invalidArguments(problem string) error {
	return fault.New(fault.InvalidArgs, "invalid arguments: %s", problem)
}

// checker gathers what is wrong with a value, and copies what is declared.
type checker struct{ problems []string }

func (c *checker) object(path string, object map[string]any, schema *jsonschema.Schema) map[string]any {
	if path != "" {
		path += "."
	}
	for _, name := range schema.Required {
		if _, ok := object[name]; !ok {
			c.problems = append(c.problems, fmt.Sprintf("missing required property %q", path+name))
		}
	}
	declared := make(map[string]any, len(object))
	for _, name := range schema.PropertyOrder {
		if value, ok := object[name]; ok {
			declared[name] = c.value(path+name, value, schema.Properties[name])
		}
	}
	if schema.AdditionalProperties != nil {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if schema.Properties[name] == nil {
				declared[name] = c.value(path+name, object[name], schema.AdditionalProperties)
			}
		}
	}
	return declared
}

func (c *checker) value(path string, value any, schema *jsonschema.Schema) any {
	if noun, ok := typeNouns[schema.Type]; ok && !isType(value, schema.Type) {
		c.problems = append(c.problems, fmt.Sprintf("%q must be %s", path, noun))
		return nil
	}
	isValue := func(choice any) bool { return reflect.DeepEqual(choice, value) }
	if schema.Enum != nil && !slices.ContainsFunc(schema.Enum, isValue) {
		choices := make([]string, len(schema.Enum))
		for i, choice := range schema.Enum {
			choices[i] = fmt.Sprintf("%#v", choice)
		}
		c.problems = append(c.problems, fmt.Sprintf("%q must be one of %s", path, strings.Join(choices, ", ")))
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		if schema.Type == "object" {
			return c.object(path, value, schema)
		}
	case []any:
		if schema.Items != nil {
			return c.array(path, value, schema.Items)
		}
	}
	return value
}

// array stops at the first wrong element: a long list of one mistake would
// hide the others.
func (c *checker) array(path string, elements []any, schema *jsonschema.Schema) []any {
	declared := make([]any, len(elements))
	before := len(c.problems)
	for i, element := range elements {
		declared[i] = c.value(fmt.Sprintf("%s[%d]", path, i), element, schema)
		if len(c.problems) > before {
			break
		}
	}
	return declared
}

var typeNouns = map[string]string{
	"string": "a string", "number": "a number", "integer": "an integer", "boolean": "a boolean",
	"object": "an object", "array": "an array",
}

func isType(value any, name string) bool {
	switch value := value.(type) {
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case float64:
		return name == "number" || name == "integer" && value == math.Trunc(value)
	case map[string]any:
		return name == "object"
	case []any:
		return name == "array"
	default: // null is no value of any type
		return false
	}
}

// encodeArguments gives arguments their one spelling. They came from JSON:
// there is no value in them that cannot be written.
func encodeArguments(object map[string]any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
