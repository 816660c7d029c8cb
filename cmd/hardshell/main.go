// Command hardshell is the shell that an AI agent can be given. See the README,
// or hardshell --help.
package main

import (
	"context"
	"os"

	"hardshell/cli"
	"hardshell/internal/spawn"
)

func main() {
	spawn.Harden()
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	}))
}
