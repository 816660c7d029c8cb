//go:build !linux

package spawn

// Harden does nothing here.
func Harden() {}
