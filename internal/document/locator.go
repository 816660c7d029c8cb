package document

import "unicode/utf8"

// locator finds the offsets of lines and columns, which count from 1, as the
// YAML parser counts them: columns in characters, and lines ended by CRLF, LF
// and CR, where withoutOldBreaks has been at work. Looking forward is fast: it goes on from where it was.
type locator struct {
	text []byte
	// base is added to what is found.
	base int
	// offset in text has this line and column.
	offset, line, column int
	// lineStart is the offset of the line.
	lineStart int
	// starts are the beginnings of the lines before.
	starts []int
}

func (l *locator) find(line, column int) int {
	if line < l.line || line == l.line && column < l.column {
		l.offset, l.column = l.lineStart, 1
		if line < l.line {
			l.offset, l.line = 0, 1
			if line >= 1 {
				l.offset, l.line = l.starts[line-1], line
				l.starts = l.starts[:line-1]
			} else {
				l.starts = nil
			}
			l.lineStart = l.offset
		}
	}
	for l.offset < len(l.text) && (l.line < line || l.line == line && l.column < column) {
		switch size, isBreak := breakAt(l.text[l.offset:]); {
		case isBreak && l.line == line:
			return l.base + l.offset
		case isBreak:
			l.starts = append(l.starts, l.lineStart)
			l.offset += size
			l.line, l.column, l.lineStart = l.line+1, 1, l.offset
		default:
			l.offset += size
			l.column++
		}
	}
	return l.base + l.offset
}

// breakAt returns the size of the first character, and whether it ends a line.
func breakAt(text []byte) (size int, isBreak bool) {
	switch c := text[0]; {
	case c == '\n':
		return 1, true
	case c == '\r':
		if len(text) > 1 && text[1] == '\n' {
			return 2, true
		}
		return 1, true
	case c < utf8.RuneSelf:
		return 1, false
	}
	_, size = utf8.DecodeRune(text)
	return size, false
}
