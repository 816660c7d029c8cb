package document

import (
	"bytes"
	"maps"
	"slices"

	"hardshell/internal/jsontree"
)

// plan is a set of changes to the bytes of a document: spans that go, and text
// that comes. Spans may overlap.
type plan struct {
	*Document
	attempt attempt
	nl      string
	unit    string
	dash    int
	cuts    []span
	inserts []insert
	// gone are the nodes whose text goes or is replaced; touched are those that
	// stay, with something changed in them.
	gone, touched []*node
}

// attempt is how far a plan goes to have its text read as it was meant.
type attempt int

const (
	// asUsual writes what a person would.
	asUsual attempt = iota
	// besideText spares | and > scalars: a new key goes before one that the
	// document ends with, and blank lines below one go with the key between.
	besideText
	// inQuotes writes all strings in double quotes as well.
	inQuotes
)

type span struct{ from, to int }

type insert struct {
	at   int
	text string
}

func newPlan(d *Document, a attempt) *plan {
	p := &plan{Document: d, attempt: a, nl: d.lineBreak()}
	p.unit, p.dash = d.indentation()
	return p
}

func (p *plan) cut(from, to int) {
	if from < to {
		p.cuts = append(p.cuts, span{from, to})
	}
}

func (p *plan) insert(at int, text string) {
	p.inserts = append(p.inserts, insert{at, text})
}

// first is the first byte that changes.
func (p *plan) first() int {
	first := len(p.data)
	for _, c := range p.cuts {
		first = min(first, c.from)
	}
	for _, i := range p.inserts {
		first = min(first, i.at)
	}
	return first
}

func (p *plan) sortedCuts() []span {
	slices.SortStableFunc(p.cuts, func(a, b span) int { return a.from - b.from })
	return p.cuts
}

// text is the text of the document with the plan carried out.
func (p *plan) text() []byte {
	slices.SortStableFunc(p.inserts, func(a, b insert) int { return a.at - b.at })
	var out bytes.Buffer
	out.Grow(len(p.data) + 1024)
	at := 0
	inserts := p.inserts
	copyTo := func(to int, keep bool) {
		for len(inserts) > 0 && inserts[0].at <= to {
			if keep && at < inserts[0].at {
				out.Write(p.data[at:inserts[0].at])
			}
			at = max(at, inserts[0].at)
			out.WriteString(inserts[0].text)
			inserts = inserts[1:]
		}
		if keep && at < to {
			out.Write(p.data[at:to])
		}
		at = max(at, to)
	}
	for _, c := range p.sortedCuts() {
		copyTo(c.from, true)
		copyTo(c.to, false)
	}
	copyTo(len(p.data), true)
	return out.Bytes()
}

// refuse is an error about a node that no edit is known for.
func (p *plan) refuse(n *node) *Error {
	return p.fail(n.start, Layout, "this line is written in a way that cannot be edited safely; change it by hand")
}

// sections plans the change from the sections of the document to wanted.
func (p *plan) sections(wanted map[string]any) error {
	if err := p.root(wanted); err != nil {
		return err
	}
	if err := p.checkAliases(); err != nil {
		return err
	}
	return nil
}

func (p *plan) root(wanted map[string]any) *Error {
	root := p.Document.root
	switch {
	case p.format == JSON && (root == nil || root.kind != mapNode):
		p.fillJSON(root, wanted)
		return nil
	case root == nil || root.kind != mapNode || p.format == YAML && p.isEmptyFlow(root):
		return p.fill(root, wanted)
	default:
		return p.change(root, p.Document.sections, wanted)
	}
}

// change plans the change of a map that stays one.
func (p *plan) change(n *node, was, wanted map[string]any) *Error {
	if n.kind == aliasNode {
		return p.sharedBy(n)
	}
	if n.end == unknown {
		return p.refuse(n)
	}
	p.touched = append(p.touched, n)
	c := changes{of: n, gone: make([]bool, len(n.entries))}
	for i := range n.entries {
		e := &n.entries[i]
		before := was[e.name]
		after, stays := wanted[e.name]
		if !stays {
			c.gone[i] = true
			p.gone = append(p.gone, e.key, e.value)
			continue
		}
		if same(before, after) {
			continue
		}
		beforeMap, wasMap := before.(map[string]any)
		afterMap, isMap := after.(map[string]any)
		var err *Error
		// {} is written anew, in the style of what is around it.
		if wasMap && isMap && !p.isEmptyFlow(e.value) {
			err = p.change(e.value, beforeMap, afterMap)
		} else {
			err = p.replace(n, e, after)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if _, present := was[name]; !present {
			c.added = append(c.added, member{name, wanted[name]})
		}
	}
	if n.style == flowStyle {
		return p.changeFlow(c)
	}
	return p.changeBlock(c)
}

// isEmptyFlow reports whether n is {} without a comment in it.
func (p *plan) isEmptyFlow(n *node) bool {
	return n.kind == mapNode && n.style == flowStyle && len(n.entries) == 0 && n.end != unknown &&
		p.isBlank(n.body+1, n.end-1)
}

// same is jsontree.Equal for values that may be the problem of a section.
func same(a, b any) bool {
	problem, broken := a.(*Error)
	if broken {
		return b == any(problem)
	}
	if _, broken := b.(*Error); broken {
		return false
	}
	return jsontree.Equal(a, b)
}

// changes are those of the keys of one map. Values that change are planned by
// the time.
type changes struct {
	of    *node
	gone  []bool
	added []member
}

type member struct {
	name  string
	value any
}

// last is the index of the last entry that stays, or -1.
func (c *changes) last() int {
	for i := len(c.gone) - 1; i >= 0; i-- {
		if !c.gone[i] {
			return i
		}
	}
	return -1
}

// replace plans another value for an entry of the map in.
func (p *plan) replace(in *node, e *entry, value any) *Error {
	if e.value.kind == aliasNode {
		return p.sharedBy(e.value)
	}
	if e.value.end == unknown || e.key.end == unknown {
		return p.refuse(e.value)
	}
	p.gone = append(p.gone, e.value)
	if in.style == flowStyle {
		p.replaceInFlow(e, value)
		return nil
	}
	return p.replaceInBlock(e, value)
}

func (p *plan) sharedBy(alias *node) *Error {
	return p.fail(alias.start, Alias, "this value is an alias, which is never written out in silence; write the value here by hand first")
}

// checkAliases refuses a plan that would change, by way of an anchor, what an
// alias elsewhere stands for.
func (p *plan) checkAliases() error {
	left := map[*node]int{}
	for _, n := range p.gone {
		n.walk(func(n *node) {
			if n.kind == aliasNode {
				left[n.target]++
			}
		})
	}
	shared := func(n *node) *Error {
		if n.anchor == "" || n.kind == aliasNode || n.references <= left[n] {
			return nil
		}
		return p.fail(n.start, Alias, "the value here has an anchor that aliases elsewhere name; write those out by hand first")
	}
	var failure *Error
	for _, n := range p.touched {
		if failure = shared(n); failure != nil {
			return failure
		}
	}
	for _, n := range p.gone {
		n.walk(func(n *node) {
			if failure == nil {
				failure = shared(n)
			}
		})
	}
	if failure != nil {
		return failure
	}
	return nil
}
