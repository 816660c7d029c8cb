package jobs

import (
	_ "embed"

	"github.com/google/jsonschema-go/jsonschema"
)

// source holds every text that a model reads before it calls a tool, under one
// heading each: the name of a tool, or of one of its properties after it.
//
//go:embed jobs.md
var source string

// describe returns what completes the schema of a tool with the texts of its
// properties.
func (t *Tools) describe(name string) func(*jsonschema.Schema) {
	return func(schema *jsonschema.Schema) { t.describeAll(name, schema) }
}

func (t *Tools) describeAll(path string, schema *jsonschema.Schema) {
	for name, property := range schema.Properties {
		property.Description = t.prose[path+" "+name]
		t.describeAll(path+" "+name, property)
	}
}
