package document

import (
	"bytes"
)

// The parser says where values begin. Where they end is found here.

// skipProperties returns the offset right behind the tag and the anchor of the
// node at offset. What the parser did not see on the node belongs to another,
// unless it is a "!" alone, of which the parser does not tell.
func (d *Document) skipProperties(n *node) int {
	end, tagged, anchored := n.start, false, n.anchor == ""
	for !tagged || !anchored {
		at := d.skipSpace(end)
		if at >= len(d.data) {
			break
		}
		switch c := d.data[at]; {
		case c == '&' && !anchored:
			anchored = true
		case c == '!' && !tagged && (n.tagged || d.isBlank(end, at) && d.lineEnd(end) > at):
			tagged = true
			if i := bytes.IndexByte(d.data[at:], '>'); i > 0 && d.data[at+1] == '<' {
				end = at + i + 1
				continue
			}
		default:
			return end
		}
		end = d.nameEnd(at + 1)
	}
	return end
}

// nameEnd is behind the name of an anchor, an alias or a tag.
func (d *Document) nameEnd(offset int) int {
	for offset < len(d.data) && !bytes.ContainsRune([]byte(" \t\r\n,[]{}"), rune(d.data[offset])) {
		offset++
	}
	return offset
}

// scalarEnd returns the end of a scalar, and moves n.body to its first byte.
func (d *Document) scalarEnd(n *node, parent int) int {
	at := n.body
	if n.style != plainStyle || n.text != "" {
		at = d.skipSpace(n.body)
	}
	switch n.style {
	case doubleQuoted:
		n.body = at
		for i := at + 1; i < len(d.data); i++ {
			switch d.data[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return unknown
	case singleQuoted:
		n.body = at
		for i := at + 1; i < len(d.data); i++ {
			if d.data[i] != '\'' {
				continue
			}
			if i+1 == len(d.data) || d.data[i+1] != '\'' {
				return i + 1
			}
			i++
		}
		return unknown
	case literalStyle, foldedStyle:
		n.body = at
		return d.blockScalarEnd(at, parent)
	default:
		if n.text == "" {
			return n.body
		}
		n.body = at
		return d.plainEnd(at, n.text)
	}
}

// plainEnd follows the text of a plain scalar through its source. They are the
// same but where a line ends: there the text has one space, or line feeds.
func (d *Document) plainEnd(at int, text string) int {
	end := at
	for i := 0; i < len(text); {
		if at >= len(d.data) {
			return unknown
		}
		if c := d.data[at]; c == text[i] && c != '\n' && c != '\r' {
			at, i = at+1, i+1
			end = at
			continue
		}
		next := at
		for next < len(d.data) {
			size, isBreak := breakAt(d.data[next:])
			if !isBreak && d.data[next] != ' ' && d.data[next] != '\t' {
				break
			}
			next += size
		}
		if next == at {
			return unknown
		}
		at = next
		if text[i] == ' ' {
			i++
			continue
		}
		for i < len(text) && text[i] == '\n' {
			i++
		}
	}
	return end
}

// blockScalarEnd is behind the last line of a | or > scalar, before its line
// end. Blank lines behind it belong to the scalar when its header says "keep".
func (d *Document) blockScalarEnd(at, parent int) int {
	headerEnd := d.lineEnd(at)
	header := d.data[at:headerEnd]
	keep, indent := false, 0
	for _, c := range header[1:] {
		if c == '+' {
			keep = true
		} else if '1' <= c && c <= '9' {
			indent = max(parent, 0) + int(c-'0')
		} else if c != '-' {
			break
		}
	}
	end, blank := headerEnd, headerEnd
	for line := d.nextLine(at); line < len(d.data); line = d.nextLine(line) {
		lineEnd := d.lineEnd(line)
		spaces := d.indent(line)
		if blankLine := d.isBlank(line, lineEnd); blankLine && (indent == 0 || spaces <= indent) {
			blank = lineEnd
			continue
		}
		if indent == 0 {
			indent = max(spaces, parent+1)
		}
		if spaces < indent {
			break
		}
		end, blank = lineEnd, lineEnd
	}
	if keep {
		return blank
	}
	return end
}

// collectionEnd is behind the bracket of a collection in flow style, or behind
// the last value of one in block style.
func (d *Document) collectionEnd(n *node) int {
	end := n.body
	for i := range n.entries {
		if n.entries[i].key.end == unknown || n.entries[i].value.end == unknown {
			return unknown
		}
		end = max(end, n.entries[i].end())
	}
	for _, item := range n.items {
		if item.end == unknown {
			return unknown
		}
		end = max(end, item.end)
	}
	if n.style != flowStyle {
		return end
	}
	open := d.skipSpace(n.body)
	if open >= len(d.data) || d.data[open] != '{' && d.data[open] != '[' {
		// One pair in a list, which needs no brackets: [a: 1].
		return end
	}
	n.body = open
	for at := max(end, open+1); at < len(d.data); at++ {
		at = d.skipSpace(at)
		if at >= len(d.data) {
			break
		}
		switch d.data[at] {
		case ',', ':', '?':
		case '}', ']':
			return at + 1
		default:
			return unknown
		}
	}
	return unknown
}

// questionMark returns the offset of the "?" that makes the key at offset an
// explicit one on the same line, else unknown.
func (d *Document) questionMark(key int) int {
	for at := key - 1; at >= d.base; at-- {
		switch d.data[at] {
		case ' ', '\t':
		case '?':
			if key > at+1 {
				return at
			}
			return unknown
		default:
			return unknown
		}
	}
	return unknown
}

// colonAfter returns the offset behind the colon between a key and its value, or
// unknown.
func (d *Document) colonAfter(key, value int) int {
	if key == unknown {
		return unknown
	}
	at := d.skipSpace(key)
	if at < len(d.data) && d.data[at] == ':' && at < max(value, key+1) {
		return at + 1
	}
	return unknown
}
