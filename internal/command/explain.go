//go:build unix

package command

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
	"hardshell/internal/spawn"
)

// Explain gives a failed start its code and says what to do about it. An error
// that has a code stays as it is.
func Explain(err error) error {
	if fault.CodeOf(err) != "" {
		return err
	}
	var failed *spawn.Error
	if !errors.As(err, &failed) {
		return fault.New(fault.SpawnFailed, "cannot start the command: %w", err)
	}
	name := unix.ErrnoName(failed.Errno)
	code, message := fault.SpawnFailed, ""
	switch {
	case failed.Stage == spawn.StageChdir && failed.Errno == syscall.ENOTDIR:
		code, message = fault.WorkdirNotDirectory, "the workdir %q is not a directory (%s): choose a directory"
	case failed.Stage == spawn.StageChdir && failed.Errno == syscall.EACCES:
		message = "the workdir %q cannot be entered (%s): change its permissions or choose another"
	case failed.Stage == spawn.StageChdir && failed.Errno == syscall.ENOENT:
		code, message = fault.WorkdirNotFound, "the workdir %q does not exist (%s): create it or choose another"
	case failed.Stage == spawn.StageChdir:
		code, message = fault.WorkdirNotFound, "the workdir %q cannot be used (%s): choose another"
	case failed.Errno == syscall.E2BIG:
		message = "cannot run %q: its arguments and environment are too long together (%s)"
	case failed.Errno == syscall.EMFILE || failed.Errno == syscall.ENFILE:
		message = "cannot start %q (%s): no descriptor is left; close some, or raise ulimit -n"
	case failed.Stage == spawn.StageFork:
		message = "cannot start a process for %q (%s): the system or this user has no room for another"
	default:
		message = "cannot run %q (%s): it must be an executable file whose interpreter exists"
	}
	e := fault.New(code, message, failed.Path, name)
	e.Err = failed
	return e
}
