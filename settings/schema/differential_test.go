package schema

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"hardshell/internal/jsontree"
	"pgregory.net/rapid"
)

// reference is another validator of the same document.
func reference(t interface{ Fatal(...any) }, text []byte) *jsonschema.Resolved {
	var other jsonschema.Schema
	if err := json.Unmarshal(text, &other); err != nil {
		t.Fatal(string(text), err)
	}
	resolved, err := other.Resolve(nil)
	if err != nil {
		t.Fatal(string(text), err)
	}
	return resolved
}

// accepted says what the other validator thinks of a tree.
func accepted(t interface{ Fatal(...any) }, other *jsonschema.Resolved, tree any) error {
	var instance any
	if err := json.Unmarshal(jsontree.Encode(tree), &instance); err != nil {
		t.Fatal(err)
	}
	return other.Validate(instance)
}

// Both validators agree about every document of schemas without these, where this
// package departs from JSON Schema on purpose: "additionalProperties": false,
// which refuses nothing here, and defaults, which count as given. A layer of the
// user is free of stray nulls first; the base is taken as it is.
func TestAnotherValidatorAgrees(t *testing.T) {
	t.Parallel()
	valid, invalid := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t: t, oneOf: true}
		text := appendOrdered(nil, g.section(), func(*object, string) bool { return false })
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		other := reference(t, text)
		for range 4 {
			document, _ := g.document(s.places, 5).(map[string]any)
			if document == nil {
				document = map[string]any{}
			}
			problems := s.Resolve(document, nil).Problems
			theirs := accepted(t, other, document)
			if (len(problems) == 0) != (theirs == nil) {
				t.Fatalf("schema %s\ndocument %s\nhere %q\nthere %v", text, jsontree.Encode(any(document)), problems, theirs)
			}
			if theirs == nil {
				valid++
			} else {
				invalid++
			}
		}
	})
	t.Logf("%d valid and %d invalid documents", valid, invalid)
}

// What is resolved without a problem is valid to the letter of JSON Schema, but
// for a closed object in allOf: keys of its siblings are declared, here.
func TestAResolvedValueIsValidForAnotherValidator(t *testing.T) {
	t.Parallel()
	valid := 0
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t: t, closed: true, filled: true}
		text := appendOrdered(nil, g.section(), func(*object, string) bool { return false })
		s, err := Parse(text)
		if err != nil || bytes.Contains(text, []byte(`"allOf"`)) && bytes.Contains(text, []byte(`"additionalProperties":false`)) {
			return
		}
		for range 5 {
			base, _ := g.document(s.places, 5).(map[string]any)
			user, _ := g.document(s.places, 5).(map[string]any)
			resolved := s.Resolve(base, user)
			if len(resolved.Problems) > 0 {
				continue
			}
			valid++
			if err := accepted(t, reference(t, text), resolved.Value); err != nil {
				t.Fatalf("schema %s\nlayers %s, %s\nvalue %s\nthere %v", text, jsontree.Encode(any(base)), jsontree.Encode(any(user)),
					jsontree.Encode(any(resolved.Value)), err)
			}
		}
	})
	t.Logf("%d values", valid)
}
