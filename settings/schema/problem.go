package schema

import (
	"strconv"
	"strings"

	"hardshell/internal/jsontree"
)

// Problem is one violation. No part of it contains a value of the document.
type Problem struct {
	// Path is where, from "$" on: $.models[0].name.
	Path string `json:"path"`
	// Keyword is the keyword of the schema that is violated.
	Keyword string `json:"keyword"`
	// Message says what to do, and completes a sentence that begins with Path:
	// "must be at least 1".
	Message string `json:"message"`
}

// String is the problem as one line.
func (p Problem) String() string { return p.Path + " " + p.Message }

// trail is the way from the root to a place, written out only when it is asked
// for. The root is nil.
type trail struct {
	above *trail
	key   string
	index int // of an item; -1 behind a key
}

func (t *trail) down(key string) *trail { return &trail{t, key, -1} }
func (t *trail) item(index int) *trail  { return &trail{t, "", index} }
func (t *trail) String() string         { return string(t.append(nil)) }

func (t *trail) append(out []byte) []byte {
	if t == nil {
		return append(out, '$')
	}
	out = t.above.append(out)
	if t.index >= 0 {
		return append(strconv.AppendInt(append(out, '['), int64(t.index), 10), ']')
	}
	return append(out, strings.TrimPrefix(jsontree.Path{t.key}.String(), "$")...)
}
