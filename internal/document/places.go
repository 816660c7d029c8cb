package document

// misplaced returns a node that is not written within the one around it, or not
// behind the one before it; nil when every node is. What the parser says of odd
// texts (an anchor that ends in a colon, say) can be beside the point: such a text
// is read, but there is no safe place to cut it.
func (d *Document) misplaced() (wrong *node) {
	if d.root == nil {
		return nil
	}
	d.root.walk(func(n *node) {
		if wrong != nil || n.end == unknown {
			return
		}
		if n.start < d.base || n.body < n.start || n.body > n.end || n.end > len(d.data) {
			wrong = n
			return
		}
		at := n.start
		for i := range n.entries {
			e := &n.entries[i]
			if e.key.start < at || e.end() > n.end {
				wrong = n
				return
			}
			at = e.end()
		}
		for _, item := range n.items {
			if item.start < at || item.end > n.end {
				wrong = n
				return
			}
			at = item.end
		}
	})
	return wrong
}
