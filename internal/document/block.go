package document

import (
	"bytes"
	"strings"
)

// changeBlock plans the removals and additions of a map in block style.
func (p *plan) changeBlock(c changes) *Error {
	n := c.of
	column := p.column(n.entries[0].start)
	for i, gone := range c.gone {
		if !gone {
			continue
		}
		e := &n.entries[i]
		if !p.alone(e.start) || p.column(e.start) != column {
			return p.refuse(e.key)
		}
		last := p.trailing(e.end(), column+1)
		for p.attempt >= besideText && p.nextLine(last) < len(p.data) && p.isBlank(p.nextLine(last), p.lineEnd(p.nextLine(last))) {
			// A |+ scalar above would take blank lines for its own.
			last = p.nextLine(last)
		}
		p.cutLines(p.commentAbove(e.start), last)
	}
	if len(c.added) == 0 {
		if c.last() < 0 && n != p.Document.root {
			if n.head == unknown {
				return p.refuse(n)
			}
			p.insert(n.headEnd(), " {}")
		}
		return nil
	}
	if !p.alone(n.entries[0].start) {
		return p.refuse(n)
	}
	last := &n.entries[len(n.entries)-1]
	at := p.documentEnd()
	if n != p.Document.root {
		at = p.nextLine(p.trailing(last.end(), column))
	}
	if p.attempt >= besideText && at == len(p.data) && p.lineStart(at) < at && p.alone(last.start) {
		// A | scalar that the document ends with, without a line end, would get
		// one: the new lines go before it.
		at = p.lineStart(p.commentAbove(last.start))
	}
	var lines []string
	for _, m := range c.added {
		lines = append(lines, p.entryLines(m.name, m.value)...)
	}
	p.insertLines(at, column, lines)
	return nil
}

// headEnd is where the text before a block collection ends: behind the colon of
// its key, or behind its properties.
func (n *node) headEnd() int {
	if n.body > n.start {
		return n.body
	}
	return n.head
}

// commentAbove returns the first of the comment lines that belong to the entry
// at offset: those right above it with the same indentation. A comment that the
// document begins with belongs to the document.
func (p *plan) commentAbove(offset int) int {
	line := p.lineStart(offset)
	for first := line; ; {
		above, ok := p.previousLine(first)
		if !ok || bytes.HasPrefix(p.data[above:], []byte("---")) {
			return line
		}
		if !p.isComment(above) || len(p.leading(above)) != offset-line {
			return first
		}
		first = above
	}
}

// leading is the space that a line begins with.
func (d *Document) leading(line int) string {
	end := line
	for end < len(d.data) && (d.data[end] == ' ' || d.data[end] == '\t') {
		end++
	}
	return string(d.data[line:end])
}

// trailing returns an offset on the last line of what ends at end: its own line,
// or the last of the comment lines right below it that are indented by indent or
// more, and so belong to it.
func (p *plan) trailing(end, indent int) int {
	at := end
	for next := p.nextLine(at); next < len(p.data) && p.isComment(next) && p.indent(next) >= indent; next = p.nextLine(next) {
		at = next
	}
	return at
}

// cutLines cuts the lines from that of from to that of to, both whole.
func (p *plan) cutLines(from, to int) {
	start, end := p.lineStart(from), p.nextLine(to)
	if end == len(p.data) && p.lineEnd(to) == end && start > p.base {
		// The last line has no end: the one above gives up its own.
		previous, _ := p.previousLine(start)
		start = p.lineEnd(previous)
	}
	p.cut(start, end)
}

// insertLines inserts lines at an offset where a line begins, or where the
// document ends. A document without a last line end stays so.
func (p *plan) insertLines(at, column int, lines []string) {
	indent := strings.Repeat(" ", column)
	open := at == len(p.data) && p.lineStart(at) < at
	var text strings.Builder
	for _, line := range lines {
		if open {
			text.WriteString(p.nl)
		}
		if line != "" {
			text.WriteString(indent)
			text.WriteString(line)
		}
		if !open {
			text.WriteString(p.nl)
		}
	}
	p.insert(at, text.String())
}

// documentEnd is where lines may be added to the document: at the end of the
// text, or before a line that begins with "...".
func (p *plan) documentEnd() int {
	line := p.base
	if root := p.Document.root; root != nil && root.end != unknown {
		line = p.nextLine(root.end)
	}
	for ; line < len(p.data); line = p.nextLine(line) {
		rest := bytes.TrimRight(p.data[line:p.lineEnd(line)], " \t")
		if bytes.Equal(rest, []byte("...")) || bytes.HasPrefix(rest, []byte("... ")) {
			return line
		}
	}
	return len(p.data)
}

// replaceInBlock plans another value for an entry of a map in block style.
func (p *plan) replaceInBlock(e *entry, value any) *Error {
	old := e.value
	if e.colon == unknown {
		return p.refuse(e.key)
	}
	header, lines := p.render(value, old)
	if old.anchor != "" {
		header = strings.TrimSuffix("&"+old.anchor+" "+header, " ")
	}
	next := body{lines, p.bodyColumn(e, value)}
	switch old.style {
	case blockStyle:
		return p.replaceBlock(e, header, next)
	case literalStyle, foldedStyle:
		p.replaceBlockScalar(e, header, next)
	default:
		p.replaceInline(e, header, next)
	}
	return nil
}

// body is the lines of a value below its key.
type body struct {
	lines  []string
	column int
}

// bodyColumn is the column of the lines of a new value below its key: that of
// the value before when that was of the same kind.
func (p *plan) bodyColumn(e *entry, value any) int {
	old := e.value
	_, isList := value.([]any)
	_, isMap := value.(map[string]any)
	if old.style == blockStyle && old.body == old.start && (isList && old.kind == listNode || isMap && old.kind == mapNode) {
		return p.column(old.start)
	}
	if isList {
		return p.column(e.start) + p.dash
	}
	return p.column(e.start) + len(p.unit)
}

// replaceBlock replaces a map or list in block style: all lines below the key.
func (p *plan) replaceBlock(e *entry, header string, next body) *Error {
	old := e.value
	first := old.body
	if old.kind == mapNode {
		first = old.entries[0].start
	} else {
		first = p.skipSpace(first)
	}
	if !p.alone(first) || !p.isBlank(e.colon, old.start) && old.body > old.start {
		return p.refuse(old)
	}
	if old.body > old.start {
		p.cut(e.colon, old.body)
	}
	if header != "" {
		p.insert(e.colon, " "+header)
	}
	last := p.trailing(old.end, p.column(e.start)+1)
	p.cutLines(p.nextLine(old.headEnd()), last)
	p.insertLines(p.nextLine(last), next.column, next.lines)
	return nil
}

// replaceBlockScalar replaces a | or > scalar. A comment behind its header
// stays.
func (p *plan) replaceBlockScalar(e *entry, header string, next body) {
	old := e.value
	end := old.body
	for end < len(p.data) && !strings.ContainsRune(" \t\r\n", rune(p.data[end])) {
		end++
	}
	p.cut(e.colon, end)
	if header != "" {
		p.insert(e.colon, " "+header)
	}
	if old.end > p.lineEnd(end) {
		p.cutLines(p.nextLine(end), old.end)
	}
	p.insertLines(p.nextLine(old.end), next.column, next.lines)
}

// replaceInline replaces a value that is written behind its key, or not at all.
func (p *plan) replaceInline(e *entry, header string, next body) {
	old := e.value
	if len(next.lines) == 0 {
		if !old.written() {
			p.insert(e.colon, " "+header)
			return
		}
		p.cut(old.start, old.end)
		p.insert(old.start, header)
		return
	}
	if old.written() {
		if !p.isBlank(e.colon, old.start) {
			// There is a comment between the key and a value below it.
			p.cutLines(old.start, old.end)
		} else {
			end := old.end
			if p.isBlank(end, p.lineEnd(end)) {
				end = p.lineEnd(end)
			}
			p.cut(e.colon, end)
		}
	}
	if header != "" {
		p.insert(e.colon, " "+header)
	}
	last := p.trailing(max(old.end, e.colon), p.column(e.start)+1)
	p.insertLines(p.nextLine(last), next.column, next.lines)
}

// fill plans the sections of a YAML document that has none. Its root is nil,
// null or an empty map.
func (p *plan) fill(root *node, wanted map[string]any) *Error {
	var lines []string
	for _, name := range sortedKeys(wanted) {
		lines = append(lines, p.entryLines(name, wanted[name])...)
	}
	if root == nil {
		p.insertLines(p.documentEnd(), 0, lines)
		return nil
	}
	if root.end == unknown {
		return p.refuse(root)
	}
	p.gone = append(p.gone, root)
	start, lineEnd := root.start, p.lineEnd(root.end)
	for start > p.lineStart(root.start) && p.data[start-1] == ' ' {
		start--
	}
	_, ends := p.afterOnLine(root.end)
	switch {
	case !ends:
		return p.refuse(root)
	case !p.alone(root.start):
		// It stands behind "---".
		p.cut(start, root.end)
		p.insertLines(p.nextLine(root.end), 0, lines)
	case !p.isBlank(root.end, lineEnd):
		// A comment stands behind it.
		end := root.end
		for p.data[end] == ' ' || p.data[end] == '\t' {
			end++
		}
		p.cut(start, end)
		p.insertLines(p.nextLine(root.end), 0, lines)
	case lineEnd == len(p.data):
		p.cut(start, lineEnd)
		p.insert(start, strings.Join(lines, p.nl))
	default:
		p.cutLines(start, root.end)
		p.insertLines(p.nextLine(root.end), 0, lines)
	}
	return nil
}
