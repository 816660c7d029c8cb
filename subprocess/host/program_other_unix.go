//go:build unix && !linux

package host

import "os"

// ownProgram is this program's file.
func ownProgram() (string, error) { return os.Executable() }
