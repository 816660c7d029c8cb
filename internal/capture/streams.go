//go:build unix

package capture

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Kind says what a stream is connected to.
type Kind int

// The kinds of streams. Input cannot collect.
const (
	// Null is /dev/null.
	Null Kind = iota + 1
	// Inherit is this process's own descriptor.
	Inherit
	// Pipe leaves the other end to the caller.
	Pipe
	// Collect keeps the end of the stream in a Window.
	Collect
	// Keep moves the stream into a Log.
	Keep
)

// Input is the standard input of a command.
type Input struct {
	Kind Kind
	// Data, with Pipe, is fed to the command; nil leaves that to the caller.
	Data io.Reader
}

// Output is one of its outputs.
type Output struct {
	Kind Kind
	// MaxBytes is the size of the window, MaxSpill that of its file, in bytes;
	// 0 spills nothing.
	MaxBytes, MaxSpill int64
	// Tee, when set, receives what is collected.
	Tee io.Writer
	// Log is where Keep moves the stream.
	Log Log
}

// Streams is the standard streams of one command. Until Run it belongs to one
// goroutine.
type Streams struct {
	child  []int // descriptors for the child, in order
	closes []int // those of them that are closed after the spawn
	files  []*os.File

	data    io.Reader // fed to stdin, nil when the caller writes
	stdin   *os.File
	outputs [2]*os.File
	pumps   [2]*pump
	windows [2]*Window
}

// names are the outputs in their order.
var names = [2]string{"stdout", "stderr"}

// Open opens the streams of a command, with extra files as its descriptors from
// 3 on, which stay the caller's. After an error nothing is open.
func Open(in Input, outs [2]Output, extra []*os.File, spills *SpillDir) (*Streams, error) {
	s := &Streams{}
	err := s.openInput(in)
	for i, out := range outs {
		if err == nil {
			err = s.openOutput(i, out, spills)
		}
	}
	if err != nil {
		s.CloseChildEnds()
		s.CloseOwnEnds()
		return nil, err
	}
	for _, file := range extra {
		s.child = append(s.child, int(file.Fd()))
	}
	return s, nil
}

// Files are the descriptors for the command, from 0 on. They are open until
// CloseChildEnds.
func (s *Streams) Files() []int { return s.child }

// Stdin is the write end of an input that the caller writes, else nil.
func (s *Streams) Stdin() *os.File {
	if s.data != nil {
		return nil
	}
	return s.stdin
}

// Output is the read end of an output that the caller reads, else nil. 0 is the
// standard output, 1 the standard error.
func (s *Streams) Output(i int) *os.File {
	if s.pumps[i] != nil {
		return nil
	}
	return s.outputs[i]
}

// Window is what a collected output is read from, else nil.
func (s *Streams) Window(i int) *Window { return s.windows[i] }

// CloseChildEnds closes what the command has by now, or will never have.
func (s *Streams) CloseChildEnds() {
	for _, fd := range s.closes {
		unix.Close(fd)
	}
	for _, file := range s.files {
		file.Close()
	}
	s.closes, s.files = nil, nil
}

// CloseOwnEnds closes the ends of this process, after a spawn that failed.
func (s *Streams) CloseOwnEnds() {
	for _, file := range []*os.File{s.stdin, s.outputs[0], s.outputs[1]} {
		if file != nil {
			file.Close()
		}
	}
}

func (s *Streams) openInput(in Input) error {
	switch in.Kind {
	case Null:
		return s.openNull(unix.O_RDONLY)
	case Inherit:
		s.child = append(s.child, 0)
		return nil
	default:
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		s.stdin, s.data = w, in.Data
		return s.give(r)
	}
}

func (s *Streams) openOutput(i int, out Output, spills *SpillDir) error {
	switch out.Kind {
	case Null:
		return s.openNull(unix.O_WRONLY)
	case Inherit:
		s.child = append(s.child, i+1)
		return nil
	default:
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		s.outputs[i] = r
		switch out.Kind {
		case Collect:
			s.windows[i] = newWindow(out, spills, names[i])
			s.pumps[i] = newPump(r, windowSink{s.windows[i], out.Tee}, out.Tee != nil)
		case Keep:
			s.pumps[i] = newPump(r, logSink{out.Log}, false)
		}
		return s.give(w)
	}
}

func (s *Streams) openNull(mode int) error {
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
func (s *Streams) give(end *os.File) error {
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
