//go:build unix

package local

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
	"hardshell/subprocess"
)

// stdio is the two ends of a child's standard streams while it is being
// spawned.
type stdio struct {
	child  []int // descriptors for the child, in order
	closes []int // those of them that are closed after the spawn
	files  []*os.File

	stdin   *os.File // write end of StdinPipe and StdinData
	outputs [2]*os.File
}

// openStdio opens what the spec states. After an error nothing is open.
func openStdio(spec *subprocess.Spec) (*stdio, error) {
	s := &stdio{}
	err := s.openStdin(spec.Stdin)
	if err == nil {
		err = s.openOutput(0, spec.Stdout, 1)
	}
	if err == nil {
		err = s.openOutput(1, spec.Stderr, 2)
	}
	if err != nil {
		s.closeChildEnds()
		s.closeOwnEnds()
		return nil, fault.New(fault.SpawnFailed, "cannot open the command's streams: %w", err)
	}
	for _, file := range spec.ExtraFiles {
		s.child = append(s.child, int(file.Fd()))
	}
	return s, nil
}

func (s *stdio) openStdin(in subprocess.Stdin) error {
	switch in.Mode {
	case subprocess.StdinIgnore:
		return s.openNull(unix.O_RDONLY)
	case subprocess.StdinInherit:
		s.child = append(s.child, 0)
		return nil
	default:
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		s.stdin = w
		return s.give(r)
	}
}

func (s *stdio) openOutput(i int, out subprocess.Output, own int) error {
	switch out.Mode {
	case subprocess.OutputIgnore:
		return s.openNull(unix.O_WRONLY)
	case subprocess.OutputInherit:
		s.child = append(s.child, own)
		return nil
	default:
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		s.outputs[i] = r
		return s.give(w)
	}
}

func (s *stdio) openNull(mode int) error {
	fd, err := unix.Open(os.DevNull, mode|unix.O_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("open "+os.DevNull, err)
	}
	s.child = append(s.child, fd)
	s.closes = append(s.closes, fd)
	return nil
}

// give hands one end of a pipe to the child. The ends of a pipe have their own
// file status flags, so that the child's can block while ours does not.
func (s *stdio) give(end *os.File) error {
	s.files = append(s.files, end)
	conn, err := end.SyscallConn()
	if err != nil {
		return err
	}
	var blocking error
	err = conn.Control(func(fd uintptr) {
		blocking = syscall.SetNonblock(int(fd), false)
		s.child = append(s.child, int(fd))
	})
	if err != nil {
		return err
	}
	return blocking
}

func (s *stdio) closeChildEnds() {
	for _, fd := range s.closes {
		unix.Close(fd)
	}
	for _, file := range s.files {
		file.Close()
	}
}

func (s *stdio) closeOwnEnds() {
	for _, file := range []*os.File{s.stdin, s.outputs[0], s.outputs[1]} {
		if file != nil {
			file.Close()
		}
	}
}

// feed copies data into a child's input and closes it. A child that closed its
// input, and the end of the command, are no errors.
func feed(w *os.File, data io.Reader) {
	defer w.Close()
	io.Copy(w, data)
}
