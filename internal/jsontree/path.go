package jsontree

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Path names a place in a tree by the keys of maps that lead to it. Arrays have
// no places of their own.
type Path []string

// String is the path from "$" on: $.a.b, and $["an odd key"].
func (p Path) String() string {
	var b strings.Builder
	b.WriteByte('$')
	for _, key := range p {
		b.WriteString(segment(key))
	}
	return b.String()
}

// segment is a key as part of a path.
func segment(key string) string {
	if isName(key) {
		return "." + key
	}
	return "[" + string(appendString(nil, key)) + "]"
}

// isName reports whether a key needs no quotes: [A-Za-z_][A-Za-z0-9_-]*.
func isName(key string) bool {
	for i := range len(key) {
		c := key[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return key != ""
}

// ParsePath reads a path: keys between dots, and keys of any characters as JSON
// strings in brackets. "" and "$" are the root, and what String returns is read
// back.
func ParsePath(text string) (Path, error) {
	if !utf8.ValidString(text) {
		return nil, errPath(text, "it is not UTF-8")
	}
	rest := text
	if cut, ok := strings.CutPrefix(text, "$"); ok && (cut == "" || cut[0] == '.' || cut[0] == '[') {
		rest = strings.TrimPrefix(cut, ".")
		if cut != "" && rest == "" {
			return nil, errPath(text, "it ends with a dot")
		}
	}
	path := Path{}
	for rest != "" {
		var key string
		if rest[0] == '[' {
			decoder := json.NewDecoder(strings.NewReader(rest[1:]))
			token, err := decoder.Token()
			quoted, isString := token.(string)
			end := 1 + int(decoder.InputOffset())
			if err != nil || !isString || end >= len(rest) || rest[end] != ']' {
				return nil, errPath(text, `a bracket holds one key in double quotes, as in a["odd key"]`)
			}
			key, rest = quoted, rest[end+1:]
		} else {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return nil, errPath(text, "a key is missing before a dot")
			}
			key, rest = rest[:end], rest[end:]
		}
		path = append(path, key)
		if rest == "" {
			break
		}
		switch rest[0] {
		case '.':
			if rest = rest[1:]; rest == "" || rest[0] == '[' {
				return nil, errPath(text, "a key is missing after a dot")
			}
		case '[':
		default:
			return nil, errPath(text, "a dot is missing after a bracket")
		}
	}
	return path, nil
}

func errPath(text, why string) error { return fmt.Errorf("%q is no path: %s", text, why) }

// Get returns what stands at a path, and whether anything does.
func Get(tree any, path Path) (any, bool) {
	for _, key := range path {
		node, ok := tree.(map[string]any)
		if !ok {
			return nil, false
		}
		if tree, ok = node[key]; !ok {
			return nil, false
		}
	}
	return tree, true
}
