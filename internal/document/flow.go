package document

import (
	"strings"
)

// Maps in brackets: those of JSON, and those of YAML in flow style.

// changeFlow plans the removals and additions of a map in flow style.
func (p *plan) changeFlow(c changes) *Error {
	n := c.of
	if p.data[n.body] != '{' {
		return p.refuse(n)
	}
	last := c.last()
	spread := p.isSpread(n)
	for i, gone := range c.gone {
		if gone {
			p.removeFromFlow(n, i, i > last)
		}
	}
	if len(c.added) == 0 {
		if last < 0 {
			p.closeEmpty(n)
		} else if last < len(n.entries)-1 {
			// What is last now has a comma just when the last had one.
			if p.comma(n, len(n.entries)-1) == unknown {
				comma := p.comma(n, last)
				p.cut(comma, comma+1)
			}
		}
		return nil
	}

	trailing := len(n.entries) > 0 && p.comma(n, len(n.entries)-1) != unknown
	at := n.body + 1
	if last >= 0 {
		at = n.entries[last].end()
		comma := p.comma(n, last)
		if comma == unknown {
			p.insert(at, ",")
		} else {
			at = comma + 1
		}
	}
	prefix := p.memberPrefix(n)
	var text strings.Builder
	for i, m := range c.added {
		switch {
		case spread:
			text.WriteString(p.nl)
			text.WriteString(prefix)
		case i > 0 || last >= 0:
			text.WriteByte(' ')
		}
		text.WriteString(p.flowMember(n, m, spread, prefix))
		if trailing || i < len(c.added)-1 {
			text.WriteByte(',')
		}
	}
	if spread {
		if end, ends := p.afterOnLine(at); ends {
			at = end
		}
		if len(n.entries) == 0 && !p.alone(n.end-1) {
			text.WriteString(p.nl)
			text.WriteString(p.leading(p.lineStart(n.start)))
		}
	}
	p.insert(at, text.String())
	return nil
}

// isSpread reports whether the members of a map stand on lines of their own.
func (p *plan) isSpread(n *node) bool {
	if len(n.entries) == 0 {
		return p.lineStart(n.body) != p.lineStart(n.end) || p.format == JSON && p.opensSpread(n)
	}
	return p.alone(n.entries[0].start)
}

// opensSpread reports whether an empty JSON object is to be filled over several
// lines: when it is the document, or begins on a line of its own.
func (p *plan) opensSpread(n *node) bool {
	if n == p.Document.root {
		return true
	}
	line := p.lineStart(n.start)
	at := line + len(p.leading(line))
	return at < len(p.data) && p.data[at] == '"'
}

// memberPrefix is the space before a member on a line of its own.
func (p *plan) memberPrefix(n *node) string {
	if len(n.entries) > 0 && p.alone(n.entries[0].start) {
		return p.leading(p.lineStart(n.entries[0].start))
	}
	return p.leading(p.lineStart(n.start)) + p.unit
}

// comma is the offset of the comma behind an entry, or unknown.
func (p *plan) comma(n *node, i int) int {
	at := p.skipSpace(n.entries[i].end())
	if at < len(p.data) && p.data[at] == ',' {
		return at
	}
	return unknown
}

// removeFromFlow cuts an entry and its comma: with its lines and the comments
// right above it when nothing else is on them, else with the space to its left
// when no entry that stays is to its right on the line.
func (p *plan) removeFromFlow(n *node, i int, behindLast bool) {
	e := &n.entries[i]
	start, end := e.start, e.end()
	if comma := p.comma(n, i); comma != unknown {
		end = comma + 1
	}
	after, ends := p.afterOnLine(end)
	switch alone := p.alone(start); {
	case alone && ends:
		p.cutLines(p.commentAbove(start), end)
		return
	case ends, after > end && i+1 < len(n.entries) && after == n.entries[i+1].start:
		end = after
	}
	if (behindLast || ends) && !p.alone(start) {
		for p.data[start-1] == ' ' || p.data[start-1] == '\t' {
			start--
		}
	}
	p.cut(start, end)
}

// closeEmpty removes the space between the brackets of a map whose entries all
// go, when nothing else is left there.
func (p *plan) closeEmpty(n *node) {
	at, end := n.body+1, n.end-1
	for _, c := range p.sortedCuts() {
		if c.from > at && !p.isBlank(at, min(c.from, end)) {
			return
		}
		if at = max(at, c.to); at >= end {
			break
		}
	}
	if at >= end || p.isBlank(at, end) {
		p.cut(n.body+1, end)
	}
}

// flowMember is a new member of a map in flow style.
func (p *plan) flowMember(n *node, m member, spread bool, prefix string) string {
	colon := ": "
	if len(n.entries) > 0 && p.format == JSON {
		if e := n.entries[0]; e.colon != unknown && e.colon == e.value.start {
			colon = ":"
		}
	}
	return p.scalar(m.name, plainStyle, true) + colon + p.flowValue(m.value, spread, prefix)
}

// flowValue is a value in flow style: in JSON over several lines when what it
// stands in is.
func (p *plan) flowValue(value any, spread bool, prefix string) string {
	if p.format == YAML || !spread {
		return p.flow(value)
	}
	inner := p.nl + prefix + p.unit
	var members []string
	brackets := "{}"
	switch value := value.(type) {
	case map[string]any:
		for _, name := range sortedKeys(value) {
			members = append(members, inner+p.scalar(name, plainStyle, true)+": "+p.flowValue(value[name], true, prefix+p.unit))
		}
	case []any:
		brackets = "[]"
		for _, item := range value {
			members = append(members, inner+p.flowValue(item, true, prefix+p.unit))
		}
	default:
		return p.scalar(value, plainStyle, true)
	}
	if len(members) == 0 {
		return brackets
	}
	return brackets[:1] + strings.Join(members, ",") + p.nl + prefix + brackets[1:]
}

// replaceInFlow plans another value for an entry of a map in flow style.
func (p *plan) replaceInFlow(e *entry, value any) {
	old := e.value
	spread := p.alone(e.start)
	if spread && len(old.items) > 0 && p.lineStart(old.start) == p.lineStart(old.end) {
		// A list in one line stays one.
		spread = false
	}
	prefix := p.leading(p.lineStart(e.start))
	quote := plainStyle
	if old.kind == scalarNode {
		quote = old.style
	}
	text := ""
	switch value.(type) {
	case map[string]any, []any:
		text = p.flowValue(value, spread, prefix)
	default:
		text = p.scalar(value, quote, true)
	}
	if old.anchor != "" {
		text = "&" + old.anchor + " " + text
	}
	switch {
	case e.colon == unknown:
		p.insert(e.key.end, ": "+text)
	case !old.written():
		p.insert(e.colon, " "+text)
	default:
		p.cut(old.start, old.end)
		p.insert(old.start, text)
	}
}

// fillJSON plans the sections of a JSON document that has none.
func (p *plan) fillJSON(root *node, wanted map[string]any) {
	text := p.flowValue(wanted, true, "")
	if root != nil {
		p.gone = append(p.gone, root)
		p.cut(root.start, root.end)
		p.insert(root.start, text)
		return
	}
	if end := len(p.data); p.lineStart(end) < end {
		text = p.nl + text
	} else {
		text += p.nl
	}
	p.insert(len(p.data), text)
}
