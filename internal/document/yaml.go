package document

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
	"hardshell/internal/jsontree"
)

// parseYAML reads the one document of the stream. The parser gives structure and
// positions; meaning is found here.
func (d *Document) parseYAML() (*node, *Error) {
	text, back, ok := withoutOldBreaks(d.withoutVersion())
	if !ok {
		return nil, d.fail(d.base, Encoding, "the document has a line end of an old kind (U+0085, U+2028, U+2029) among characters of every other; remove it")
	}
	c := conversion{document: d, back: back, at: locator{text: text, base: d.base, line: 1, column: 1}}
	loader, err := yaml.NewLoader(bytes.NewReader(text), yaml.WithPlugin(limits{}))
	if err != nil {
		return nil, d.fail(d.base, Syntax, "the YAML parser does not start")
	}
	var first, second yaml.Node
	switch err := load(loader, &first); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, c.syntax(err)
	}
	switch err := load(loader, &second); {
	case err == nil:
		return nil, d.fail(c.at.find(second.Line, second.Column), MultipleDocuments, "a second document begins here; a file of settings is one document")
	case !errors.Is(err, io.EOF):
		return nil, c.syntax(err)
	}
	if len(first.Content) == 0 {
		return nil, nil
	}
	root, failure := c.node(first.Content[0], -1, 0)
	if failure != nil {
		return nil, failure
	}
	if root.kind == scalarNode && !root.written() {
		return nil, nil
	}
	return root, nil
}

// load is loader.Load. The text comes from outside, so a parser that panics must
// not end the program.
func load(loader *yaml.Loader, into *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the parser broke")
		}
	}()
	return loader.Load(into)
}

// limits keeps the parser from nesting deeper than any tree may.
type limits struct{}

// CheckDepth allows one level more than a tree has: its error tells less.
func (limits) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > jsontree.MaxDepth+2 {
		return errTooDeep
	}
	return nil
}

// CheckAlias allows any: aliases are expanded, and bounded, by builder.
func (limits) CheckAlias(int, int) error { return nil }

var errTooDeep = errors.New("too deep")

// withoutVersion is the text behind the byte order mark, with a %YAML directive
// of any version 1.x made a comment of the same length: the parser knows 1.1
// only, and the syntax that people use is the same.
func (d *Document) withoutVersion() []byte {
	text := d.data[d.base:]
	version := -1
	for at := 0; at < len(text); {
		line, next := text[at:], len(text)
		if i := bytes.IndexAny(line, "\r\n"); i >= 0 {
			line, next = line[:i], at+i+1
		}
		switch words := strings.Fields(string(line[:min(len(line), 64)])); {
		case bytes.HasPrefix(line, []byte("---")):
			if version < 0 {
				return text
			}
			masked := bytes.Clone(text)
			masked[version] = '#'
			return masked
		case len(words) == 0, words[0][0] == '#', words[0] == "%TAG":
		case version < 0 && words[0] == "%YAML" && line[0] == '%' && len(words) > 1 && minorVersion(words[1]):
			version = at
		default:
			return text
		}
		at = next
	}
	return text
}

func minorVersion(text string) bool {
	minor, ok := strings.CutPrefix(text, "1.")
	digits, rest := leadingDigits(minor)
	return ok && digits != "" && rest == ""
}

// conversion makes nodes of those of the parser.
type conversion struct {
	document *Document
	at       locator
	back     *strings.Replacer // see withoutOldBreaks
	// anchors are the nodes that aliases may name; open are those not closed yet.
	anchors map[*yaml.Node]*node
	open    map[*yaml.Node]bool
}

// node converts a node below a block collection at the column parent, which
// counts from 0 and is -1 at the root.
func (c *conversion) node(from *yaml.Node, parent, depth int) (*node, *Error) {
	d := c.document
	n := &node{head: unknown, start: c.at.find(from.Line, from.Column), anchor: c.original(from.Anchor), text: c.original(from.Value)}
	if depth > jsontree.MaxDepth {
		return nil, d.fail(n.start, TooDeep, tooDeep)
	}
	n.tagged = from.Style&yaml.TaggedStyle != 0 || from.Tag == "!"
	tag := ""
	if n.tagged {
		tag = from.Tag
	}
	n.body = n.start
	if n.tagged || n.anchor != "" || n.start < len(d.data) && d.data[n.start] == '!' {
		n.body = d.skipProperties(n)
	}
	if n.anchor != "" && from.Kind != yaml.AliasNode {
		if c.anchors == nil {
			c.anchors, c.open = map[*yaml.Node]*node{}, map[*yaml.Node]bool{}
		}
		c.anchors[from], c.open[from] = n, true
		defer delete(c.open, from)
	}
	switch from.Kind {
	case yaml.AliasNode:
		n.kind, n.anchor = aliasNode, n.text
		n.target, n.cyclic = c.anchors[from.Alias], c.open[from.Alias]
		if n.target == nil {
			return nil, d.fail(n.start, Alias, "this alias names no anchor")
		}
		n.target.references++
		n.end = d.nameEnd(n.start + 1)
	case yaml.MappingNode, yaml.SequenceNode:
		n.style = blockStyle
		if from.Style&yaml.FlowStyle != 0 {
			n.style = flowStyle
		}
		want := listTag
		if n.kind = listNode; from.Kind == yaml.MappingNode {
			n.kind, want = mapNode, mapTag
		}
		if tag != "" && tag != "!" && tag != want {
			n.problem = Tag
		}
		if err := c.content(n, from, parent, depth); err != nil {
			return nil, err
		}
	default:
		n.style = scalarStyle(from.Style)
		n.end = d.scalarEnd(n, parent)
		n.value, n.problem = resolve(n.text, tag, n.style == plainStyle)
	}
	return n, nil
}

// original is text as it stands in the document.
func (c *conversion) original(text string) string {
	if c.back == nil {
		return text
	}
	return c.back.Replace(text)
}

func scalarStyle(from yaml.Style) style {
	switch {
	case from&yaml.DoubleQuotedStyle != 0:
		return doubleQuoted
	case from&yaml.SingleQuotedStyle != 0:
		return singleQuoted
	case from&yaml.LiteralStyle != 0:
		return literalStyle
	case from&yaml.FoldedStyle != 0:
		return foldedStyle
	default:
		return plainStyle
	}
}

// content converts what a collection holds.
func (c *conversion) content(n *node, from *yaml.Node, parent, depth int) *Error {
	d := c.document
	if n.style == blockStyle {
		// The column of the first "-", "?" or key.
		parent = d.column(d.skipSpace(n.body))
	}
	if n.kind == listNode {
		n.items = make([]*node, len(from.Content))
		for i, content := range from.Content {
			item, err := c.node(content, parent, depth+1)
			if err != nil {
				return err
			}
			n.items[i] = item
		}
	} else {
		n.entries = make([]entry, len(from.Content)/2)
		for i := range n.entries {
			if err := c.entry(n, &n.entries[i], from.Content[2*i:2*i+2], parent, depth); err != nil {
				return err
			}
		}
	}
	n.end = d.collectionEnd(n)
	return nil
}

func (c *conversion) entry(n *node, e *entry, from []*yaml.Node, parent, depth int) *Error {
	d := c.document
	key, err := c.node(from[0], parent, depth+1)
	if err != nil {
		return err
	}
	named := key
	if key.kind == aliasNode {
		named = key.target
	}
	switch {
	case named.kind != scalarNode:
		return d.fail(key.start, ComplexKey, "a map or list cannot be a key; write a string")
	case key.kind == scalarNode && key.style == plainStyle && key.text == "<<" && !key.tagged,
		from[0].Tag == "!!merge" && key.tagged:
		return d.fail(key.start, MergeKey, "<< is not expanded; write the keys out, or quote it to mean the string")
	}
	e.key, e.name, e.start = key, named.text, key.start
	// Keys are what they say: 0x1F and ~ as well, so a key is never a problem
	// for its value. Its tag may be.
	if key.problem == Number {
		key.problem = ""
	}
	if e.value, err = c.node(from[1], parent, depth+1); err != nil {
		return err
	}
	if n.style == blockStyle {
		if mark := d.questionMark(key.start); mark != unknown {
			e.start = mark
		}
	}
	e.colon = d.colonAfter(key.end, e.value.start)
	e.value.head = e.colon
	return nil
}

// syntax returns what an error of the parser says, without its text: that may
// hold some of the document.
func (c *conversion) syntax(err error) *Error {
	d := c.document
	var failure *yaml.LoadError
	if !errors.As(err, &failure) {
		return d.fail(d.base, Syntax, "the YAML is not well-formed")
	}
	mark := failure.Mark
	reason, message := Syntax, "the YAML is not well-formed here"
	for _, known := range syntaxMessages {
		if strings.Contains(failure.Message, known.part) {
			reason, message = known.reason, known.message
			if known.context && failure.ContextMark.Line > 0 {
				mark = failure.ContextMark
			}
			break
		}
	}
	at := c.at.find(mark.Line, mark.Column)
	if reason == Syntax && at < len(d.data) && d.data[at] == '\t' {
		reason, message = Tab, "a tab cannot indent; use spaces"
	}
	return d.fail(at, reason, message)
}

// syntaxMessages turns parts of what the parser says into reasons. The context
// is where the thing began that is wrong.
var syntaxMessages = []struct {
	part    string
	context bool
	reason  Reason
	message string
}{
	{errTooDeep.Error(), false, TooDeep, tooDeep},
	{"unknown anchor", false, Alias, "this alias names no anchor above it"},
	{"tab", false, Tab, "a tab cannot indent; use spaces"},
	{"undefined tag handle", false, Tag, "this tag has an unknown prefix; remove it"},
	{"could not find expected ':'", true, Syntax, "a colon is missing behind this key"},
	{"found unexpected end of stream", true, Syntax, "this is not closed before the end of the document"},
	{"mapping values are not allowed", false, Syntax, "a second colon in one line; quote the value"},
	{"did not find expected ',' or '}'", true, Syntax, "this map is not closed by a }"},
	{"did not find expected ',' or ']'", true, Syntax, "this list is not closed by a ]"},
	{"did not find expected <document start>", false, Syntax, "the indentation does not match the lines above"},
	{"did not find expected key", false, Syntax, "a key is expected here; check the indentation"},
	{"cannot start any token", false, Syntax, "no value can begin with this character; quote it"},
	{"unknown escape character", false, Syntax, "this escape is not one of YAML; write two backslashes for one"},
}
