//go:build unix

package host

import (
	"os"
	"sync"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
)

// maxPending is how much input may wait for a command that does not read it.
const maxPending = 1 << 20

// inlet hands input to a command in the order in which it came, without anybody
// waiting for the command to read.
type inlet struct {
	server *server
	file   *os.File

	mu      sync.Mutex
	pending []byte
	eof     bool // nothing comes any more
	writing bool
	broken  bool // nobody reads any more
}

func newInlet(s *server, f *os.File) *inlet { return &inlet{server: s, file: f} }

var (
	errNotYet    = fault.New(fault.InvalidArgument, "the job is just being started: try again")
	errNoInput   = fault.New(fault.InvalidArgument, "the job takes no input: start it with interactive")
	errInputOver = fault.New(fault.InvalidArgument, "the input of the job is closed")
	errInputFull = fault.New(fault.InvalidArgument, "the job does not read its input: more than 1 MiB waits for it")
)

// input queues input for the command.
func (r *recorded) input(in *hostwire.Input) error {
	r.mu.Lock()
	started, stdin := r.command != nil, r.stdin
	r.mu.Unlock()
	switch {
	case !started:
		return errNotYet
	case stdin == nil:
		return errNoInput
	}
	return stdin.add(in)
}

func (i *inlet) add(in *hostwire.Input) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.eof || i.broken:
		return errInputOver
	case len(i.pending)+len(in.Data) > maxPending:
		return errInputFull
	}
	i.pending = append(i.pending, in.Data...)
	i.eof = in.EOF
	if !i.writing {
		i.writing = true
		go i.write()
	}
	return nil
}

// write writes what is pending, and ends when nothing is.
func (i *inlet) write() {
	defer i.server.guard(nil)
	for {
		i.mu.Lock()
		data := i.pending
		i.pending = nil
		if len(data) == 0 {
			if i.eof {
				i.file.Close()
			}
			i.writing = false
			i.mu.Unlock()
			return
		}
		i.mu.Unlock()
		if _, err := i.file.Write(data); err != nil {
			i.close()
			return
		}
	}
}

// close ends the input, also a write that nobody reads.
func (i *inlet) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.broken = true
	i.pending = nil
	i.file.Close()
}
