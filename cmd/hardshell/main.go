// Command hardshell is the shell that an AI agent can be given. See the README,
// or hardshell --help.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"hardshell/cli"
	"hardshell/host"
	_ "hardshell/internal/prefault" // maps this program's memory at once
	"hardshell/internal/spawn"
)

func main() {
	spawn.Harden()
	if len(os.Args) > 1 && os.Args[1] == host.Argument {
		os.Exit(host.Main())
	}
	if n := spawn.OpenFileLimit(); n < 24 {
		fmt.Fprintf(os.Stderr, "hardshell: this process may open %d files, and 24 are needed: raise ulimit -n\n", n)
		os.Exit(125)
	}
	streams := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	if strings.HasSuffix(os.Args[0], "sh") {
		os.Exit(cli.Shell(context.Background(), os.Args[1:], streams))
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], streams))
}
