//go:build !unix

package spawn

// OpenFileLimit is how many files this process may have open: here, enough.
func OpenFileLimit() uint64 { return 1 << 20 }
