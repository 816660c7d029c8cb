//go:build unix

package capture

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// chunkSize is read at once at most. A quarter of the grown pipe keeps
	// writer and reader both busy.
	chunkSize = 256 << 10
	// busy is how much a stream has brought when its pipe is enlarged to
	// grownPipe, the most that an unprivileged user may ask for (pipe(7)).
	busy      = 128 << 10
	grownPipe = 1 << 20
)

// chunks are lent while bytes are there to read, so that an idle command holds
// no buffer.
var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// sink is where a pump moves a pipe to. One goroutine takes; seal may be called
// from another.
type sink interface {
	// take moves at most max bytes that a non-blocking pipe holds now, and
	// returns how many: 0 at its end, EAGAIN when there are none at the moment.
	take(pipe, max int) (int, error)
	// seal completes what was taken. It is idempotent.
	seal()
}

// pump moves a pipe into a sink until the pipe ends. After cut it goes on
// reading to nowhere: a background writer must not die of SIGPIPE.
type pump struct {
	pipe *os.File
	sink sink
	// patient says that the sink may be stuck for as long as it likes.
	patient bool

	cutting, stopping atomic.Bool
	eof               atomic.Bool   // no process holds the pipe any more
	sealed            chan struct{} // closed when the sink is complete
	done              chan struct{} // closed when the pump has ended
}

func newPump(pipe *os.File, to sink, patient bool) *pump {
	return &pump{pipe: pipe, sink: to, patient: patient, sealed: make(chan struct{}), done: make(chan struct{})}
}

// sealing is the channel that is closed when the window is complete; nil for
// no pump.
func (p *pump) sealing() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.sealed
}

// cut ends the stream at what the pipe holds now. The window is sealed once
// that is delivered.
func (p *pump) cut() {
	if !p.cutting.Swap(true) {
		p.wake()
	}
}

// stop ends the reading to nowhere, and so closes the pipe.
func (p *pump) stop() {
	p.stopping.Store(true)
	p.wake()
}

// wake ends a read that waits.
func (p *pump) wake() { p.pipe.SetReadDeadline(time.Unix(1, 0)) }

func (p *pump) run() {
	defer close(p.done)
	defer p.pipe.Close()
	conn, err := p.pipe.SyscallConn()
	if err == nil {
		err = p.collect(conn)
	}
	if errors.Is(err, errCut) {
		err = p.collectRest(conn)
	}
	p.eof.Store(err == io.EOF)
	p.sink.seal()
	close(p.sealed)
	if err == nil {
		p.pipe.SetReadDeadline(time.Time{})
		p.drain(conn)
	}
}

// drain reads to nowhere until the pipe ends or the pump is stopped.
func (p *pump) drain(conn syscall.RawConn) {
	if p.stopping.Load() {
		return
	}
	takeAll(conn, nowhere{}, func(int) error {
		if p.stopping.Load() {
			return errCut
		}
		return nil
	})
}

// errCut is what a read sees when its deadline wakes it.
var errCut = os.ErrDeadlineExceeded

// collect delivers until the pipe ends (io.EOF) or the stream is cut.
func (p *pump) collect(conn syscall.RawConn) error {
	total := 0
	return takeAll(conn, p.sink, func(n int) error {
		if total < busy && total+n >= busy {
			growPipe(conn)
		}
		total += n
		if p.patient && p.stopping.Load() || p.cutting.Load() {
			return errCut
		}
		return nil
	})
}

// collectRest delivers what the pipe held when the stream was cut, and returns
// nil when the pipe goes on after it.
func (p *pump) collectRest(conn syscall.RawConn) error {
	rest := 0
	conn.Control(func(fd uintptr) { rest, _ = unix.IoctlGetInt(int(fd), fionread) })
	for rest > 0 {
		n, err := 0, error(nil)
		if cerr := conn.Control(func(fd uintptr) { n, err = p.sink.take(int(fd), rest) }); cerr != nil {
			return cerr
		}
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return io.EOF
		}
		rest -= n
	}
	return nil
}

// takeAll has the sink take until the pipe ends (io.EOF), the file's deadline
// passes, or the sink or after fails. After is told what was taken each time.
func takeAll(conn syscall.RawConn, to sink, after func(int) error) error {
	var failure error
	err := conn.Read(func(fd uintptr) bool {
		for {
			n, err := to.take(int(fd), chunkSize)
			switch {
			case err == unix.EAGAIN:
				return false // wait until there is more
			case err == unix.EINTR:
				continue
			case err != nil:
				failure = err
				return true
			case n == 0:
				failure = io.EOF
				return true
			}
			if failure = after(n); failure != nil {
				return true
			}
		}
	})
	if failure != nil {
		return failure
	}
	return err
}

// nowhere is the sink of what nobody wants.
type nowhere struct{}

func (nowhere) take(pipe, max int) (int, error) {
	chunk := chunks.Get().(*[chunkSize]byte)
	defer chunks.Put(chunk)
	return unix.Read(pipe, chunk[:min(max, chunkSize)])
}

func (nowhere) seal() {}
