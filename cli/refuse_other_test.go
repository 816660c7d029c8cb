//go:build unix && !linux

package cli_test

import "os"

// refuse is for Linux, the only system that confines.
func refuse() { os.Exit(99) }
