//go:build unix

package hostwire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
	"hardshell/internal/spawn"
)

// pair is two ends of a connection.
func pair(t *testing.T) (a, b *Conn) {
	t.Helper()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, conn := range []**Conn{&a, &b} {
		if *conn, err = NewConn(ends[i]); err != nil {
			t.Fatal(err)
		}
		(*conn).Trust()
		(*conn).SetReceiveDeadline(time.Now().Add(30 * time.Second))
		t.Cleanup((*conn).Close)
	}
	return a, b
}

// pipes returns n read ends whose pipes hold their number.
func pipes(t *testing.T, n int) (fds []int) {
	t.Helper()
	for i := range n {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, i)
		w.Close()
		t.Cleanup(func() { r.Close() })
		fds = append(fds, int(r.Fd()))
	}
	return fds
}

func TestMessagesArriveWithTheirOwnDescriptors(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	fds := pipes(t, 10)
	sizes := []int{3, 0, 1, 0, 0, 6}
	sent := 0
	for i, n := range sizes {
		m := &Message{Request: uint64(i), Spawn: &Spawn{ID: uint64(i), Path: bytes.Repeat([]byte("x"), i*300_000)}}
		if err := a.Send(m, fds[sent:sent+n]...); err != nil {
			t.Fatal(err)
		}
		sent += n
	}
	received := 0
	for i, n := range sizes {
		m, files, err := b.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if m.Request != uint64(i) || len(m.Spawn.Path) != i*300_000 || len(files) != n {
			t.Fatalf("message %d is number %d with %d bytes and %d descriptors", i, m.Request, len(m.Spawn.Path), len(files))
		}
		for _, fd := range files {
			flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
			if err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("a descriptor would reach children: %v", err)
			}
			file := os.NewFile(uintptr(fd), "received")
			if text, err := io.ReadAll(file); err != nil || string(text) != fmt.Sprint(received) {
				t.Errorf("descriptor %d holds %q, %v", received, text, err)
			}
			file.Close()
			received++
		}
	}
}

func TestEndsOfAConnection(t *testing.T) {
	t.Parallel()
	length := []byte{0, 0, 0, 9}
	for name, tt := range map[string]struct {
		data []byte
		want error
	}{
		"between messages":  {nil, io.EOF},
		"in a length":       {length[:2], io.ErrUnexpectedEOF},
		"in a message":      {append(length, "{}"...), io.ErrUnexpectedEOF},
		"after a whole one": {[]byte("\x00\x00\x00\x02{}"), nil},
	} {
		ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := NewConn(ends[0])
		if err != nil {
			t.Fatal(err)
		}
		unix.Write(ends[1], tt.data)
		unix.Close(ends[1])
		if _, _, err := conn.Receive(); err != tt.want {
			t.Errorf("%s: Receive = %v, want %v", name, err, tt.want)
		}
		conn.Close()
	}
}

func TestCloseWakesAReceiver(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	result := make(chan error, 1)
	go func() {
		_, _, err := a.Receive()
		result <- err
	}()
	a.Close()
	if err := <-result; err == nil {
		t.Error("Receive returns a message")
	}
	if _, _, err := b.Receive(); err != io.EOF {
		t.Errorf("the peer's Receive = %v, want EOF", err)
	}
	if err := a.Send(&Message{}); err != ErrClosed {
		t.Errorf("Send = %v, want ErrClosed", err)
	}
}

func TestFinishSendsWhatWasQueued(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	for i := range 100 {
		a.Send(&Message{Request: uint64(i)})
	}
	go a.Finish(30 * time.Second)
	for i := range 100 {
		if m, _, err := b.Receive(); err != nil || m.Request != uint64(i) {
			t.Fatalf("message %d: %+v, %v", i, m, err)
		}
	}
	if _, _, err := b.Receive(); err != io.EOF {
		t.Errorf("Receive = %v, want EOF", err)
	}
}

func TestPeerThatDoesNotReadLosesTheConnection(t *testing.T) {
	t.Parallel()
	a, _ := pair(t)
	m := &Message{Failure: &Failure{Message: strings.Repeat("x", 10_000)}}
	for range 2 * queued {
		if a.Send(m) != nil {
			return
		}
	}
	t.Error("everything is queued")
}

func TestDescriptorsOfAClosedConnectionAreClosed(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a.Send(&Message{Request: 1}, int(w.Fd()))
	a.Send(&Message{Request: 2})
	// What is not claimed by the first of these two stays with the connection.
	m, files, err := b.Receive()
	if err != nil || m.Request != 1 || len(files) != 1 {
		t.Fatalf("%+v, %v, %v", m, files, err)
	}
	CloseFiles(files)
	a.Send(&Message{Request: 3}, int(w.Fd()))
	if m, _, err := b.Receive(); err != nil || m.Request != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	b.receiving.Lock()
	for len(b.in) == 0 {
		if err := b.receiveSome(); err != nil {
			t.Fatal(err)
		}
	}
	b.receiving.Unlock()
	b.Close()
	w.Close()
	if _, err := io.ReadAll(r); err != nil { // ends when the last write end is closed
		t.Error(err)
	}
}

func TestErrorsCross(t *testing.T) {
	t.Parallel()
	cause := &spawn.Error{Stage: spawn.StageChdir, Path: "/a\xff", Errno: unix.ENOENT}
	withCause := fault.New(fault.WorkdirNotFound, "gone")
	withCause.Err = cause
	for name, tt := range map[string]struct {
		err  error
		want fault.Code
	}{
		"with a code":    {fault.New(fault.Aborted, "aborted"), fault.Aborted},
		"without a code": {errors.New("plain"), fault.Invariant},
		"with a cause":   {withCause, fault.WorkdirNotFound},
	} {
		data, err := json.Marshal(NewFailure(tt.err, fault.Invariant))
		if err != nil {
			t.Fatal(err)
		}
		var f *Failure
		if err := json.Unmarshal(data, &f); err != nil {
			t.Fatal(err)
		}
		got := f.Err()
		if got.Error() != tt.err.Error() || fault.CodeOf(got) != tt.want {
			t.Errorf("%s: arrives as %v with the code %s", name, got, fault.CodeOf(got))
		}
		var before, after *spawn.Error
		if errors.As(tt.err, &before) != errors.As(got, &after) || before != nil && *before != *after {
			t.Errorf("%s: the cause arrives as %+v", name, after)
		}
	}
	if NewFailure(nil, fault.Invariant).Err() != nil {
		t.Error("no error arrives as one")
	}
}

func TestListsCross(t *testing.T) {
	t.Parallel()
	for _, list := range []List{nil, {""}, {"", "", "a"}, {"a\xff", "B=\n", "€"}} {
		data, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		var back List
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, list) {
			t.Errorf("%q arrives as %q, %v", list, back, err)
		}
	}
}

// FuzzDecode cuts arbitrary bytes into messages: whatever is accepted is sent
// on in a form that does not change any more.
func FuzzDecode(f *testing.F) {
	for _, m := range []*Message{
		{},
		{Request: 1, Attach: &Attach{Magic: Magic, Version: Version, Session: "s", Key: []byte{1, 2}}},
		{Request: 2, Files: 3, Spawn: &Spawn{ID: 1, Path: []byte("/bin/sh"), Argv: List{"sh"}, Env: List{"A=b"}, Grace: 1, Policy: []byte(`{"mode":"read-only"}`)}},
		{Exited: &Exited{ID: 1, Code: -1, Signal: "SIGTERM"}},
	} {
		data, err := Encode(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)-1])
	}
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		for len(data) > 0 {
			body, rest, err := Split(data, 1<<16)
			if err != nil || body == nil {
				return
			}
			if len(body)+len(rest)+4 != len(data) {
				t.Fatalf("%d bytes became %d and %d", len(data), len(body), len(rest))
			}
			data = rest
			m, err := Decode(body)
			if err != nil {
				continue
			}
			again, err := Encode(m)
			if err != nil {
				t.Fatalf("what was read cannot be sent: %v", err)
			}
			back, err := Decode(again[4:])
			if err != nil {
				t.Fatalf("what was sent on cannot be read: %v", err)
			}
			if third, err := Encode(back); err != nil || !bytes.Equal(third, again) {
				t.Fatalf("%q became %q, %v", again, third, err)
			}
		}
	})
}
