package document

import (
	"encoding/json"

	"hardshell/internal/jsontree"
)

// parseJSON reads JSON with comments and with commas behind last members. The
// standard library has neither, and says nothing of positions and of keys that
// appear twice.
func (d *Document) parseJSON() (*node, *Error) {
	r := jsonReader{document: d, at: d.skipSpace(d.base)}
	if r.at == len(d.data) {
		return nil, r.checkComments(d.base, r.at)
	}
	if err := r.checkComments(d.base, r.at); err != nil {
		return nil, err
	}
	root, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if err := r.space(); err != nil {
		return nil, err
	}
	if r.at < len(d.data) {
		return nil, r.fail("the document is one value; something follows it here")
	}
	return root, nil
}

// jsonReader reads values from an offset on.
type jsonReader struct {
	document *Document
	at       int
}

func (r *jsonReader) fail(message string) *Error {
	return r.document.fail(r.at, Syntax, message)
}

// space skips space and comments.
func (r *jsonReader) space() *Error {
	from := r.at
	r.at = r.document.skipSpace(from)
	return r.checkComments(from, r.at)
}

// checkComments refuses a comment that the end of the document cuts off, and a
// byte order mark behind the beginning.
func (r *jsonReader) checkComments(from, to int) *Error {
	data := r.document.data
	for at := from; at < to; {
		switch c := data[at]; {
		case c == '/':
			end := r.document.commentEnd(at)
			if data[at+1] == '*' && (end-at < 4 || string(data[end-2:end]) != "*/") {
				return r.document.fail(at, Syntax, "this comment is not closed")
			}
			at = end
		case c == '\xef':
			return r.document.fail(at, Syntax, "a byte order mark may stand at the beginning only")
		default:
			at++
		}
	}
	return nil
}

// peek is the next byte, or 0 at the end.
func (r *jsonReader) peek() byte {
	if r.at < len(r.document.data) {
		return r.document.data[r.at]
	}
	return 0
}

// value reads the value at r.at.
func (r *jsonReader) value(depth int) (*node, *Error) {
	if depth > jsontree.MaxDepth {
		return nil, r.document.fail(r.at, TooDeep, tooDeep)
	}
	n := &node{start: r.at, body: r.at, style: flowStyle}
	var err *Error
	switch c := r.peek(); {
	case c == '{':
		n.kind = mapNode
		err = r.members(n, depth)
	case c == '[':
		n.kind = listNode
		err = r.items(n, depth)
	case c == '"':
		n.style = doubleQuoted
		if n.text, err = r.text(); err == nil {
			n.value = n.text
		}
	case c == 0:
		err = r.fail("the document ends where a value should follow")
	default:
		n.style = plainStyle
		err = r.literal(n)
	}
	n.end = r.at
	return n, err
}

// members reads an object.
func (r *jsonReader) members(n *node, depth int) *Error {
	r.at++
	for {
		if err := r.space(); err != nil {
			return err
		}
		if r.peek() == '}' {
			r.at++
			return nil
		}
		if r.peek() != '"' {
			return r.fail("a key in double quotes is expected here")
		}
		key := &node{start: r.at, body: r.at, style: doubleQuoted}
		var err *Error
		if key.text, err = r.text(); err != nil {
			return err
		}
		key.end = r.at
		if err := r.space(); err != nil {
			return err
		}
		if r.peek() != ':' {
			return r.fail("a colon is expected here, behind the key")
		}
		r.at++
		colon := r.at
		if err := r.space(); err != nil {
			return err
		}
		value, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.entries = append(n.entries, entry{name: key.text, key: key, value: value, start: key.start, colon: colon})
		if err := r.separator('}'); err != nil {
			return err
		}
	}
}

// items reads an array.
func (r *jsonReader) items(n *node, depth int) *Error {
	r.at++
	for {
		if err := r.space(); err != nil {
			return err
		}
		if r.peek() == ']' {
			r.at++
			return nil
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
		if err := r.separator(']'); err != nil {
			return err
		}
	}
}

// separator skips a comma, or finds the bracket that closes.
func (r *jsonReader) separator(closing byte) *Error {
	if err := r.space(); err != nil {
		return err
	}
	switch r.peek() {
	case ',':
		r.at++
		return nil
	case closing:
		return nil
	default:
		return r.fail("a comma or a " + string(rune(closing)) + " is expected here")
	}
}

// text reads a string.
func (r *jsonReader) text() (string, *Error) {
	d := r.document
	start, escaped := r.at, false
	for i := start + 1; i < len(d.data); i++ {
		switch c := d.data[i]; {
		case c == '\\':
			escaped = true
			i++
		case c < 0x20:
			r.at = i
			return "", r.fail("a string holds a line end or a tab; write it as an escape")
		case c == '"':
			text := string(d.data[start+1 : i])
			if escaped && json.Unmarshal(d.data[start:i+1], &text) != nil {
				return "", r.fail("an escape in this string is not one of JSON")
			}
			r.at = i + 1
			return text, nil
		}
	}
	return "", r.fail("this string is not closed")
}

// literal reads a number, true, false or null.
func (r *jsonReader) literal(n *node) *Error {
	data := r.document.data
	end := r.at
	for end < len(data) {
		c := data[end]
		word := c == '+' || c == '-' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !word {
			break
		}
		end++
	}
	n.text = string(data[r.at:end])
	switch n.text {
	case "null":
	case "true", "false":
		n.value = n.text == "true"
	default:
		if !json.Valid([]byte(n.text)) {
			return r.fail("this is no JSON value; strings stand between double quotes")
		}
		n.value = json.Number(n.text)
		if !jsontree.ValidNumber(n.text) {
			n.problem = Number
		}
	}
	r.at = end
	return nil
}
