//go:build unix

package host

import (
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/spawn"
	"hardshell/subprocess"
)

// start starts a host, in a session of its own, with nothing of this process
// but one end of the returned connection and the environment without its
// credentials.
func (r *Runtime) start() (*hostwire.Conn, error) {
	path, argv, err := r.hostProgram()
	if err != nil {
		return nil, startError(err)
	}

	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, startError(err)
	}
	defer null.Close()
	ends, err := hostwire.Pair()
	if err != nil {
		return nil, startError(err)
	}
	defer unix.Close(ends[1])
	quiet := int(null.Fd())
	child, err := spawn.Start(&spawn.Attr{
		Path: path, Argv: argv, Dir: "/",
		Env:   subprocess.Environ(r.config.ambient(), nil, nil, subprocess.DshEnvironment{}),
		Files: []int{quiet, quiet, quiet, ends[1]},
	})
	if err != nil {
		unix.Close(ends[0])
		return nil, startError(err)
	}
	go func() {
		child.WaitExit()
		child.Reap()
	}()
	return hostwire.NewConn(ends[0])
}

// hostProgram is the program of the host, and its arguments.
func (r *Runtime) hostProgram() (path string, argv []string, err error) {
	if len(r.config.Command) > 0 {
		path, argv = r.config.Command[0], slices.Clone(r.config.Command)
	} else if path, err = ownProgram(); err == nil {
		argv = []string{"hardshell", hostwire.Argument}
	}
	return path, append(argv, r.config.Home.Root(), r.config.SessionID), err
}

func startError(err error) error {
	var failed *spawn.Error
	if errors.As(err, &failed) && failed.Errno == unix.ENOENT {
		return fault.New(fault.SpawnFailed, "cannot start the session host: %q is not there: install hardshell again (%w)", failed.Path, err)
	}
	return fault.New(fault.SpawnFailed, "cannot start the session host: %w", err)
}
