package document

import (
	"hardshell/internal/jsontree"
)

type kind uint8

const (
	scalarNode kind = iota
	mapNode
	listNode
	aliasNode
)

// style is how a node is written.
type style uint8

const (
	plainStyle style = iota
	doubleQuoted
	singleQuoted
	literalStyle
	foldedStyle
	// blockStyle is a map or list by indentation, flowStyle one in brackets. A
	// scalar is none of both.
	blockStyle
	flowStyle
)

// unknown stands for an offset that could not be told.
const unknown = -1

// node is a value and where it is written. Offsets are into Document.data.
type node struct {
	kind  kind
	style style
	// start is the first byte, properties included; body is the first byte
	// behind the properties; end is behind the last byte, and before a line end.
	// A value that is not written has all three at the place for it.
	start, body, end int
	// head is behind the colon before the value of an entry, or unknown.
	head int
	// anchor is the name after &; of an alias, the name after *.
	anchor string
	// references counts the aliases of this node.
	references int
	// tagged is set when a tag is written.
	tagged bool
	// target is what an alias stands for; cyclic is set when it holds the alias.
	// There are no longer cycles: an anchor stands before its aliases.
	target  *node
	cyclic  bool
	entries []entry
	items   []*node
	// text is what a scalar says, without quotes and escapes.
	text string
	// value is what a scalar means.
	value any
	// problem says why the node itself is no JSON data; it is "" otherwise.
	problem Reason
}

// entry is one key of a map with its value.
type entry struct {
	name       string
	key, value *node
	// start is the first byte of the entry: of a "?" or of the key.
	start int
	// colon is behind the colon, or unknown when there is none.
	colon int
}

// end is behind the last byte of the entry.
func (e *entry) end() int {
	if e.colon == unknown {
		return e.key.end
	}
	return e.value.end
}

// written reports whether the value has any text.
func (n *node) written() bool { return n.end == unknown || n.end > n.start }

// walk calls visit for n and everything in it, keys included. It does not go
// through aliases.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for i := range n.entries {
		n.entries[i].key.walk(visit)
		n.entries[i].value.walk(visit)
	}
	for _, item := range n.items {
		item.walk(visit)
	}
}

// maxExpanded bounds how many nodes the aliases of a document may add.
const maxExpanded = 1 << 17

// builder makes trees of nodes.
type builder struct {
	document *Document
	// alias is the outermost alias that the builder is in; expanded are the nodes
	// and bytes that it built in any.
	alias           *node
	expanded, bytes int
	problem         *Error
}

// sections returns the root map.
func (b *builder) sections(root *node) (map[string]any, *Error) {
	if root == nil || root.kind == scalarNode && root.value == nil && root.problem == "" {
		return nil, nil
	}
	if root.kind != mapNode {
		return nil, b.document.fail(root.body, NotAMap, "the document must be a map of sections")
	}
	if root.problem != "" {
		return nil, b.document.fail(root.start, root.problem, noJSON)
	}
	sections := make(map[string]any, len(root.entries))
	for i := range root.entries {
		e := &root.entries[i]
		if _, twice := sections[e.name]; twice {
			return nil, b.document.fail(e.key.start, DuplicateKey, duplicateKey)
		}
		b.problem = nil
		section, err := b.value(e.value, 1)
		if err != nil {
			return nil, err
		}
		switch {
		case e.key.problem != "":
			return nil, b.document.fail(e.key.start, e.key.problem, noJSON)
		case b.problem != nil:
			sections[e.name] = b.problem
		default:
			sections[e.name] = section
		}
	}
	return sections, nil
}

const duplicateKey = "this key appears twice in one map; remove one of the two"

// value returns the tree of n. What makes its section no JSON data is noted in
// b.problem; what makes the document none is returned.
func (b *builder) value(n *node, depth int) (any, *Error) {
	if b.alias != nil {
		b.expanded++
		b.bytes += len(n.text)
		switch {
		case depth > jsontree.MaxDepth:
			return nil, b.document.fail(b.alias.start, TooDeep, "with this alias "+tooDeep)
		case b.expanded > maxExpanded || b.bytes > MaxSize:
			return nil, b.document.fail(b.alias.start, Alias, "the aliases of the document expand to too much data")
		}
	}
	b.note(n)
	switch n.kind {
	case aliasNode:
		return b.target(n, depth)
	case mapNode:
		tree := make(map[string]any, len(n.entries))
		for i := range n.entries {
			e := &n.entries[i]
			if _, twice := tree[e.name]; twice {
				return nil, b.document.fail(e.key.start, DuplicateKey, duplicateKey)
			}
			b.note(e.key)
			value, err := b.value(e.value, depth+1)
			if err != nil {
				return nil, err
			}
			tree[e.name] = value
		}
		return tree, nil
	case listNode:
		tree := make([]any, len(n.items))
		for i, item := range n.items {
			value, err := b.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			tree[i] = value
		}
		return tree, nil
	default:
		return n.value, nil
	}
}

const noJSON = "this value is no JSON data; write a string, a number that is finite, true, false, null, a list or a map"

// note keeps the first problem of a section.
func (b *builder) note(n *node) {
	if n.problem != "" && b.problem == nil {
		b.document.markPositions()
		b.problem = b.document.fail(n.start, n.problem, noJSON)
	}
}

// tooDeep names jsontree.MaxDepth.
const tooDeep = "the data is nested deeper than 256 levels"

// target builds what an alias stands for anew, so that no two places of the tree
// share a map.
func (b *builder) target(n *node, depth int) (any, *Error) {
	if n.cyclic {
		return nil, b.document.fail(n.start, Alias, "this alias contains itself")
	}
	if b.alias == nil {
		b.alias = n
		defer func() { b.alias = nil }()
	}
	return b.value(n.target, depth)
}
