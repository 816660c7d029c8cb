//go:build unix && !linux

package proctree

// tracedHere reports whether a thread of this process traces pid, which is not
// looked for here.
func tracedHere(int) bool { return false }
