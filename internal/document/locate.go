package document

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Locate tells where the value at a path stands, in the lines and columns of
// errors. The path is in the words of errors: $.shell.roots[0], from the root of
// the document on. Of a map or list it is the place of its key; of what is not
// there, that of the innermost container on the way.
func (d *Document) Locate(path string) (line, column int) { return d.locate(path, false) }

// LocateKey is Locate, but that a scalar too is at the place of its key.
func (d *Document) LocateKey(path string) (line, column int) { return d.locate(path, true) }

func (d *Document) locate(path string, byKey bool) (line, column int) {
	at, offset := d.root, d.base
	for rest := strings.TrimPrefix(path, "$"); at != nil && rest != ""; {
		for at.kind == aliasNode {
			at = at.target
		}
		var key string
		var index int
		if key, index, rest = nextStep(rest); index >= 0 {
			if at.kind != listNode || index >= len(at.items) {
				break
			}
			at = at.items[index]
			offset = at.start
			continue
		}
		e := at.entry(key)
		if e == nil {
			break
		}
		at, offset = e.value, e.start
		if !byKey && at.kind == scalarNode && at.start != unknown && at.written() {
			offset = at.start
		}
	}
	return d.position(offset)
}

func (n *node) entry(key string) *entry {
	for i := range n.entries {
		if n.entries[i].name == key {
			return &n.entries[i]
		}
	}
	return nil
}

// nextStep takes a key, or an index, from the front of a path. Index is -1 for a
// key, and an empty rest ends the path.
func nextStep(path string) (key string, index int, rest string) {
	if path[0] != '[' {
		path = strings.TrimPrefix(path, ".")
		if end := strings.IndexAny(path, ".["); end >= 0 {
			return path[:end], -1, path[end:]
		}
		return path, -1, ""
	}
	if end := strings.IndexByte(path, ']'); end > 0 {
		if index, err := strconv.Atoi(path[1:end]); err == nil && index >= 0 {
			return "", index, path[end+1:]
		}
	}
	decoder := json.NewDecoder(strings.NewReader(path[1:]))
	if decoder.Decode(&key) != nil {
		return path, -1, ""
	}
	rest = path[1+decoder.InputOffset():]
	return key, -1, strings.TrimPrefix(rest, "]")
}
