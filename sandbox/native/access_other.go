//go:build !unix

package native

// couldWrite is not asked here: nothing is confined.
func couldWrite(string) bool { return false }

// couldRead reports whether this process may look into a directory, or read a
// file.
func couldRead(string) bool { return true }
