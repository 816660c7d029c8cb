package schema

import (
	"encoding/json"
	"strconv"
	"strings"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
)

// maxNodes bounds how many schemas one document consists of.
const maxNodes = 4096

// compiler turns a document into nodes.
type compiler struct {
	nodes    []*node
	bySource map[*object]*node
	byRef    map[string]*node
	defs     *object // the value of $defs
	refs     []pendingRef
}

type pendingRef struct {
	from   *node
	target string
}

// document compiles the whole of a document.
func (c *compiler) document(source any) (*node, error) {
	root, err := c.schema(source, "#")
	if err != nil {
		return nil, err
	}
	c.byRef["#"] = root
	for _, ref := range c.refs {
		if ref.from.ref = c.byRef[ref.target]; ref.from.ref == nil {
			return nil, refuse(ref.from.at, "$ref", "must name a schema of this document: # or #/$defs/NAME")
		}
	}
	state := make([]uint8, len(c.nodes))
	for _, n := range c.nodes {
		if !n.finish(state) {
			return nil, refuse(n.at, "$ref", "must not lead back to the same data")
		}
	}
	if root.admits&mapping == 0 {
		return nil, refuse("#", "type", "must be object: a section is a map of settings")
	}
	return root, nil
}

// refuse is the error about one keyword.
func refuse(at, keyword, why string) error {
	return fault.New(fault.SettingsInvalid, "the schema is not valid: %q at %s %s", keyword, at, why)
}

// schema compiles one schema of the document.
func (c *compiler) schema(source any, at string) (*node, error) {
	if len(c.nodes) >= maxNodes {
		return nil, fault.New(fault.SettingsInvalid, "the schema is not valid: it has more than %d parts", maxNodes)
	}
	n := &node{id: len(c.nodes), at: at, types: anything,
		minItems: -1, maxItems: -1, minLength: -1, maxLength: -1}
	n.self = []*node{n}
	c.nodes = append(c.nodes, n)
	switch source := source.(type) {
	case bool:
		n.never = !source
		return n, nil
	case *object:
		n.source = source
		c.bySource[source] = n
		for i, key := range source.keys {
			if err := c.keyword(n, key, source.values[i]); err != nil {
				return nil, err
			}
		}
		return n, n.settle()
	default:
		return nil, fault.New(fault.SettingsInvalid, "the schema is not valid: %s must be an object, true or false", at)
	}
}

// settle checks the keywords of a node that depend on each other.
func (n *node) settle() error {
	for _, range_ := range []struct {
		low, high         int
		lowName, highName string
	}{
		{n.minItems, n.maxItems, "minItems", "maxItems"},
		{n.minLength, n.maxLength, "minLength", "maxLength"},
	} {
		if range_.high >= 0 && range_.low > range_.high {
			return refuse(n.at, range_.lowName, "must not be more than "+range_.highName)
		}
	}
	return nil
}

// keyword compiles one key of a schema.
func (c *compiler) keyword(n *node, key string, value any) error {
	bad := func(why string) error { return refuse(n.at, key, why) }
	var err error
	switch key {
	case "type":
		return n.setTypes(value)
	case "properties":
		return c.properties(n, value)
	case "additionalProperties":
		if value == false {
			n.closed = true
			return nil
		}
		n.additional, err = c.schema(value, n.at+"/additionalProperties")
	case "propertyNames":
		return n.setNames(value)
	case "items":
		n.items, err = c.schema(value, n.at+"/items")
	case "prefixItems":
		n.prefix, err = c.schemas(n, key, value)
	case "allOf":
		n.allOf, err = c.schemas(n, key, value)
	case "anyOf", "oneOf":
		u := union{keyword: key, exclusive: key == "oneOf"}
		if u.branches, err = c.schemas(n, key, value); err == nil {
			u.choices = choicesOf(u.branches)
			n.unions = append(n.unions, u)
		}
	case "$ref":
		target, ok := value.(string)
		if !ok {
			return bad("must be a string")
		}
		c.refs = append(c.refs, pendingRef{n, target})
	case "$defs":
		return c.definitions(n, value)
	case "required":
		return n.setRequired(value)
	case "enum":
		values, ok := value.([]any)
		if !ok || len(values) == 0 {
			return bad("must be a list of at least one value")
		}
		n.hasEnum = true
		for _, v := range values {
			n.enum = append(n.enum, plain(v))
		}
	case "const":
		n.constant, n.hasConst = plain(value), true
	case "default":
		n.fallback, n.hasFallback = plain(value), true
	case "minItems", "maxItems", "minLength", "maxLength":
		count, ok := counted(value)
		if !ok {
			return bad("must be a whole number from 0 on")
		}
		*n.count(key) = count
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		bound, ok := value.(json.Number)
		if !ok || !jsontree.ValidNumber(string(bound)) {
			return bad("must be a number")
		}
		if key == "multipleOf" && jsontree.CompareNumbers(bound, "0") <= 0 {
			return bad("must be more than 0")
		}
		*n.bound(key) = bound
	case "uniqueItems":
		return n.setFlag(&n.unique, key, value)
	case "deprecated":
		return n.setFlag(&n.deprecated, key, value)
	case "writeOnly":
		flag := false
		err = n.setFlag(&flag, key, value)
		n.secret = n.secret || flag
	case "readOnly":
		return n.setFlag(new(bool), key, value)
	case "pattern":
		n.pattern, err = n.compilePattern(key, value)
	case "title":
		return n.setText(&n.title, key, value)
	case "description":
		return n.setText(&n.description, key, value)
	case "format", "$comment", "x-dsh-widget", "x-dsh-link":
		return n.setText(new(string), key, value)
	case "examples":
		if _, ok := value.([]any); !ok {
			return bad("must be a list")
		}
	case "x-dsh-ui", "x-dsh-i18n":
		if _, ok := value.(*object); !ok {
			return bad("must be an object")
		}
	case "x-dsh-role":
		switch value {
		case "secret":
			n.secret = true
		case "text":
			n.reference = true
		case "credential-ref":
		default:
			return bad("must be secret, text or credential-ref")
		}
	case "$schema":
		if n.at != "#" || value != "https://json-schema.org/draft/2020-12/schema" {
			return bad("must stand at the root and name draft 2020-12")
		}
	default:
		return bad("is a keyword that cannot be proven; leave it out, or express it with the vocabulary of package schema")
	}
	return err
}

func (c *compiler) properties(n *node, value any) error {
	named, ok := value.(*object)
	if !ok {
		return refuse(n.at, "properties", "must be an object of schemas")
	}
	n.byName = make(map[string]*node, len(named.keys))
	for i, name := range named.keys {
		p, err := c.schema(named.values[i], n.at+"/properties/"+escape(name))
		if err != nil {
			return err
		}
		n.properties = append(n.properties, property{name, p})
		n.byName[name] = p
	}
	return nil
}

func (c *compiler) definitions(n *node, value any) error {
	if n.at != "#" {
		return refuse(n.at, "$defs", "must stand at the root of the document")
	}
	named, ok := value.(*object)
	if !ok {
		return refuse(n.at, "$defs", "must be an object of schemas")
	}
	c.defs = named
	for i, name := range named.keys {
		at := "#/$defs/" + escape(name)
		d, err := c.schema(named.values[i], at)
		if err != nil {
			return err
		}
		c.byRef[at] = d
	}
	return nil
}

func (c *compiler) schemas(n *node, key string, value any) ([]*node, error) {
	sources, ok := value.([]any)
	if !ok || len(sources) == 0 {
		return nil, refuse(n.at, key, "must be a list of at least one schema")
	}
	nodes := make([]*node, len(sources))
	for i, source := range sources {
		var err error
		if nodes[i], err = c.schema(source, n.at+"/"+key+"/"+strconv.Itoa(i)); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// choicesOf is the fixed set that a union is when every branch of it is a
// constant and what that is called; nil for any other union.
func choicesOf(branches []*node) []Choice {
	choices := make([]Choice, 0, len(branches))
	for _, b := range branches {
		if b.source == nil || !b.hasConst {
			return nil
		}
		for _, key := range b.source.keys {
			switch key {
			case "const", "title", "description", "deprecated", "$comment":
			default:
				return nil
			}
		}
		for _, other := range choices {
			if jsontree.Equal(other.Value, b.constant) {
				return nil // the union decides what a value that fits twice means
			}
		}
		choices = append(choices, Choice{b.constant, b.title})
	}
	return choices
}

// escape is a key as a token of a JSON Pointer (RFC 6901, section 3).
func escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}
