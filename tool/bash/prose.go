package bash

import (
	_ "embed"
	"strings"
)

// source holds every text that a model reads before it calls the tool, under
// one heading each.
//
//go:embed bash.md
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
