package document

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"hardshell/internal/jsontree"
)

func sortedKeys(tree map[string]any) []string { return slices.Sorted(maps.Keys(tree)) }

// entryLines is a key with its value in block style, without indentation.
func (p *plan) entryLines(name string, value any) []string {
	header, lines := p.render(value, nil)
	text := p.scalar(name, plainStyle, false) + ":"
	if header != "" {
		text += " " + header
	}
	indent := p.unit
	if _, isList := value.([]any); isList {
		indent = strings.Repeat(" ", p.dash)
	}
	return append([]string{text}, indented(lines, indent)...)
}

func indented(lines []string, indent string) []string {
	for i, line := range lines {
		if line != "" {
			lines[i] = indent + line
		}
	}
	return lines
}

// render is a value in block style: what stands behind its key, and the lines
// below, without indentation. It keeps the way in which old is written, when old
// is not nil and that way will do.
func (p *plan) render(value any, old *node) (header string, lines []string) {
	quote := plainStyle
	if old != nil && old.kind == scalarNode {
		quote = old.style
	}
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 || old != nil && old.style == flowStyle && (len(old.entries) > 0 || len(old.items) > 0) {
			return p.flow(value), nil
		}
		for _, name := range sortedKeys(value) {
			lines = append(lines, p.entryLines(name, value[name])...)
		}
		return "", lines
	case []any:
		if len(value) == 0 || old != nil && old.style == flowStyle && (len(old.entries) > 0 || len(old.items) > 0) {
			return p.flow(value), nil
		}
		for _, item := range value {
			header, below := p.render(item, nil)
			if header == "" && len(below) > 0 {
				header, below = below[0], below[1:]
			}
			lines = append(lines, "- "+header)
			lines = append(lines, indented(below, "  ")...)
		}
		return "", lines
	case string:
		if quote != doubleQuoted && p.attempt < inQuotes && literal(value) {
			return p.literal(value)
		}
	}
	return p.scalar(value, quote, false), nil
}

// literal reports whether a string can be written as a | scalar: lines of text,
// the first of which does not begin with a space.
func literal(text string) bool {
	if !strings.Contains(strings.TrimRight(text, "\n"), "\n") || strings.ContainsAny(text[:1], " \t\n") {
		return false
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && !plainRune(r) {
			return false
		}
	}
	return true
}

func (p *plan) literal(text string) (header string, lines []string) {
	header = "|"
	trimmed := strings.TrimRight(text, "\n")
	switch len(text) - len(trimmed) {
	case 0:
		header = "|-"
	case 1:
		text = trimmed
	default:
		header = "|+"
		text = text[:len(text)-1]
	}
	return header, strings.Split(text, "\n")
}

// flow is a value in one line.
func (p *plan) flow(value any) string {
	var b strings.Builder
	p.appendFlow(&b, value)
	return b.String()
}

func (p *plan) appendFlow(b *strings.Builder, value any) {
	switch value := value.(type) {
	case map[string]any:
		b.WriteByte('{')
		for i, name := range sortedKeys(value) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(p.scalar(name, plainStyle, true))
			b.WriteString(": ")
			p.appendFlow(b, value[name])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range value {
			if i > 0 {
				b.WriteString(", ")
			}
			p.appendFlow(b, item)
		}
		b.WriteByte(']')
	default:
		b.WriteString(p.scalar(value, plainStyle, true))
	}
}

// scalar is a scalar in one line, quoted as wanted where the text allows it.
func (p *plan) scalar(value any, wanted style, inFlow bool) string {
	text, isString := value.(string)
	if !isString || p.format == JSON {
		return string(jsontree.Encode(value))
	}
	switch {
	case p.attempt >= inQuotes:
	case wanted == singleQuoted && isPlainText(text):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case wanted != doubleQuoted && isPlain(text, inFlow):
		return text
	}
	return quoted(text)
}

// isPlainText reports whether a string has nothing that needs an escape.
func isPlainText(text string) bool {
	for _, r := range text {
		if !plainRune(r) {
			return false
		}
	}
	return true
}

// plainRune reports whether a character is written as itself. The line ends of
// YAML 1.1 are not, nor is space that no one sees.
func plainRune(r rune) bool { return r == ' ' || printable(r) && unicode.IsPrint(r) }

// isPlain reports whether every reader takes a string without quotes for that
// string: those of YAML 1.1 as well, to whom yes is true and 1_000 a number.
func isPlain(text string, inFlow bool) bool {
	if text == "" || len(text) > 1000 || strings.ContainsAny(text[:1], "-?:,[]{}#&*!|>'\"%@`= ") || strings.HasSuffix(text, " ") ||
		strings.HasSuffix(text, ":") || strings.Contains(text, ": ") || strings.Contains(text, " #") || !isPlainText(text) {
		return false
	}
	if inFlow && strings.ContainsAny(text, ",[]{}:") {
		return false
	}
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "<<", ".nan", ".inf", "+.inf", "-.inf":
		return false
	}
	if strings.ContainsAny(text[:1], "0123456789+.") {
		return strings.Trim(text, "0123456789abcdefABCDEFxXoO_.,:+-TtZz ") != ""
	}
	return true
}

// quoted is a string in double quotes (YAML 1.2.2, section 5.7).
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case plainRune(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// indentation is the step that maps of the document are indented by, and the
// columns by which the dash of a list stands behind the key of the list: what
// the document has first, else two.
func (d *Document) indentation() (unit string, dash int) {
	unit, dash = "", -1
	if d.root != nil {
		d.findIndentation(d.root, &unit, &dash)
	}
	if unit == "" {
		unit = "  "
	}
	if dash < 0 {
		dash = 2
	}
	return unit, dash
}

func (d *Document) findIndentation(n *node, unit *string, dash *int) (done bool) {
	for i := range n.entries {
		e := &n.entries[i]
		switch {
		case d.format == JSON:
			if inner := d.leading(d.lineStart(e.start)); d.alone(e.start) && strings.HasPrefix(inner, d.leading(d.lineStart(n.start))) {
				*unit = strings.TrimPrefix(inner, d.leading(d.lineStart(n.start)))
			}
			return true
		case n.style != blockStyle || e.value.style != blockStyle || e.value.body != e.value.start:
			continue
		}
		step := d.column(e.value.start) - d.column(e.start)
		if e.value.kind == listNode && *dash < 0 && step >= 0 {
			*dash = step
		}
		if e.value.kind == mapNode && *unit == "" && step > 0 && step < 10 {
			*unit = strings.Repeat(" ", step)
		}
		if *unit != "" && *dash >= 0 || d.findIndentation(e.value, unit, dash) {
			return true
		}
	}
	return false
}
