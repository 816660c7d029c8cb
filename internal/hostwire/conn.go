//go:build unix

package hostwire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// MaxMessage bounds one message, MaxGreeting the first one, in bytes.
	MaxMessage  = 64 << 20
	MaxGreeting = 64 << 10
	// MaxFiles is how many descriptors one message may bring: SCM_MAX_FD of the
	// kernel's net/scm.h.
	MaxFiles = 253
	// queued is how many messages wait for a peer that does not read.
	queued = 4096
)

// Conn is one connection. One goroutine receives; any number send.
type Conn struct {
	file *os.File

	receiving sync.Mutex // guards what follows
	in        []byte     // received and not yet decoded
	files     []int      // received and not yet claimed
	limit     int        // of the next message

	sending  sync.Mutex // guards what follows
	out      []frame    // waiting for the writer
	writing  bool       // the writer has taken some and is not done
	finished bool       // nothing is added any more

	some      chan struct{} // holds one when out has become longer, or is complete
	closed    chan struct{}
	closeOnce sync.Once
	flushed   chan struct{} // closed when the writer has ended
}

// frame is one encoded message on its way out.
type frame struct {
	data  []byte
	files []int
}

// NewConn speaks over a connected stream socket, which it takes over. The
// socket is made non-blocking.
func NewConn(fd int) (*Conn, error) {
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	c := &Conn{
		file:  os.NewFile(uintptr(fd), "session host"),
		limit: MaxGreeting,
		some:  make(chan struct{}, 1), closed: make(chan struct{}), flushed: make(chan struct{}),
	}
	go c.write()
	return c, nil
}

// Trust lifts the limit of a first message. It is called between messages.
func (c *Conn) Trust() {
	c.receiving.Lock()
	defer c.receiving.Unlock()
	c.limit = MaxMessage
}

// SetReceiveDeadline bounds the wait for messages; the zero time lifts it.
func (c *Conn) SetReceiveDeadline(t time.Time) error { return c.file.SetReadDeadline(t) }

// Send sends a message, or queues it, and returns at once. The descriptors must
// stay open until it was answered, or the connection has ended. A peer that does
// not read what it is sent loses the connection.
func (c *Conn) Send(m *Message, files ...int) error {
	if len(files) > MaxFiles {
		return fmt.Errorf("a command may be given %d descriptors at most", MaxFiles)
	}
	m.Files = len(files)
	data, err := Encode(m)
	if err != nil {
		return err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	select {
	case <-c.closed:
		return ErrClosed
	default:
	}
	if c.finished {
		return ErrClosed
	}
	if len(c.out) == queued {
		c.finished = true
		c.Close()
		return ErrClosed
	}
	f := frame{data, files}
	if len(c.out) == 0 && !c.writing {
		// Mostly there is room, and no need to wake another goroutine.
		if err := c.writeFrame(&f, false); err != nil {
			c.Close()
			return ErrClosed
		}
		if len(f.data) == 0 {
			return nil
		}
	}
	c.out = append(c.out, f)
	c.wake()
	return nil
}

// wake has the writer look at what there is to do.
func (c *Conn) wake() {
	select {
	case c.some <- struct{}{}:
	default:
	}
}

// ErrClosed is a send over a connection that has ended.
var ErrClosed = errors.New("the connection has ended")

// Receive returns the next message with its descriptors, which are
// close-on-exec and the caller's. An io.EOF is a clean end. After an error the
// connection is of no use.
func (c *Conn) Receive() (*Message, []int, error) {
	c.receiving.Lock()
	defer c.receiving.Unlock()
	for {
		body, rest, err := Split(c.in, c.limit)
		if err != nil {
			return nil, nil, err
		}
		if body != nil {
			m, err := Decode(body)
			if err != nil {
				return nil, nil, err
			}
			if c.in = rest; len(rest) == 0 {
				c.in = nil // an idle connection holds no buffer
			}
			if m.Files < 0 || m.Files > len(c.files) {
				return nil, nil, fmt.Errorf("a message claims %d descriptors, and %d came", m.Files, len(c.files))
			}
			files := c.files[:m.Files:m.Files]
			c.files = c.files[m.Files:]
			return m, files, nil
		}
		if err := c.receiveSome(); err != nil {
			return nil, nil, err
		}
	}
}

// receiveSome waits for bytes. It holds a buffer only once there are some.
func (c *Conn) receiveSome() error {
	raw, err := c.file.SyscallConn()
	if err != nil {
		return err
	}
	var n int
	var failure error
	err = raw.Read(func(fd uintptr) bool {
		b := buffers.Get().(*buffer)
		defer buffers.Put(b)
		var oobn, flags int
		for {
			n, oobn, flags, _, failure = unix.Recvmsg(int(fd), b.data[:], b.control[:], receiveFlags)
			if failure != unix.EINTR {
				break
			}
		}
		if failure == unix.EAGAIN {
			return false
		}
		if failure == nil {
			c.in = append(c.in, b.data[:n]...)
			failure = c.keepFiles(b.control[:oobn], flags)
		}
		return true
	})
	switch {
	case err != nil:
		return err
	case failure != nil:
		return failure
	case n == 0 && len(c.in) > 0:
		return io.ErrUnexpectedEOF
	case n == 0:
		return io.EOF
	}
	return nil
}

// buffer is what one read fills.
type buffer struct {
	data    [16 << 10]byte
	control [controlSize]byte
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// controlSize holds the descriptors of one message and the header before them.
const controlSize = 64 + 4*MaxFiles

// keepFiles queues the descriptors of a control message. They come with, or
// before, the first byte of the message that they belong to: a read ends after
// the bytes that brought some (unix(7)).
func (c *Conn) keepFiles(control []byte, flags int) error {
	if len(control) > 0 {
		messages, err := unix.ParseSocketControlMessage(control)
		if err != nil {
			return err
		}
		for i := range messages {
			fds, err := unix.ParseUnixRights(&messages[i])
			if err != nil {
				continue
			}
			for _, fd := range fds {
				unix.CloseOnExec(fd) // where recvmsg cannot
			}
			c.files = append(c.files, fds...)
		}
	}
	if flags&unix.MSG_CTRUNC != 0 || len(c.files) > 4*MaxFiles {
		return errors.New("more descriptors came than fit")
	}
	return nil
}

// write is the only writer of the socket.
func (c *Conn) write() {
	defer close(c.flushed)
	for {
		select {
		case <-c.some:
		case <-c.closed:
			return
		}
		c.sending.Lock()
		frames, last := c.out, c.finished
		c.out, c.writing = nil, true
		c.sending.Unlock()
		for i := range frames {
			if c.writeFrame(&frames[i], true) != nil {
				c.Close()
				return
			}
		}
		if last {
			return
		}
		c.sending.Lock()
		c.writing = false
		c.sending.Unlock()
	}
}

// writeFrame writes what is left of a frame; without wait, as much as there is
// room for.
func (c *Conn) writeFrame(f *frame, wait bool) error {
	raw, err := c.file.SyscallConn()
	if err != nil {
		return err
	}
	for len(f.data) > 0 {
		var rights []byte
		if len(f.files) > 0 {
			rights = unix.UnixRights(f.files...)
		}
		n, failure := 0, error(nil)
		err := raw.Write(func(fd uintptr) bool {
			n, failure = unix.SendmsgN(int(fd), f.data, rights, nil, unix.MSG_NOSIGNAL)
			return failure != unix.EAGAIN || !wait
		})
		if err != nil {
			return err
		}
		switch failure {
		case nil:
			f.data, f.files = f.data[n:], nil
		case unix.EINTR:
		case unix.EAGAIN:
			return nil
		case unix.ETOOMANYREFS:
			if !wait {
				return nil
			}
			// unix(7): too many descriptors of this user are under way at the
			// moment, and there is no event for their having arrived.
			time.Sleep(time.Millisecond)
		default:
			return failure
		}
	}
	return nil
}

// Finish sends what is queued, for as long as the bound, and closes.
func (c *Conn) Finish(bound time.Duration) {
	c.sending.Lock()
	c.finished = true
	c.sending.Unlock()
	c.file.SetWriteDeadline(time.Now().Add(bound))
	c.wake()
	<-c.flushed
	c.Close()
}

// Close ends the connection at once: a Receive under way returns an error, and
// the peer sees the end.
func (c *Conn) Close() {
	c.closeOnce.Do(func() {
		close(c.closed)
		if raw, err := c.file.SyscallConn(); err == nil {
			raw.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_RDWR) })
		}
		go func() {
			<-c.flushed
			c.receiving.Lock() // a receiver has let go
			defer c.receiving.Unlock()
			c.file.Close()
			CloseFiles(c.files)
			c.files = nil
		}()
	})
}

// PeerUID is the user of the process at the other end.
func (c *Conn) PeerUID() (uid int, err error) {
	raw, err := c.file.SyscallConn()
	if err != nil {
		return -1, err
	}
	if cerr := raw.Control(func(fd uintptr) { uid, err = peerUID(int(fd)) }); cerr != nil {
		return -1, cerr
	}
	return uid, err
}

// CloseFiles closes descriptors that a message brought.
func CloseFiles(files []int) {
	for _, fd := range files {
		unix.Close(fd)
	}
}

// Encode returns a message as it crosses.
func Encode(m *Message) ([]byte, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if len(body) > MaxMessage {
		return nil, fmt.Errorf("the message is longer than %d bytes", MaxMessage)
	}
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body))), body...), nil
}

// Split cuts the first message off what was received; body is nil while it is
// not complete. A message longer than limit is an error as soon as its length
// is known.
func Split(data []byte, limit int) (body, rest []byte, err error) {
	if len(data) < 4 {
		return nil, data, nil
	}
	n := binary.BigEndian.Uint32(data)
	if n == 0 || uint64(n) > uint64(limit) {
		return nil, nil, fmt.Errorf("a message of %d bytes, and %d are the most", n, limit)
	}
	if uint64(len(data)-4) < uint64(n) {
		return nil, data, nil
	}
	return data[4 : 4+n : 4+n], data[4+n:], nil
}

// Decode reads one message.
func Decode(body []byte) (*Message, error) {
	m := new(Message)
	if err := json.Unmarshal(body, m); err != nil {
		return nil, fmt.Errorf("a message cannot be read: %w", err)
	}
	return m, nil
}
