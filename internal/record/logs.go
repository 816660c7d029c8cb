//go:build unix

package record

import (
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
)

// Logs are the open logs of one record, for the process that writes them.
type Logs struct{ streams [2]*Writer }

// CreateLogs creates both logs and their index, as ask names and caps them. An
// error leaves nothing; fs.ErrExist when one of the files is there. The caller
// closes the logs.
func (d *Dir) CreateLogs(ask *Ask) (*Logs, error) {
	if ask.MaxBytes < 0 {
		return nil, fault.New(fault.InvalidArgument, "%d bytes of a log cannot be kept: give a positive number, or 0 for %d", ask.MaxBytes, DefaultMaxBytes)
	}
	limit := ask.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	var names [3]string
	var err error
	for i, name := range []func() (string, error){
		func() (string, error) { return ask.logName(Stdout) },
		func() (string, error) { return ask.logName(Stderr) },
		ask.indexName,
	} {
		if names[i], err = name(); err != nil {
			return nil, err
		}
	}
	var files [3]*os.File
	for i, name := range names {
		if files[i], err = d.create(name); err != nil {
			for j := range i {
				files[j].Close()
				d.remove(names[j])
			}
			return nil, err
		}
	}
	index := newIndex(files[2])
	return &Logs{streams: [2]*Writer{
		newWriter(files[Stdout], index, Stdout, limit),
		newWriter(files[Stderr], index, Stderr, limit),
	}}, nil
}

// Stream returns the writer of a stream, Stdout or Stderr.
func (l *Logs) Stream(i int) *Writer { return l.streams[i] }

// Close closes both writers.
func (l *Logs) Close() {
	for _, w := range l.streams {
		w.Close()
	}
}

// index is the file from which readers learn what is kept. Each writer uses
// its own slot, so writers need no lock between them.
type index struct {
	file  *os.File
	users atomic.Int32
}

func newIndex(file *os.File) *index {
	x := &index{file: file}
	x.users.Store(2)
	// Its block is taken now: a disk that is full later must still take updates.
	// Whether this succeeds shows when a slot is written.
	unix.Pwrite(int(file.Fd()), make([]byte, 2*slotSize), 0)
	return x
}

// write reports whether readers see the slot from now on.
func (x *index) write(stream int, s slot) bool {
	data := s.encode()
	for {
		n, err := unix.Pwrite(int(x.file.Fd()), data[:], int64(stream)*slotSize)
		if err != unix.EINTR {
			return err == nil && n == len(data)
		}
	}
}

// release is called once by each writer.
func (x *index) release() {
	if x.users.Add(-1) == 0 {
		x.file.Close()
	}
}
