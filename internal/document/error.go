package document

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"hardshell/internal/fault"
)

// Reason names what is wrong with a document. The words are an interface and
// never change.
type Reason string

// The reasons for which a document, a section of it, or an edit is refused.
const (
	// Encoding: the text is not UTF-8, or holds characters that no document may.
	Encoding Reason = "encoding"
	// Syntax: the text is not well-formed.
	Syntax Reason = "syntax"
	// Tab: a tab stands where YAML wants spaces.
	Tab Reason = "tab"
	// DuplicateKey: one map has one key twice.
	DuplicateKey Reason = "duplicate-key"
	// MergeKey: a map uses the << of YAML 1.1, which YAML 1.2 does not have.
	MergeKey Reason = "merge-key"
	// ComplexKey: a map or a list serves as a key.
	ComplexKey Reason = "complex-key"
	// Alias: an alias without an anchor, one that contains itself, aliases that
	// grow beyond bounds, or an edit of what an alias and its anchor share.
	Alias Reason = "alias"
	// MultipleDocuments: the stream holds more than one document.
	MultipleDocuments Reason = "multiple-documents"
	// NotAMap: the document is not a map of sections.
	NotAMap  Reason = "not-a-map"
	NotAList Reason = "not-a-list"
	// Tag: a tag asks for data that JSON does not have.
	Tag Reason = "tag"
	// Number: .inf, .nan, or a number beyond any use.
	Number Reason = "number"
	// TooDeep: the data is nested deeper than jsontree.MaxDepth.
	TooDeep Reason = "too-deep"
	// TooLarge: the text is longer than MaxSize.
	TooLarge Reason = "too-large"
	// Layout: no edit of the text could be proven to change just what it should.
	Layout Reason = "layout"
)

// Error says what is wrong with a document, and where. It carries the code
// DOCUMENT_INVALID and never a byte of the document.
type Error struct {
	// Name is the name that the document was parsed under.
	Name string
	// Line and Column count from 1; columns are characters.
	Line, Column int
	Reason       Reason
	// Message says what to do.
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s, line %d, column %d: %s", e.Name, e.Line, e.Column, e.Message)
}

// Unwrap returns the code.
func (e *Error) Unwrap() error { return fault.DocumentInvalid }

// fail returns an Error about the byte at offset.
func (d *Document) fail(offset int, reason Reason, message string) *Error {
	line, column := d.position(offset)
	return &Error{Name: d.name, Line: line, Column: column, Reason: reason, Message: message}
}

// mark is where a byte is: in the words of an editor, whose lines end with CRLF,
// LF or CR, and to whom a byte order mark is no character.
type mark struct{ offset, line, column int }

// markDistance is how many bytes there are between marks.
const markDistance = 1024

// markPositions makes position fast, for documents with a problem in each of
// many sections. It must not be called once the document is parsed.
func (d *Document) markPositions() {
	if d.marks != nil {
		return
	}
	d.marks = []mark{{d.base, 1, 1}}
	for end := d.base + markDistance; end < len(d.data); end += markDistance {
		d.marks = append(d.marks, d.advance(d.marks[len(d.marks)-1], end))
	}
}

// position tells where the byte at offset is.
func (d *Document) position(offset int) (line, column int) {
	at := mark{d.base, 1, 1}
	if i := (offset - d.base) / markDistance; len(d.marks) > 0 && i >= 0 {
		// A mark lies at a multiple of the distance, or within a character behind.
		i = min(i, len(d.marks)-1)
		for i > 0 && d.marks[i].offset > offset {
			i--
		}
		at = d.marks[i]
	}
	at = d.advance(at, offset)
	return at.line, at.column
}

// advance moves a mark on to the first character at offset or behind it.
func (d *Document) advance(at mark, offset int) mark {
	for at.offset < min(offset, len(d.data)) {
		switch c := d.data[at.offset]; {
		case c == '\n', c == '\r' && (at.offset+1 == len(d.data) || d.data[at.offset+1] != '\n'):
			at = mark{at.offset + 1, at.line + 1, 1}
		case c < utf8.RuneSelf:
			at = mark{at.offset + 1, at.line, at.column + 1}
		default:
			_, size := utf8.DecodeRune(d.data[at.offset:])
			at = mark{at.offset + size, at.line, at.column + 1}
		}
	}
	return at
}

// checkText refuses what is no text of a document, before any parser sees it.
func (d *Document) checkText() *Error {
	switch {
	case len(d.data) > MaxSize:
		return &Error{d.name, 1, 1, TooLarge, fmt.Sprintf("the document is larger than %d MiB", MaxSize>>20)}
	case bytes.HasPrefix(d.data, []byte("\xff\xfe")), bytes.HasPrefix(d.data, []byte("\xfe\xff")),
		len(d.data) > 1 && (d.data[0] == 0) != (d.data[1] == 0):
		return &Error{d.name, 1, 1, Encoding, "the document looks like UTF-16; save it as UTF-8"}
	}
	for i := d.base; i < len(d.data); {
		if c := d.data[i]; c < utf8.RuneSelf {
			if c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c == 0x7f && d.format == YAML {
				return d.fail(i, Encoding, "a control character is not allowed here; remove it or write it as an escape")
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(d.data[i:])
		if r == utf8.RuneError && size == 1 {
			return d.fail(i, Encoding, "the document is not UTF-8 here; save it as UTF-8")
		}
		if d.format == YAML && !printable(r) && r != '\uFEFF' {
			return d.fail(i, Encoding, "a character that YAML does not allow; write it as an escape between double quotes")
		}
		i += size
	}
	return nil
}

// printable reports whether YAML allows a character as itself (YAML 1.2.2,
// section 5.1).
func printable(r rune) bool {
	switch {
	case r < 0x20:
		return r == '\t' || r == '\n' || r == '\r'
	case r < 0x7f, r == 0x85:
		return true
	case r < 0xa0:
		return false
	default:
		return r != '\uFEFF' && r != '\uFFFE' && r != '\uFFFF' && (r < 0xD800 || r > 0xDFFF) && r <= 0x10FFFF
	}
}
