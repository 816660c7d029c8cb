package document

// ParseList reads a document that is a list, as a tree of the caller's own, with
// the line of each item; both are empty when the document is. Nothing in it may
// be other than JSON data. Errors are *Error.
func ParseList(name string, format Format, data []byte) (items []any, lines []int, err error) {
	d := &Document{name: name, format: format, data: data}
	d.skipMark()
	if err := d.checkText(); err != nil {
		return nil, nil, err
	}
	var problem *Error
	if d.format == JSON {
		d.root, problem = d.parseJSON()
	} else {
		d.root, problem = d.parseYAML()
	}
	if problem != nil {
		return nil, nil, problem
	}
	switch root := d.root; {
	case root == nil || root.kind == scalarNode && root.value == nil && root.problem == "":
		return nil, nil, nil
	case root.kind != listNode:
		return nil, nil, d.fail(root.body, NotAList, "the document must be a list")
	}
	b := builder{document: d}
	tree, problem := b.value(d.root, 0)
	if problem == nil {
		problem = b.problem
	}
	if problem != nil {
		return nil, nil, problem
	}
	d.markPositions()
	for _, item := range d.root.items {
		at := d.fail(item.start, NotAList, "")
		lines = append(lines, at.Line)
	}
	return tree.([]any), lines, nil
}
