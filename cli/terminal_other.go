//go:build !unix

package cli

import "io"

// terminalSize knows of no terminal.
func terminalSize(io.Writer) (width, height int) { return 0, 0 }

// readerGone does not know it before a write.
func readerGone(io.Writer) bool { return false }
