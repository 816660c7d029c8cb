package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
)

// Op is one edit of a section at a path of map keys. Any string is a key; the
// items of lists have no paths, so a list is set whole. It reads from JSON as
// {"op":"set","path":["a","b"],"value":1} or {"op":"unset","path":["a"]}.
type Op struct {
	// Op is "set" or "unset".
	Op string `json:"op"`
	// Path is empty for the section itself; nil is no path and refused.
	Path []string `json:"path"`
	// Value is what "set" puts there, any JSON data; the maps on the way are made.
	// Nil is no value and refused: a null is json.RawMessage("null").
	Value any `json:"value,omitempty"`
}

// Set puts a value at a path. A nil value is a null.
func Set(value any, path ...string) Op {
	if value == nil {
		value = json.RawMessage("null")
	}
	return Op{Op: "set", Path: append([]string{}, path...), Value: value}
}

// Unset takes away what is at a path, so that the layers below show again. That
// nothing is there is no failure.
func Unset(path ...string) Op { return Op{Op: "unset", Path: append([]string{}, path...)} }

// UnmarshalJSON implements json.Unmarshaler: the value is kept as it is written,
// and a null is told from a missing one. Unknown keys are ignored.
func (o *Op) UnmarshalJSON(data []byte) error {
	// A pointer tells a null key from a string.
	var raw struct {
		Op    string          `json:"op"`
		Path  []*string       `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) {
			return fault.New(fault.InvalidArgument, "a settings edit is {\"op\":\"set\",\"path\":[…],\"value\":…} or {\"op\":\"unset\",\"path\":[…]}: %q has another type", mismatch.Field)
		}
		return fault.New(fault.InvalidArgument, "a settings edit is broken JSON")
	}
	*o = Op{Op: raw.Op}
	if raw.Value != nil {
		o.Value = raw.Value
	}
	if raw.Path != nil {
		o.Path = make([]string, len(raw.Path))
	}
	for i, key := range raw.Path {
		if key == nil {
			return fault.New(fault.InvalidArgument, "the path of a settings edit is a list of strings: element %d is null", i)
		}
		o.Path[i] = *key
	}
	return nil
}

// edits are ops whose shapes are right and whose values are trees.
type edits struct {
	ns  Namespace
	ops []Op
}

// readOps checks ops, and takes the snapshot of them.
func readOps(ns Namespace, ops []Op) (edits, error) {
	read := edits{ns: ns, ops: make([]Op, len(ops))}
	for i, op := range ops {
		if op.Op != "set" && op.Op != "unset" {
			return edits{}, fault.New(fault.InvalidArgument, "edit %d of the settings of %q: op must be \"set\" or \"unset\"", i, string(ns))
		}
		if op.Path == nil {
			return edits{}, fault.New(fault.InvalidArgument, "edit %d of the settings of %q has no path: give a list of keys, an empty one for the whole section", i, string(ns))
		}
		for _, key := range op.Path {
			if !utf8.ValidString(key) {
				return edits{}, fault.New(fault.InvalidArgument, "edit %d of the settings of %q: a key of its path is not UTF-8", i, string(ns))
			}
		}
		checked := Op{Op: op.Op, Path: append([]string{}, op.Path...)}
		if op.Op == "set" {
			if op.Value == nil {
				return edits{}, fault.New(fault.InvalidArgument, "edit %d of the settings of %q has no value: give one, or unset the path", i, string(ns))
			}
			value, err := jsontree.From(op.Value)
			if err != nil {
				return edits{}, notJSON(ns, fmt.Sprintf("$.ops[%d].value", i), err)
			}
			if _, ok := value.(map[string]any); !ok && len(op.Path) == 0 {
				return edits{}, fault.New(fault.InvalidArgument, "edit %d of the settings of %q sets the whole section to %s: give a map of settings", i, string(ns), kindOf(value))
			}
			checked.Value = value
		}
		read.ops[i] = checked
	}
	return read, nil
}

// nulls are the paths at which the edits say null.
func (e edits) nulls() []jsontree.Path {
	var found []jsontree.Path
	for _, op := range e.ops {
		if op.Op == "set" {
			for _, path := range nullsIn(op.Value) {
				found = append(found, append(append(jsontree.Path{}, op.Path...), path...))
			}
		}
	}
	return found
}

// apply returns the section after all edits.
func (e edits) apply(section Section) (map[string]any, error) {
	ops := e.ops
	// An edit of the whole section needs nothing of what was there.
	var current map[string]any
	for i, op := range ops {
		if len(op.Path) > 0 {
			continue
		}
		current = map[string]any{}
		if op.Op == "set" {
			current = jsontree.Clone(op.Value).(map[string]any)
		}
		ops = e.ops[i+1:]
	}
	if current == nil {
		stored, err := asMap(e.ns, section)
		if err != nil {
			return nil, err
		}
		current = jsontree.Clone(stored).(map[string]any)
	}
	for _, op := range ops {
		if err := e.applyOne(current, op); err != nil {
			return nil, err
		}
	}
	// A long path may have gone deeper than data may.
	if err := jsontree.Check(current); err != nil {
		return nil, notJSON(e.ns, "$", err)
	}
	return current, nil
}

// applyOne edits a section below its root.
func (e edits) applyOne(node map[string]any, op Op) error {
	last := len(op.Path) - 1
	for i, key := range op.Path[:last] {
		switch child := node[key].(type) {
		case map[string]any:
			node = child
		case nil:
			// Absent, or a null: a map all of whose keys are commented out.
			if op.Op == "unset" {
				return nil
			}
			made := map[string]any{}
			node[key] = made
			node = made
		default:
			return fault.New(fault.PathNotContainer, "%s in the settings of %q is %s, not a map: no path leads through it, so set it as a whole",
				jsontree.Path(op.Path[:i+1]), string(e.ns), kindOf(child))
		}
	}
	if op.Op == "unset" {
		delete(node, op.Path[last])
	} else {
		node[op.Path[last]] = jsontree.Clone(op.Value)
	}
	return nil
}
