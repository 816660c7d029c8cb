package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// tags are what the tag of a field says, without the key json.
type tags map[string]string

// readTags reads a tag. Keys of other encodings are left out.
func readTags(tag reflect.StructTag) (tags, error) {
	found := tags{}
	for rest := strings.TrimSpace(string(tag)); rest != ""; rest = strings.TrimSpace(rest) {
		name, quoted, ok := strings.Cut(rest, ":")
		prefix, err := strconv.QuotedPrefix(quoted)
		if !ok || err != nil {
			return nil, errors.New(`has a tag that is not written key:"value"`)
		}
		rest = quoted[len(prefix):]
		value, _ := strconv.Unquote(prefix)
		switch name {
		case "json", "yaml", "toml", "xml", "mapstructure":
		case "doc", "title", "default", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
			"multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems":
			found[name] = value
		case "role":
			if value != "secret" && value != "secret-values" && value != "credential-ref" {
				return nil, errors.New("has a role that is not secret, secret-values or credential-ref")
			}
			found[name] = value
		default:
			return nil, fmt.Errorf("has the unknown tag %q", name)
		}
	}
	return found, nil
}

// rules adds the tags about plain values to a schema, and refuses those that say
// nothing about its type.
func (t tags) rules(source *object, of reflect.Type) error {
	if err := t.refuse("is a single value", "minItems", "maxItems"); err != nil {
		return err
	}
	if t["role"] == "secret-values" {
		return errors.New("is a single value: its role is secret")
	}
	if choices, has := t["enum"]; has {
		if err := enumerate(source, of, choices); err != nil {
			return err
		}
	}
	word, _ := source.get("type")
	for _, name := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"} {
		if bound, has := t[name]; has {
			if word != "integer" && word != "number" {
				return fmt.Errorf("is no number and has the tag %s", name)
			}
			source.with(name, json.Number(bound))
		}
	}
	for _, name := range []string{"minLength", "maxLength", "pattern"} {
		rule, has := t[name]
		switch {
		case !has:
			continue
		case word != "string":
			return fmt.Errorf("is no string and has the tag %s", name)
		case name == "pattern":
			source.with(name, rule)
		default:
			source.with(name, json.Number(rule))
		}
	}
	return nil
}

// counts adds the tags about the length of a list.
func (t tags) counts(source *object) error {
	for _, name := range []string{"minItems", "maxItems"} {
		if count, has := t[name]; has {
			source.with(name, json.Number(count))
		}
	}
	return nil
}

// none refuses all tags about values.
func (t tags) none(why string) error {
	if t["role"] == "secret-values" {
		return errors.New(why + ": its role is secret, or is at its fields")
	}
	return t.refuse(why, "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "pattern", "minItems", "maxItems")
}

func (t tags) refuse(why string, names ...string) error {
	for _, name := range names {
		if _, has := t[name]; has {
			return fmt.Errorf("%s and has the tag %s", why, name)
		}
	}
	return nil
}

// enumerate adds the values of the tag enum: with labels as constants with
// titles, else as a plain list.
func enumerate(source *object, of reflect.Type, choices string) error {
	var values, labelled []any
	labels := false
	for choice := range strings.SplitSeq(choices, "|") {
		written, label, has := strings.Cut(choice, "=")
		value, err := literal(of, written)
		if err != nil {
			return err
		}
		one := (&object{}).with("const", value)
		if has {
			one.with("title", label)
			labels = true
		}
		values, labelled = append(values, value), append(labelled, one)
	}
	if labels {
		source.with("oneOf", labelled)
	} else {
		source.with("enum", values)
	}
	return nil
}

// literal reads a value of a tag: text for what is a string, else JSON. Its errors
// do not quote it: it may be the default of a secret.
func literal(of reflect.Type, written string) (any, error) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() == reflect.String && of != reflect.TypeFor[json.Number]() {
		return written, nil
	}
	value, err := readOrdered([]byte(written))
	if err != nil {
		return nil, errors.New("has a value in a tag that is no JSON")
	}
	return value, nil
}
