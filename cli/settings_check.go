package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hardshell/compose"
	"hardshell/internal/document"
	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/settings"
)

// checkedDocument is what was found in a document. It has no value of it.
type checkedDocument struct {
	File     string    `json:"file"`
	Problems []finding `json:"problems"`
	// Warnings keep no section from being in force.
	Warnings []finding `json:"warnings"`

	broken bool // the text is no document at all
}

// finding is something in a document, and where.
type finding struct {
	NS string `json:"ns,omitempty"`
	// Path counts from the section on; "" when the text is no document.
	Path   string `json:"path,omitempty"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Rule is the keyword of the schema, or the reason of the parser.
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// checkError says that a document is not valid. What was found has been told, or
// is in the details. Kept says where a text is that was not installed.
type checkError struct {
	checked checkedDocument
	kept    string
}

func (e *checkError) Error() string {
	words := fmt.Sprintf("%s is not valid: %d problems", e.checked.File, len(e.checked.Problems))
	if len(e.checked.Problems) == 1 {
		words = e.checked.File + " is not valid: 1 problem"
	}
	if e.kept != "" {
		words += "; nothing was changed, and " + e.kept
	}
	return words
}

func (e *checkError) Unwrap() error {
	if e.checked.broken {
		return fault.DocumentInvalid
	}
	return fault.SettingsInvalid
}

// lines are the findings as compilers print them.
func (c checkedDocument) lines() []string {
	var lines []string
	for _, group := range []struct {
		word string
		list []finding
	}{{"", c.Problems}, {"warning: ", c.Warnings}} {
		for _, f := range group.list {
			words := f.Message
			if f.Path != "" {
				words = inNamespace(settings.Namespace(f.NS), f.Path) + " " + words
			}
			lines = append(lines, fmt.Sprintf("%s:%d:%d: %s%s", c.File, f.Line, f.Column, group.word, clean(words)))
		}
	}
	return lines
}

// checkText checks the text of a document as the rows would take it.
func (a *app) checkText(ctx context.Context, in compose.Surroundings, rows []compose.Row, name string, text []byte) (checkedDocument, error) {
	c := checkedDocument{File: name, Problems: []finding{}, Warnings: []finding{}}
	format, err := document.FormatOf(name)
	if err != nil {
		return c, usageError{err}
	}
	doc, err := document.Parse(name, format, slices.Clone(text))
	var where *document.Error
	if errors.As(err, &where) {
		c.broken = true
		c.Problems = append(c.Problems, finding{Line: where.Line, Column: where.Column, Rule: string(where.Reason), Message: where.Message})
		return c, nil
	} else if err != nil {
		return c, err
	}
	tree := doc.Tree()
	service, err := compose.SettingsOver(ctx, settings.NewMemory(tree), in, rows)
	if err != nil {
		return c, err
	}
	err = a.use(ctx, service, func(service *settings.Service) error {
		c.find(doc, tree, service.DescribeForWire())
		return nil
	})
	byPlace := func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Path, b.Path))
	}
	slices.SortStableFunc(c.Problems, byPlace)
	slices.SortStableFunc(c.Warnings, byPlace)
	return c, err
}

// unread is the rule against keys that nothing reads.
const unread = "unknown"

// find adds what there is to say of the sections of a document.
func (c *checkedDocument) find(doc *document.Document, tree map[string]any, descriptors []settings.Descriptor) {
	at := func(ns settings.Namespace, path, rule, message string) finding {
		locate := doc.Locate
		if rule == unread {
			locate = doc.LocateKey
		}
		line, column := locate(jsontree.Path{string(ns)}.String() + strings.TrimPrefix(path, "$"))
		return finding{NS: string(ns), Path: path, Line: line, Column: column, Rule: rule, Message: message}
	}
	known := map[string]bool{}
	for _, d := range descriptors {
		known[string(d.NS)] = true
		for _, p := range d.Problems {
			c.Problems = append(c.Problems, at(d.NS, p.Path, p.Keyword, p.Message))
		}
		for _, p := range d.Ignored {
			c.Warnings = append(c.Warnings, at(d.NS, p.Path, p.Keyword, "is null, which counts as absent"))
		}
		for _, path := range d.Unknown {
			c.Warnings = append(c.Warnings, at(d.NS, path, unread, "is no setting: nothing reads it"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if !known[name] {
			c.Warnings = append(c.Warnings, at(settings.Namespace(name), "$", unread, "is no section that anything reads"))
		}
	}
	for _, name := range doc.Problems() {
		var where *document.Error
		if errors.As(doc.Problem(name), &where) {
			f := finding{NS: name, Path: "$", Line: where.Line, Column: where.Column, Rule: string(where.Reason), Message: where.Message}
			if known[name] {
				c.Problems = append(c.Problems, f)
			} else {
				c.Warnings = append(c.Warnings, f)
			}
		}
	}
}
