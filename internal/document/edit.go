package document

import (
	"fmt"
	"maps"
	"slices"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
)

// Edit is one change of a document: to set the value at a path, or to unset what
// is there. The first key of a path names a section. The empty path is the whole
// document, whose value is a map.
type Edit struct {
	Path  jsontree.Path
	Unset bool
	// Value is a tree, see internal/jsontree; nil is null. Unused by Unset.
	Value any
}

// Diff returns the edits that turn the tree old at path into the tree new. They
// go through maps, and replace lists and scalars whole. Their order depends on
// nothing but the trees.
func Diff(path jsontree.Path, old, new any) []Edit {
	was, wasMap := old.(map[string]any)
	is, isMap := new.(map[string]any)
	if !wasMap || !isMap {
		if jsontree.Equal(old, new) {
			return nil
		}
		return []Edit{{Path: path, Value: new}}
	}
	var edits []Edit
	for _, key := range slices.Sorted(maps.Keys(was)) {
		if _, stays := is[key]; !stays {
			edits = append(edits, Edit{Path: below(path, key), Unset: true})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if value, present := was[key]; present {
			edits = append(edits, Diff(below(path, key), value, is[key])...)
		} else {
			edits = append(edits, Edit{Path: below(path, key), Value: is[key]})
		}
	}
	return edits
}

func below(path jsontree.Path, key string) jsontree.Path {
	return append(slices.Clip(path), key)
}

// Apply returns the document with edits made, one after the other: a new one,
// whose text differs from this one in what the edits change. A key that is set
// to what it holds already is left alone, so that a document may come back as it
// was; maps on the way to a key are made; what is not there may be unset.
//
// The new text is read again and must hold exactly the data that the edits ask
// for. When no such text can be found, when an edit would change what an alias
// shares with its anchor, or when a path leads through a value that is no map,
// the error says so and nothing has changed. Errors are *Error; a path through a
// value that is no map is PATH_NOT_CONTAINER; a value that is no tree is a
// *jsontree.NotJSON.
//
// A comment belongs to the key below it when it stands right above it and is
// indented the same: it goes when the key goes. A comment at the top of the
// document stays. The last key of a map that goes leaves {} behind, the last
// section nothing.
func (d *Document) Apply(edits []Edit) (*Document, error) {
	wanted, _ := jsontree.Clone(d.sections).(map[string]any)
	if wanted == nil {
		wanted = map[string]any{}
	}
	for _, edit := range edits {
		var err error
		if wanted, err = edit.apply(wanted); err != nil {
			return nil, err
		}
	}
	if sameSections(d.sections, wanted) {
		return d, nil
	}
	if n := d.misplaced(); n != nil {
		return nil, d.fail(n.start, Layout, unsafe)
	}
	var refused *Error
	for a := asUsual; a <= inQuotes; a++ {
		p := newPlan(d, a)
		if err := p.sections(wanted); err != nil {
			return nil, err
		}
		edited, err := Parse(d.name, d.format, p.text())
		if err == nil && sameSections(edited.sections, wanted) {
			return edited, nil
		}
		refused = d.fail(p.first(), Layout, unsafe)
	}
	return nil, refused
}

const unsafe = "the text around this line cannot be edited safely; change it by hand"

// apply makes one edit to sections, which it may change.
func (e Edit) apply(sections map[string]any) (map[string]any, error) {
	value, err := jsontree.From(e.Value)
	if err != nil {
		return nil, err
	}
	if len(e.Path) == 0 {
		if e.Unset {
			return map[string]any{}, nil
		}
		whole, ok := value.(map[string]any)
		if !ok {
			return nil, fault.New(fault.InvalidArgument, "a document is a map of sections; it cannot be set to anything else")
		}
		return whole, nil
	}
	at := sections
	for i, key := range e.Path[:len(e.Path)-1] {
		switch next := at[key].(type) {
		case map[string]any:
			at = next
		case nil:
			if e.Unset {
				return sections, nil
			}
			made := map[string]any{}
			at[key], at = made, made
		case *Error:
			return nil, next
		default:
			return nil, fault.New(fault.PathNotContainer, "%s is no map; a path cannot go through it", e.Path[:i+1])
		}
	}
	last := e.Path[len(e.Path)-1]
	if e.Unset {
		delete(at, last)
	} else {
		at[last] = value
	}
	return sections, nil
}

// sameSections reports whether two documents hold the same data. Sections that
// hold none are the same when they are refused for the same reason.
func sameSections(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for name, section := range a {
		other, present := b[name]
		problem, broken := section.(*Error)
		otherProblem, otherBroken := other.(*Error)
		switch {
		case !present || broken != otherBroken:
			return false
		case broken:
			if problem.Reason != otherProblem.Reason {
				return false
			}
		case !jsontree.Equal(section, other):
			return false
		}
	}
	return true
}

// String is the edit without its value.
func (e Edit) String() string {
	verb := "set"
	if e.Unset {
		verb = "unset"
	}
	return fmt.Sprintf("%s %s", verb, e.Path)
}
