package schema

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shape describes a type, and the rules for values that its tags state.
func (d *describer) shape(t reflect.Type, stated tags) (*object, error) {
	source := &object{}
	switch {
	case t == reflect.TypeFor[Text]():
		source.with("type", "string").with("x-dsh-role", "text")
		return source, stated.rules(source, t)
	case t == reflect.TypeFor[json.Number]():
		source.with("type", "number")
		return source, stated.rules(source, t)
	case t == reflect.TypeFor[time.Duration]():
		return nil, errors.New("is a time.Duration; give a number whose name says its unit, such as timeoutMs")
	case t.Kind() == reflect.Pointer:
		return d.shape(t.Elem(), stated)
	case decodesItself(t):
		return nil, fmt.Errorf("has the type %s, which decodes itself: what it accepts cannot be proven", t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return source.with("type", "boolean"), stated.rules(source, t)
	case reflect.String:
		return source.with("type", "string"), stated.rules(source, t)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		source.with("type", "integer")
		sizeOf(t, stated, source)
		return source, stated.rules(source, t)
	case reflect.Float32, reflect.Float64:
		return source.with("type", "number"), stated.rules(source, t)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return source, stated.rules(source, t)
		}
	case reflect.Struct:
		if err := stated.none("is a struct"); err != nil {
			return nil, err
		}
		return d.inner(t)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil, errors.New("is a list of bytes; settings are text")
		}
		items, err := d.part(t.Elem(), stated)
		if err != nil {
			return nil, err
		}
		source.with("type", "array").with("items", items)
		if t.Kind() == reflect.Array {
			length := json.Number(strconv.Itoa(t.Len()))
			return source.with("minItems", length).with("maxItems", length), stated.refuse("is an array", "minItems", "maxItems")
		}
		return source, stated.counts(source)
	case reflect.Map:
		if t.Key().Kind() != reflect.String || decodesItself(t.Key()) {
			return nil, errors.New("must have plain strings as keys")
		}
		entries, err := d.part(t.Elem(), stated)
		if err != nil {
			return nil, err
		}
		return source.with("type", "object").with("additionalProperties", entries), stated.refuse("is a map", "minItems", "maxItems")
	}
	return nil, fmt.Errorf("has the type %s, which is no data of settings", t)
}

// part describes the items of a list or the entries of a map: the tags that are
// about values are theirs.
func (d *describer) part(t reflect.Type, all tags) (*object, error) {
	theirs := tags{}
	for name, value := range all {
		switch name {
		case "doc", "title", "default", "minItems", "maxItems":
		case "role":
			if value == "secret-values" {
				theirs["role"] = "secret"
			}
		default:
			theirs[name] = value
		}
	}
	return d.field(t, theirs)
}

// inner describes a struct within another one.
func (d *describer) inner(t reflect.Type) (*object, error) {
	if slices.Contains(d.open, t) || d.defined[t] {
		return d.reference(t), nil
	}
	source, err := d.structure(t)
	if err != nil {
		return nil, err
	}
	target, loops := d.looped[t]
	if !loops || t == d.root {
		return source, nil
	}
	if d.defined == nil {
		d.defined = map[reflect.Type]bool{}
	}
	d.defined[t] = true
	d.defs.with(strings.TrimPrefix(target, "#/$defs/"), source)
	return d.reference(t), nil
}

// decodesItself reports whether encoding/json leaves a type to its methods.
func decodesItself(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer {
		t = reflect.PointerTo(t)
	}
	for _, method := range []reflect.Type{
		reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	} {
		if t.Implements(method) {
			return true
		}
	}
	return false
}

// sizeOf states the bounds of the small integers. The largest kinds have none
// here: they are checked when a value is decoded.
func sizeOf(t reflect.Type, stated tags, source *object) {
	bits, unsigned := t.Bits(), t.Kind() >= reflect.Uint
	least, most := "0", ""
	switch {
	case unsigned && bits < 64:
		most = strconv.FormatUint(1<<bits-1, 10)
	case !unsigned && bits < 64:
		least, most = strconv.FormatInt(-1<<(bits-1), 10), strconv.FormatInt(1<<(bits-1)-1, 10)
	case !unsigned:
		least = ""
	}
	if least != "" && stated["minimum"] == "" && stated["exclusiveMinimum"] == "" {
		source.with("minimum", json.Number(least))
	}
	if most != "" && stated["maximum"] == "" && stated["exclusiveMaximum"] == "" {
		source.with("maximum", json.Number(most))
	}
}
