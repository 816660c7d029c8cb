// Package prose takes the texts for models apart that are kept in Markdown files.
package prose

import "strings"

// Sections is the sections of a source by heading.
type Sections map[string]string

// Parse returns the sections that lines "# heading" begin, each without the white
// space around it.
func Parse(source string) Sections {
	sections := Sections{}
	for _, section := range strings.Split("\n"+source, "\n# ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		sections[heading] = strings.TrimSpace(text)
	}
	return sections
}
