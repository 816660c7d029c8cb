// Command hardshell is the shell that an AI agent can be given. See the README,
// or hardshell --help.
package main

import (
	"context"
	"fmt"
	"os"

	"hardshell/cli"
	"hardshell/internal/spawn"
)

func main() {
	spawn.Harden()
	if n := spawn.OpenFileLimit(); n < 24 {
		fmt.Fprintf(os.Stderr, "hardshell: this process may open %d files, and 24 are needed: raise ulimit -n\n", n)
		os.Exit(125)
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	}))
}
