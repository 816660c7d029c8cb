// Package document reads and edits the YAML and JSON documents that people
// write by hand. A document is its bytes: reading never changes them, and an
// edit replaces only the bytes of what it changes, so that comments, order,
// blank lines, quotes, line ends and whatever the program does not know stay as
// their author left them.
//
// Scalars mean what the core schema of YAML 1.2 says (chapter 10.3), whatever
// the parser below thinks: yes and 2024-01-02 are strings, 017 is seventeen.
//
// No error of this package contains a byte of a document: it says where, and
// what kind of thing is wrong.
package document

import (
	"bytes"
	"path/filepath"
	"strings"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
)

// Format is the language of a document.
type Format int

// YAML is YAML 1.2 with one document in the stream. JSON is JSON with comments
// and commas after a last member (JWCC), which are read and kept, never added.
const (
	YAML Format = iota
	JSON
)

// String is the name of the language.
func (f Format) String() string {
	if f == JSON {
		return "JSON"
	}
	return "YAML"
}

// FormatOf tells the format from the extension of a file name: .yaml, .yml or
// .json, in letters of any case.
func FormatOf(path string) (Format, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		return YAML, nil
	case ".json":
		return JSON, nil
	default:
		return 0, fault.New(fault.InvalidArgument, "%q is no document: its name must end in .yaml, .yml or .json", path)
	}
}

// MaxSize is the size, in bytes, above which a document is refused unread: a
// tree takes many times the memory of its text.
const MaxSize = 8 << 20

// Document is a parsed document. It is immutable and safe for concurrent use.
type Document struct {
	name   string
	format Format
	data   []byte
	// base is where the text begins: behind a byte order mark.
	base int
	// root is nil when the document holds nothing but space and comments.
	root *node
	// marks are some positions, in order; see markPositions.
	marks []mark
	// sections is the root map; a section without JSON data holds an *Error.
	sections map[string]any
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// Parse reads a document. Name is for errors, which are *Error. Data belongs to
// the document from now on.
func Parse(name string, format Format, data []byte) (*Document, error) {
	d := &Document{name: name, format: format, data: data}
	d.skipMark()
	if err := d.parse(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Document) skipMark() {
	if bytes.HasPrefix(d.data, byteOrderMark) {
		d.base = len(byteOrderMark)
	}
}

func (d *Document) parse() error {
	if err := d.checkText(); err != nil {
		return err
	}
	var err *Error
	if d.format == JSON {
		d.root, err = d.parseJSON()
	} else {
		d.root, err = d.parseYAML()
	}
	if err != nil {
		return err
	}
	b := builder{document: d}
	if d.sections, err = b.sections(d.root); err != nil {
		return err
	}
	return nil
}

// Tree returns the sections of the document, but for those with a Problem: a
// copy, which belongs to the caller. It is nil when the document is empty.
func (d *Document) Tree() map[string]any {
	if len(d.sections) == 0 {
		return nil
	}
	tree := make(map[string]any, len(d.sections))
	for name, section := range d.sections {
		if _, broken := section.(*Error); !broken {
			tree[name] = jsontree.Clone(section)
		}
	}
	return tree
}

// Problem says why a section holds no JSON data, as an *Error: .nan and !!binary
// are such. It is nil for any other section, and for one that is not there.
func (d *Document) Problem(section string) error {
	if problem, broken := d.sections[section].(*Error); broken {
		return problem
	}
	return nil
}

// Problems returns the names of the sections that have a Problem, in no order.
func (d *Document) Problems() []string {
	var names []string
	for name, section := range d.sections {
		if _, broken := section.(*Error); broken {
			names = append(names, name)
		}
	}
	return names
}

// Bytes returns the text of the document. It must not be changed.
func (d *Document) Bytes() []byte { return d.data }

// Format returns the language of the document.
func (d *Document) Format() Format { return d.format }
