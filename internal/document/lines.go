package document

import (
	"bytes"
)

// lineStart is the offset of the line that offset is in.
func (d *Document) lineStart(offset int) int {
	for offset > d.base && d.data[offset-1] != '\n' && d.data[offset-1] != '\r' {
		offset--
	}
	return offset
}

// lineEnd is where the line that offset is in ends: at its CR, LF or CRLF.
func (d *Document) lineEnd(offset int) int {
	if i := bytes.IndexAny(d.data[offset:], "\r\n"); i >= 0 {
		return offset + i
	}
	return len(d.data)
}

// nextLine is the offset of the line behind that which offset is in, or the end
// of the document.
func (d *Document) nextLine(offset int) int {
	end := d.lineEnd(offset)
	switch {
	case end == len(d.data):
		return end
	case d.data[end] == '\r' && end+1 < len(d.data) && d.data[end+1] == '\n':
		return end + 2
	default:
		return end + 1
	}
}

// previousLine is the offset of the line before that which begins at line; it is
// not ok at the first.
func (d *Document) previousLine(line int) (previous int, ok bool) {
	if line <= d.base {
		return line, false
	}
	at := line - 1
	if d.data[at] == '\n' && at > d.base && d.data[at-1] == '\r' {
		at--
	}
	return d.lineStart(at), true
}

// indent counts the spaces that a line begins with.
func (d *Document) indent(line int) int {
	n := 0
	for line+n < len(d.data) && d.data[line+n] == ' ' {
		n++
	}
	return n
}

// column counts the bytes before offset on its line.
func (d *Document) column(offset int) int { return offset - d.lineStart(offset) }

// isBlank reports whether there is only space between two offsets.
func (d *Document) isBlank(from, to int) bool {
	return len(bytes.Trim(d.data[from:to], " \t\r\n")) == 0
}

// alone reports whether nothing but space stands before offset on its line.
func (d *Document) alone(offset int) bool { return d.isBlank(d.lineStart(offset), offset) }

// isComment reports whether a line holds a comment and nothing else.
func (d *Document) isComment(line int) bool {
	text := bytes.Trim(d.data[line:d.lineEnd(line)], " \t")
	if d.format == YAML {
		return bytes.HasPrefix(text, []byte("#"))
	}
	return bytes.HasPrefix(text, []byte("//")) ||
		bytes.HasPrefix(text, []byte("/*")) && bytes.Index(text, []byte("*/")) == len(text)-2
}

// skipSpace returns the offset of the next byte that is neither space, a line
// end nor part of a comment.
func (d *Document) skipSpace(offset int) int {
	for offset < len(d.data) {
		switch c := d.data[offset]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			offset++
		case c == '\xef' && bytes.HasPrefix(d.data[offset:], byteOrderMark):
			offset += len(byteOrderMark)
		case d.commentAt(offset):
			offset = d.commentEnd(offset)
		default:
			return offset
		}
	}
	return offset
}

// commentAt reports whether a comment begins at offset.
func (d *Document) commentAt(offset int) bool {
	text := d.data[offset:]
	if d.format == YAML {
		return text[0] == '#'
	}
	return bytes.HasPrefix(text, []byte("//")) || bytes.HasPrefix(text, []byte("/*"))
}

// commentEnd is behind the comment at offset, before its line end. A comment
// that is not closed ends with the document.
func (d *Document) commentEnd(offset int) int {
	if d.format == JSON && d.data[offset+1] == '*' {
		if i := bytes.Index(d.data[offset+2:], []byte("*/")); i >= 0 {
			return offset + 2 + i + 2
		}
		return len(d.data)
	}
	return d.lineEnd(offset)
}

// afterOnLine returns the offset behind the spaces and comments that follow on
// the line of offset, and whether the line ends there.
func (d *Document) afterOnLine(offset int) (at int, ends bool) {
	end := d.lineEnd(offset)
	for at = offset; at < end; {
		switch c := d.data[at]; {
		case c == ' ' || c == '\t':
			at++
		case d.commentAt(at) && d.commentEnd(at) <= end:
			at = d.commentEnd(at)
		default:
			return at, false
		}
	}
	return at, true
}

// lineBreak is how the lines of the document end: as its first does.
func (d *Document) lineBreak() string {
	i := bytes.IndexAny(d.data, "\r\n")
	switch {
	case i < 0 || d.data[i] == '\n':
		return "\n"
	case i+1 < len(d.data) && d.data[i+1] == '\n':
		return "\r\n"
	default:
		return "\r"
	}
}
