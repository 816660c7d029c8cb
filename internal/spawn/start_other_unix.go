//go:build unix && !(linux && amd64)

package spawn

// CanConfine reports whether children can be given an Attr.Confine.
func CanConfine() bool { return false }

// Start starts a child. Its error is an *Error.
func Start(attr *Attr) (*Child, error) {
	if attr.Confine != nil {
		return nil, errCannotConfine
	}
	return startPortable(attr)
}
