//go:build unix && !linux

package proctree

// Memory is not known here: 0.
func (t *Tree) Memory() int64 { return 0 }
