// Package jsontree is JSON data as plain Go values: map[string]any, []any,
// string, bool, nil, and json.Number for every number, in the words of its
// source. So nothing is rounded between a document and its owner.
//
// No error of this package contains a value: it says where and what kind.
package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"
)

// MaxDepth is how deep containers may be nested: deeper data is refused, so that
// no walk over it can exhaust the stack.
const MaxDepth = 256

// NotJSON says where a value holds something that JSON has no word for.
type NotJSON struct {
	// Path is where, from "$" on; indexes of arrays stand in brackets.
	Path string
	// Kind is what stands there: "a function", "a non-finite number".
	Kind string
}

func (e *NotJSON) Error() string {
	return fmt.Sprintf("the data is not JSON-compatible: %s at %s", e.Kind, e.Path)
}

// Parse returns the one JSON value of data. Of two equal keys the last counts:
// documents that people edit are read more strictly elsewhere.
func Parse(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("the JSON text is not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, syntaxError(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one JSON value: the second begins before byte %d", decoder.InputOffset())
	}
	if err := Check(tree); err != nil {
		return nil, err
	}
	return tree, nil
}

// syntaxError is err without the text that it quotes.
func syntaxError(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("the JSON text is broken at byte %d", syntax.Offset)
	}
	return errors.New("the JSON text ends early")
}

// Clone returns a copy that shares nothing with tree.
func Clone(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		copied := make(map[string]any, len(node))
		for key, value := range node {
			copied[key] = Clone(value)
		}
		return copied
	case []any:
		copied := make([]any, len(node))
		for i, value := range node {
			copied[i] = Clone(value)
		}
		return copied
	default:
		return tree
	}
}

// Equal reports whether two trees are the same data: the order of keys does not
// count, and numbers are compared by their exact values, so that 1, 1.0 and 1e0
// are equal, and so are 0 and -0.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, value := range a {
			other, present := b[key]
			if !present || !Equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && CompareNumbers(a, b) == 0
	default:
		// What is left is comparable, or is not and then not equal either.
		switch b.(type) {
		case map[string]any, []any:
			return false
		}
		return a == b
	}
}

// Merge lays upper over lower: maps are merged key by key, anything else in
// upper replaces what is below it whole. The result shares nothing with either.
func Merge(lower, upper any) any {
	below, ok := lower.(map[string]any)
	if !ok {
		return Clone(upper)
	}
	above, ok := upper.(map[string]any)
	if !ok {
		return Clone(upper)
	}
	merged := Clone(below).(map[string]any)
	for key, value := range above {
		if was, present := merged[key]; present {
			merged[key] = Merge(was, value)
		} else {
			merged[key] = Clone(value)
		}
	}
	return merged
}

// Encode returns compact JSON with sorted keys, without the escapes for HTML.
// Tree must be one.
func Encode(tree any) []byte {
	return appendJSON(nil, tree)
}

func appendJSON(out []byte, tree any) []byte {
	switch node := tree.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		if node {
			return append(out, "true"...)
		}
		return append(out, "false"...)
	case json.Number:
		return append(out, node...)
	case string:
		return appendString(out, node)
	case []any:
		out = append(out, '[')
		for i, value := range node {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendJSON(out, value)
		}
		return append(out, ']')
	case map[string]any:
		out = append(out, '{')
		for i, key := range slices.Sorted(maps.Keys(node)) {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, key), ':')
			out = appendJSON(out, node[key])
		}
		return append(out, '}')
	default:
		panic(fmt.Sprintf("jsontree: %T is no part of a tree", tree))
	}
}

// appendString quotes s as JSON does, but for <, > and &.
func appendString(out []byte, s string) []byte {
	plain := true
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return append(append(append(out, '"'), s...), '"')
	}
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always encodes
	return append(out, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
}
