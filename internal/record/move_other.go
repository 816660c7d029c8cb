//go:build !unix

package record

// Move makes the record at from that of an empty directory to.
func Move(string, string) error { return errPlatform }
