//go:build !unix

package host

import (
	"fmt"
	"os"

	"hardshell/internal/hostwire"
)

// Argument is the first argument that makes a program the session host.
const Argument = hostwire.Argument

// Main refuses: there are no sessions to host on this platform.
func Main() int {
	fmt.Fprintln(os.Stderr, "hardshell session host: it runs on Linux and macOS only; on Windows, use it inside WSL 2")
	return 1
}
