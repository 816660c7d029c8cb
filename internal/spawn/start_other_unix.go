//go:build unix && !(linux && amd64)

package spawn

// Start starts a child. Its error is an *Error.
func Start(attr *Attr) (*Child, error) { return startPortable(attr) }
