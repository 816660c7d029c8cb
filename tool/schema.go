package tool

import (
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// inputSchema is a tool's schema in two views. Both are read-only once made.
type inputSchema struct {
	// published is what a model is shown.
	published *jsonschema.Schema
	// accepted is published and the hidden properties, each checked for its Go
	// type alone.
	accepted *jsonschema.Schema
}

// newInputSchema generates the schema of In, lets refine complete it and takes
// the hidden properties out of the published view.
func newInputSchema[In any](refine func(*jsonschema.Schema), hidden []string) (inputSchema, error) {
	generated, err := SchemaFor[In]()
	if err != nil {
		return inputSchema{}, err
	}
	published := generated.CloneSchemas()
	if refine != nil {
		refine(published)
	}
	accepted := published.CloneSchemas()
	for _, name := range hidden {
		isHidden := func(other string) bool { return other == name }
		accepted.Properties[name] = generated.Properties[name]
		accepted.Required = slices.DeleteFunc(slices.Clone(accepted.Required), isHidden)
		delete(published.Properties, name)
		published.PropertyOrder = slices.DeleteFunc(slices.Clone(published.PropertyOrder), isHidden)
		published.Required = slices.DeleteFunc(slices.Clone(published.Required), isHidden)
	}
	return inputSchema{published: published, accepted: accepted}, nil
}

// SchemaFor generates the schema of T's JSON form as a model reads it:
// properties in the order of the fields, undeclared ones tolerated, and a
// pointer or a slice no invitation to send null. The error is a type that JSON
// cannot hold.
func SchemaFor[T any]() (*jsonschema.Schema, error) {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, err
	}
	relax(schema)
	return schema, nil
}

func relax(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	for _, property := range s.Properties {
		relax(property)
	}
	relax(s.Items)
	// The generator spells "no additional properties" as "not anything".
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	relax(s.AdditionalProperties)
}
