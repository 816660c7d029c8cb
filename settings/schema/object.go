package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"hardshell/internal/jsontree"
)

// object is a JSON object whose keys keep their order: the order of properties
// is the order of a form. Its values are *object, []any, string, bool, nil and
// json.Number.
type object struct {
	keys   []string
	values []any
}

// with appends one key and returns the object.
func (o *object) with(key string, value any) *object {
	o.keys = append(o.keys, key)
	o.values = append(o.values, value)
	return o
}

func (o *object) get(key string) (any, bool) {
	if i := slices.Index(o.keys, key); i >= 0 {
		return o.values[i], true
	}
	return nil, false
}

// plain is an ordered value as a tree.
func plain(value any) any {
	switch v := value.(type) {
	case *object:
		tree := make(map[string]any, len(v.keys))
		for i, key := range v.keys {
			tree[key] = plain(v.values[i])
		}
		return tree
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	default:
		return value
	}
}

// appendOrdered writes an ordered value as compact JSON without the keys for
// which drop returns true.
func appendOrdered(out []byte, value any, drop func(o *object, key string) bool) []byte {
	switch v := value.(type) {
	case *object:
		out = append(out, '{')
		written := false
		for i, key := range v.keys {
			if drop(v, key) {
				continue
			}
			if written {
				out = append(out, ',')
			}
			written = true
			out = append(append(out, jsontree.Encode(key)...), ':')
			out = appendOrdered(out, v.values[i], drop)
		}
		return append(out, '}')
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendOrdered(out, item, drop)
		}
		return append(out, ']')
	default:
		return append(out, jsontree.Encode(v)...)
	}
}

// maxSchemaDepth bounds the nesting of a schema document.
const maxSchemaDepth = 100

// readOrdered reads the one JSON value of doc. Its errors quote nothing of doc
// but keys.
func readOrdered(doc []byte) (any, error) {
	if !utf8.Valid(doc) {
		return nil, errors.New("it is not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.UseNumber()
	value, err := readValue(decoder, 0)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it is more than one JSON value")
	}
	return value, nil
}

func readValue(decoder *json.Decoder, depth int) (any, error) {
	if depth > maxSchemaDepth {
		return nil, errors.New("it is nested deeper than " + strconv.Itoa(maxSchemaDepth))
	}
	token, err := decoder.Token()
	if err != nil {
		return nil, fmt.Errorf("it is no JSON from byte %d on", decoder.InputOffset())
	}
	switch token {
	case json.Delim('{'):
		return readObject(decoder, depth)
	case json.Delim('['):
		list := []any{}
		for decoder.More() {
			item, err := readValue(decoder, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		return list, closing(decoder)
	}
	if n, isNumber := token.(json.Number); isNumber && !jsontree.ValidNumber(string(n)) {
		return nil, fmt.Errorf("it has a number that cannot be worked with before byte %d", decoder.InputOffset())
	}
	return token, nil
}

func readObject(decoder *json.Decoder, depth int) (any, error) {
	o, seen := &object{}, map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		key, isKey := token.(string)
		if err != nil || !isKey {
			return nil, fmt.Errorf("it is no JSON from byte %d on", decoder.InputOffset())
		}
		if seen[key] {
			return nil, fmt.Errorf("the key %q stands twice in one object before byte %d", key, decoder.InputOffset())
		}
		seen[key] = true
		value, err := readValue(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		o.with(key, value)
	}
	return o, closing(decoder)
}

// closing reads the bracket that ends a container.
func closing(decoder *json.Decoder) error {
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("it is no JSON from byte %d on", decoder.InputOffset())
	}
	return nil
}
