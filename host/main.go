//go:build unix

package host

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"hardshell/internal/hostwire"
	"hardshell/internal/state"
	"hardshell/sandbox"
)

// Argument is the first argument that makes a program the session host.
const Argument = hostwire.Argument

// Main is the session host of the native sandbox. Its arguments follow Argument:
// the home, and the session's id. Descriptor 3 is the connection of the client
// that started it. It returns the exit status.
func Main() int {
	return Run(newNative)
}

// Run is Main with another sandbox, which the host closes at its end.
func Run(newProvider func(state.Home, *slog.Logger) (sandbox.Provider, error)) int {
	// Little is allocated here, and what is there is to stay small.
	debug.SetGCPercent(50)
	// A log that reaches RLIMIT_FSIZE freezes, and does not end the host. The
	// commands start with every signal at its default.
	signal.Ignore(syscall.SIGHUP, syscall.SIGXFSZ)
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()

	conn, err := hostwire.NewConn(hostwire.FirstDescriptor)
	if err == nil {
		err = run(stop, conn, newProvider)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hardshell session host:", err)
		return 1
	}
	return 0
}

func run(stop context.Context, conn *hostwire.Conn, newProvider func(state.Home, *slog.Logger) (sandbox.Provider, error)) error {
	s, err := open(stop, os.Args, newProvider)
	if err != nil {
		refuse(conn, err)
		return err
	}
	return s.serve(stop, conn)
}
