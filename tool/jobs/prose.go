package jobs

import (
	_ "embed"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// source holds every text that a model reads before it calls a tool, under one
// heading each: the name of a tool, or of one of its properties after it.
//
//go:embed jobs.md
var source string

// prose is the sections of a source by heading.
type prose map[string]string

func parseProse(source string) prose {
	sections := prose{}
	for _, section := range strings.Split("\n"+source, "\n# ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		sections[heading] = strings.TrimSpace(text)
	}
	return sections
}

// describe returns what completes the schema of a tool with the texts of its
// properties.
func (p prose) describe(name string) func(*jsonschema.Schema) {
	return func(schema *jsonschema.Schema) { p.describeAll(name, schema) }
}

func (p prose) describeAll(path string, schema *jsonschema.Schema) {
	for name, property := range schema.Properties {
		property.Description = p[path+" "+name]
		p.describeAll(path+" "+name, property)
	}
}
