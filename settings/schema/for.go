package schema

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"hardshell/internal/fault"
)

// For returns the schema that the fields and tags of the struct T describe. It is
// the same for every call.
//
// The name of a key is that of encoding/json. A field is optional when it is a
// pointer or has omitempty or omitzero. Any other field without a default is
// required, but a list or map is empty by default and a struct of fields that are
// not required is filled in with their defaults. The tags are
//
//	doc, title              description and title
//	default                 the value: as it is for a string, else JSON
//	enum                    "a|b", or "a=Label|b=Label"
//	minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf
//	minLength, maxLength, pattern
//	minItems, maxItems
//	role                    secret, secret-values (every item or entry), credential-ref
//
// Of a list or map the tags from enum to pattern are about its items or entries.
// Fields may be booleans, numbers, strings, Text, structs, pointers, slices,
// arrays, maps with string keys, and any. Types that decode themselves are refused
// with the code SETTINGS_INVALID, and so is a tag that is not known: a misspelt
// one could have marked a secret.
func For[T any]() (*Schema, error) {
	t := reflect.TypeFor[T]()
	if known, ok := ofTypes.Load(t); ok {
		made := known.(ofType)
		return made.schema, made.err
	}
	var made ofType
	if t.Kind() != reflect.Struct {
		made.err = fault.New(fault.SettingsInvalid, "settings are described by a struct, not by %s", t)
	} else {
		d := describer{root: t, names: map[string]reflect.Type{}}
		var source *object
		if source, made.err = d.document(t); made.err == nil {
			made.schema, made.err = build(source)
		}
	}
	known, _ := ofTypes.LoadOrStore(t, made)
	made = known.(ofType)
	return made.schema, made.err
}

// ofTypes are the schemas of types, as ofType.
var ofTypes sync.Map

type ofType struct {
	schema *Schema
	err    error
}

// describer turns a type into a document.
type describer struct {
	root    reflect.Type
	open    []reflect.Type // structs that are being described
	looped  map[reflect.Type]string
	names   map[string]reflect.Type
	defs    object
	defined map[reflect.Type]bool
}

func (d *describer) document(t reflect.Type) (*object, error) {
	source, err := d.structure(t)
	if err != nil {
		return nil, err
	}
	if len(d.defs.keys) > 0 {
		source.with("$defs", &d.defs)
	}
	return source, nil
}

// structure describes a struct by its fields.
func (d *describer) structure(t reflect.Type) (*object, error) {
	d.open = append(d.open, t)
	defer func() { d.open = d.open[:len(d.open)-1] }()
	properties, required := &object{}, []any{}
	if err := d.fields(t, properties, &required); err != nil {
		return nil, err
	}
	source := (&object{}).with("type", "object").with("properties", properties)
	if len(required) > 0 {
		source.with("required", required)
	}
	return source.with("additionalProperties", false), nil
}

func (d *describer) fields(t reflect.Type, properties *object, required *[]any) error {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() && !f.Anonymous || name == "-" && options == "" {
			continue
		}
		bad := func(why string) error {
			return fault.New(fault.SettingsInvalid, "the field %s of %s %s", f.Name, t, why)
		}
		if f.Anonymous && name == "" {
			if f.Type.Kind() != reflect.Struct || decodesItself(f.Type) {
				return bad("must not be embedded; give it a name")
			}
			if err := d.fields(f.Type, properties, required); err != nil {
				return err
			}
			continue
		}
		if name == "" {
			name = f.Name
		}
		if _, twice := properties.get(name); twice {
			return bad("has the key of another field")
		}
		stated, err := readTags(f.Tag)
		if err != nil {
			return bad(err.Error())
		}
		optional := f.Type.Kind() == reflect.Pointer
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "":
			case "omitempty", "omitzero":
				optional = true
			default:
				return bad("has an option of encoding/json that settings do not have")
			}
		}
		source, err := d.field(f.Type, stated)
		if err != nil {
			return bad(err.Error())
		}
		_, hasDefault := source.get("default")
		if !optional && !hasDefault {
			if natural := d.natural(f.Type, source, stated); natural != nil {
				source.with("default", natural)
			} else {
				*required = append(*required, name)
			}
		}
		properties.with(name, source)
	}
	return nil
}

// natural is the value of a field that needs none to be stated; nil for none.
func (d *describer) natural(t reflect.Type, source *object, stated tags) any {
	switch t.Kind() {
	case reflect.Slice:
		if least := stated["minItems"]; least == "" || least == "0" {
			return []any{}
		}
	case reflect.Map:
		return &object{}
	case reflect.Struct:
		if target, referred := source.get("$ref"); referred {
			definition, _ := d.defs.get(strings.TrimPrefix(target.(string), "#/$defs/"))
			if source, _ = definition.(*object); source == nil {
				return nil
			}
		}
		if _, needs := source.get("required"); !needs {
			return &object{}
		}
	}
	return nil
}

// field describes one field: its type, then what its tags add.
func (d *describer) field(t reflect.Type, stated tags) (*object, error) {
	source := &object{}
	for _, tag := range [...][2]string{{"title", "title"}, {"doc", "description"}} {
		if words := stated[tag[0]]; words != "" {
			source.with(tag[1], words)
		}
	}
	body, err := d.shape(t, stated)
	if err != nil {
		return nil, err
	}
	for i, key := range body.keys {
		source.with(key, body.values[i])
	}
	if written, has := stated["default"]; has {
		value, err := literal(t, written)
		if err != nil {
			return nil, err
		}
		source.with("default", value)
	}
	switch stated["role"] {
	case "secret":
		source.with("writeOnly", true)
		if _, has := source.get("x-dsh-role"); !has {
			source.with("x-dsh-role", "secret")
		}
	case "credential-ref":
		source.with("x-dsh-role", "credential-ref")
	}
	return source, nil
}

// reference describes a struct that contains itself.
func (d *describer) reference(t reflect.Type) *object {
	if d.looped == nil {
		d.looped = map[reflect.Type]string{}
	}
	target, known := d.looped[t]
	if !known {
		if target = "#"; t != d.root {
			name := t.Name()
			if name == "" {
				name = "struct"
			}
			for n := 2; d.names[name] != nil; n++ {
				name = t.Name() + strconv.Itoa(n)
			}
			d.names[name] = t
			target = "#/$defs/" + escape(name)
		}
		d.looped[t] = target
	}
	return (&object{}).with("$ref", target)
}
