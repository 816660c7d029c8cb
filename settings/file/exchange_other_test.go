//go:build !linux

package file

import "os"

// exchange is as near to a swap of two files as it can be done here: what was at
// the second path comes to the first.
func exchange(a, b string) error {
	third := a + ".third"
	if err := os.Rename(b, third); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return err
	}
	return os.Rename(third, a)
}
