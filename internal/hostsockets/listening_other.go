//go:build !linux

package hostsockets

import (
	"errors"
	"fmt"
)

// Listening returns an error that is errors.ErrUnsupported: only Linux lists
// the Unix sockets of all processes.
func Listening(func(path string) bool) ([]string, error) {
	return nil, fmt.Errorf("list the Unix sockets of this host: %w", errors.ErrUnsupported)
}
