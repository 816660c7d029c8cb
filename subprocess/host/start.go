//go:build unix

package host

import (
	"errors"
	"os"

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
	argv := r.config.Command
	path := ""
	if argv == nil {
		self, err := ownProgram()
		if err != nil {
			return nil, startError(err)
		}
		path, argv = self, []string{"hardshell", hostwire.Argument}
	} else {
		path = argv[0]
	}
	argv = append(argv[:len(argv):len(argv)], r.config.Home.Root(), r.config.SessionID)

	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, startError(err)
	}
	defer null.Close()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, startError(err)
	}
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
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

func startError(err error) error {
	var failed *spawn.Error
	if errors.As(err, &failed) && failed.Errno == unix.ENOENT {
		return fault.New(fault.SpawnFailed, "cannot start the session host: %q is not there: install hardshell again (%w)", failed.Path, err)
	}
	return fault.New(fault.SpawnFailed, "cannot start the session host: %w", err)
}
