package gitdir

import "strings"

// entry is one line of a configuration. Section and name are in lower case. The
// section is "" before the first header, and after one that is none.
type entry struct {
	section, subsection, name, value string
}

// parseConfig reads a configuration as git does (git-config(1), "Syntax"). A
// line that git would die of is left out and makes valid false. No include is
// followed.
func parseConfig(data []byte) (entries []entry, valid bool) {
	p := configParser{text: strings.TrimPrefix(string(data), "\ufeff"), valid: true}
	p.text = strings.ReplaceAll(p.text, "\r\n", "\n")
	for p.at < len(p.text) {
		switch c := p.next(); {
		case c == '\n' || isBlank(c):
		case c == '#' || c == ';':
			p.skipLine()
		case c == '[':
			p.header()
		case isLetter(c):
			p.at--
			p.variable()
		default:
			p.fail()
		}
	}
	return p.entries, p.valid
}

type configParser struct {
	text                string
	at                  int
	section, subsection string
	entries             []entry
	valid               bool
}

// next returns the next byte; the end of the text reads as the end of a line.
func (p *configParser) next() byte {
	if p.at >= len(p.text) {
		p.at++
		return '\n'
	}
	p.at++
	return p.text[p.at-1]
}

// skipLine goes behind the end of the line of the byte that was read last.
func (p *configParser) skipLine() {
	for p.at < len(p.text) && p.text[p.at-1] != '\n' {
		p.at++
	}
}

// fail drops the rest of the line.
func (p *configParser) fail() {
	p.valid = false
	if p.at > len(p.text) {
		return
	}
	p.skipLine()
}

// header reads what follows a bracket: [section "subsection"], or the old
// [section.subsection], which git reads without regard to case.
func (p *configParser) header() {
	p.section, p.subsection = "", ""
	start := p.at
	for {
		c := p.next()
		if c == ']' || isBlank(c) {
			name := strings.ToLower(p.text[start : p.at-1])
			section, subsection, _ := strings.Cut(name, ".")
			if isBlank(c) {
				section, subsection = name, ""
				quoted, ok := p.subsectionName()
				if !ok {
					return
				}
				subsection = quoted
			}
			p.section, p.subsection = section, subsection
			return
		}
		if !isLetter(c) && !isDigit(c) && c != '-' && c != '.' {
			p.fail()
			return
		}
	}
}

// subsectionName reads a quoted name and the bracket behind it.
func (p *configParser) subsectionName() (string, bool) {
	c := p.next()
	for isBlank(c) {
		c = p.next()
	}
	if c != '"' {
		p.fail()
		return "", false
	}
	var name strings.Builder
	for {
		switch c := p.next(); c {
		case '\n':
			p.fail()
			return "", false
		case '"':
			if p.next() != ']' {
				p.fail()
				return "", false
			}
			return name.String(), true
		case '\\':
			c = p.next()
			if c == '\n' {
				p.fail()
				return "", false
			}
			name.WriteByte(c)
		default:
			name.WriteByte(c)
		}
	}
}

// variable reads a name and its value. A name alone means true.
func (p *configParser) variable() {
	start := p.at
	c := p.next()
	for isLetter(c) || isDigit(c) || c == '-' {
		c = p.next()
	}
	name := strings.ToLower(p.text[start : p.at-1])
	for isBlank(c) {
		c = p.next()
	}
	value := "true"
	switch c {
	case '\n':
	case '=':
		var ok bool
		if value, ok = p.value(); !ok {
			p.fail()
			return
		}
	default:
		p.fail()
		return
	}
	p.entries = append(p.entries, entry{p.section, p.subsection, name, value})
}

// value reads up to the end of the line. Blanks at both ends and comments do
// not belong to it unless they are quoted; a backslash continues the line.
func (p *configParser) value() (string, bool) {
	var value strings.Builder
	quoted, comment, length := false, false, 0
	for {
		c := p.next()
		switch {
		case c == '\n':
			return value.String()[:length], !quoted
		case comment:
			continue
		case !quoted && isBlank(c):
			if value.Len() > 0 {
				value.WriteByte(c)
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			comment = true
			continue
		case c == '"':
			quoted = !quoted
		case c == '\\':
			switch c = p.next(); c {
			case '\n':
				continue
			case 't':
				value.WriteByte('\t')
			case 'b':
				value.WriteByte('\b')
			case 'n':
				value.WriteByte('\n')
			case '\\', '"':
				value.WriteByte(c)
			default:
				return "", false
			}
		default:
			value.WriteByte(c)
		}
		length = value.Len()
	}
}

func isBlank(c byte) bool  { return c == ' ' || c == '\t' || c == '\r' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// last returns the value of section.name, without a subsection, that counts.
func last(entries []entry, section, name string) (value string, ok bool) {
	for _, e := range entries {
		if e.section == section && e.subsection == "" && e.name == name {
			value, ok = e.value, true
		}
	}
	return value, ok
}

// isTrue reads a boolean as git does; what is none is taken as true, the
// careful answer wherever it is asked here.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off", "0":
		return false
	default:
		return true
	}
}
