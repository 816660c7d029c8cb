package file

import (
	"hardshell/internal/document"
	"hardshell/internal/jsontree"
	"hardshell/settings"
)

// content is the document that was taken in last, with all that follows from it.
type content struct {
	snapshot
	doc  *document.Document
	tree map[string]any // of doc
	// sections are those of the document, and those that the ledger knows of.
	sections map[string]settings.Section
	entries  map[string]entry
	hashes   map[string]string // of the sections that the document has
	digest   string            // "" when the file is absent
}

// parse reads a snapshot. What did not change since p.known is not hashed again.
func (p *Provider) parse(s snapshot) (content, error) {
	c := content{snapshot: s}
	if p.known.doc != nil && p.known.same(s) {
		c.doc, c.tree, c.hashes, c.digest = p.known.doc, p.known.tree, p.known.hashes, p.known.digest
		return c, nil
	}
	doc, err := document.Parse(p.path, p.format, s.data)
	if err != nil {
		return content{}, err
	}
	c.adopt(doc, p.known)
	return c, nil
}

// adopt makes doc the content's document.
func (c *content) adopt(doc *document.Document, before content) {
	c.doc, c.tree = doc, doc.Tree()
	if !c.absent {
		c.digest = digestOf(c.data)
	}
	c.hashes = make(map[string]string, len(c.tree))
	for key, data := range c.tree {
		if hash, ok := before.hashes[key]; ok && hash != problemHash && jsontree.Equal(before.tree[key], data) {
			c.hashes[key] = hash
			continue
		}
		c.hashes[key] = hashOf(data)
	}
	for _, key := range doc.Problems() {
		c.hashes[key] = problemHash
	}
}

// number gives the sections the revisions of a ledger.
func (c *content) number(l ledger) {
	c.entries = l.Sections
	c.sections = make(map[string]settings.Section, len(l.Sections))
	for key, e := range l.Sections {
		data, there := c.tree[key]
		c.sections[key] = settings.Section{Data: data, Revision: e.Revision, Problem: c.doc.Problem(key), Null: there && data == nil}
	}
}

// differs reports whether a section of c is another than in before.
func (c *content) differs(before content) bool {
	if len(c.entries) != len(before.entries) {
		return true
	}
	for key, e := range c.entries {
		if before.entries[key] != e {
			return true
		}
	}
	return false
}

// has reports whether the document has a section, be it null or no JSON data.
func (c *content) has(key string) bool {
	_, ok := c.hashes[key]
	return ok
}
