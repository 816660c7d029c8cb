package jsontree

import (
	"encoding"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// From returns v as a tree of its own: later changes to v do not show. Maps with
// string keys, slices, arrays, pointers, numbers and strings are walked; structs,
// and whatever says how it is encoded, go through encoding/json. A *NotJSON says
// where v holds anything else, or data nested deeper than MaxDepth.
func From(v any) (any, error) {
	w := walk{}
	tree, err := w.value(reflect.ValueOf(v), "$", 0)
	if err != nil {
		return nil, err
	}
	return tree, nil
}

// Check says whether tree is one.
func Check(tree any) error {
	_, err := From(tree)
	return err
}

// walk is one descent. Above are the containers that it is in.
type walk struct {
	above map[container]bool
}

// container is the identity of a map, slice or pointer. Two slices of one array
// are different ones when their lengths are.
type container struct {
	at     uintptr
	length int
	of     reflect.Type
}

func (w *walk) value(v reflect.Value, path string, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, &NotJSON{path, "data nested deeper than " + strconv.Itoa(MaxDepth)}
	}
	if !v.IsValid() {
		return nil, nil
	}
	if v.CanInterface() {
		switch plain := v.Interface().(type) {
		case json.Number:
			if !ValidNumber(string(plain)) {
				return nil, &NotJSON{path, "a json.Number that is no number"}
			}
			return plain, nil
		case json.Marshaler, encoding.TextMarshaler:
			return encoded(plain, v, path)
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return nil, &NotJSON{path, "a string that is not UTF-8"}
		}
		return v.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return json.Number(strconv.FormatInt(v.Int(), 10)), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return json.Number(strconv.FormatUint(v.Uint(), 10)), nil
	case reflect.Float32, reflect.Float64:
		return float(v, path)
	case reflect.Interface:
		return w.value(v.Elem(), path, depth)
	case reflect.Struct:
		return encoded(v.Interface(), v, path)
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Array:
		return w.within(v, path, depth)
	default:
		return nil, &NotJSON{path, kindName(v.Kind())}
	}
}

// within walks what v points to or holds, once it is sure that v does not hold
// itself.
func (w *walk) within(v reflect.Value, path string, depth int) (any, error) {
	if v.Kind() != reflect.Array {
		if v.IsNil() {
			return nil, nil
		}
		c := container{at: v.Pointer(), of: v.Type()}
		if v.Kind() == reflect.Slice {
			c.length = v.Len()
		}
		if c.length > 0 || v.Kind() != reflect.Slice {
			if w.above[c] {
				return nil, &NotJSON{path, "a circular reference"}
			}
			if w.above == nil {
				w.above = map[container]bool{}
			}
			w.above[c] = true
			defer delete(w.above, c)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		return w.value(v.Elem(), path, depth)
	case reflect.Map:
		return w.entries(v, path, depth)
	default:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return encoded(v.Interface(), v, path)
		}
		list := make([]any, v.Len())
		for i := range list {
			item, err := w.value(v.Index(i), path+"["+strconv.Itoa(i)+"]", depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = item
		}
		return list, nil
	}
}

func (w *walk) entries(v reflect.Value, path string, depth int) (any, error) {
	if v.Type().Key().Kind() != reflect.String {
		return nil, &NotJSON{path, "a map whose keys are not strings"}
	}
	entries := make(map[string]any, v.Len())
	for iterator := v.MapRange(); iterator.Next(); {
		key := iterator.Key().String()
		if !utf8.ValidString(key) {
			return nil, &NotJSON{path, "a key that is not UTF-8"}
		}
		value, err := w.value(iterator.Value(), path+segment(key), depth+1)
		if err != nil {
			return nil, err
		}
		entries[key] = value
	}
	return entries, nil
}

func float(v reflect.Value, path string) (any, error) {
	f := v.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, &NotJSON{path, "a non-finite number"}
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, &NotJSON{path, "a number that encoding/json refuses"}
	}
	return json.Number(text), nil
}

// encoded takes the word of encoding/json.
func encoded(plain any, v reflect.Value, path string) (any, error) {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, nil
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return nil, &NotJSON{path, "a " + v.Type().String() + " that encoding/json refuses"}
	}
	tree, err := Parse(text)
	var inner *NotJSON
	if errors.As(err, &inner) {
		return nil, &NotJSON{path + inner.Path[1:], inner.Kind}
	}
	if err != nil {
		return nil, &NotJSON{path, "a " + v.Type().String() + " whose encoding is broken"}
	}
	return tree, nil
}

func kindName(k reflect.Kind) string {
	switch k {
	case reflect.Func:
		return "a function"
	case reflect.Chan:
		return "a channel"
	case reflect.Complex64, reflect.Complex128:
		return "a complex number"
	default:
		return "a " + k.String()
	}
}
