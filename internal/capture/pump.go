//go:build unix

package capture

import (
	"errors"
	"fmt"
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

// pump moves a pipe into a window until the pipe ends. After cut it goes on
// reading to nowhere: a background writer must not die of SIGPIPE.
type pump struct {
	pipe   *os.File
	window *Window
	tee    io.Writer // nil without

	cutting, stopping atomic.Bool
	eof               atomic.Bool   // no process holds the pipe any more
	sealed            chan struct{} // closed when the window is complete
	done              chan struct{} // closed when the pump has ended
}

func newPump(pipe *os.File, w *Window, tee io.Writer) *pump {
	return &pump{pipe: pipe, window: w, tee: tee, sealed: make(chan struct{}), done: make(chan struct{})}
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
	p.window.seal()
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
	readAll(conn, func([]byte) error {
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
	return readAll(conn, func(data []byte) error {
		if total < busy && total+len(data) >= busy {
			growPipe(conn)
		}
		total += len(data)
		if err := p.deliver(data); err != nil {
			return err
		}
		if p.cutting.Load() {
			return errCut
		}
		return nil
	})
}

// collectRest delivers what the pipe held when the stream was cut, and returns
// nil when the pipe goes on after it.
func (p *pump) collectRest(conn syscall.RawConn) error {
	chunk := chunks.Get().(*[chunkSize]byte)
	defer chunks.Put(chunk)
	rest := 0
	conn.Control(func(fd uintptr) { rest, _ = unix.IoctlGetInt(int(fd), fionread) })
	for rest > 0 {
		n, err := 0, error(nil)
		if cerr := conn.Control(func(fd uintptr) { n, err = unix.Read(int(fd), chunk[:min(rest, chunkSize)]) }); cerr != nil {
			return cerr
		}
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return io.EOF
		}
		rest -= n
		if err := p.deliver(chunk[:n]); err != nil {
			return err
		}
	}
	return nil
}

// deliver hands bytes to the window and the tee.
func (p *pump) deliver(data []byte) error {
	p.window.push(data)
	if p.tee == nil {
		return nil
	}
	if p.stopping.Load() {
		return errCut
	}
	return writeTee(p.tee, data)
}

// writeTee writes to a caller's tee, whose panic is a failed write like another.
func writeTee(tee io.Writer, data []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the tee panicked: %v", r)
		}
	}()
	_, err = tee.Write(data)
	return err
}

// readAll calls do with every chunk until the pipe ends (io.EOF), the file's
// deadline passes, or do fails. It holds a buffer only while bytes are there.
func readAll(conn syscall.RawConn, do func([]byte) error) error {
	var failure error
	err := conn.Read(func(fd uintptr) bool {
		chunk := chunks.Get().(*[chunkSize]byte)
		defer chunks.Put(chunk)
		for {
			n, err := unix.Read(int(fd), chunk[:])
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
			if failure = do(chunk[:n]); failure != nil {
				return true
			}
		}
	})
	if failure != nil {
		return failure
	}
	return err
}
