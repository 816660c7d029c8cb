//go:build linux

package host_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/subprocess"
	"hardshell/subprocess/host"
)

func (f *fixture) dial() *hostwire.Conn {
	f.Helper()
	conn, err := hostwire.Dial(context.Background(), f.files.Socket)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(conn.Close)
	conn.SetReceiveDeadline(time.Now().Add(hang))
	return conn
}

func (f *fixture) attach() hostwire.Attach {
	f.Helper()
	key, err := os.ReadFile(f.files.Key)
	if err != nil {
		f.Fatal(err)
	}
	return hostwire.Attach{Magic: hostwire.Magic, Version: hostwire.Version, Session: session, Key: key}
}

func TestWhoIsNotLetIn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.client()
	f.hostOf(r)
	tests := []struct {
		name string
		edit func(*hostwire.Attach)
		want string // of the refusal; "" is a hang-up without a word
	}{
		{"without the key", func(a *hostwire.Attach) { a.Key = nil }, "key of session s is wrong"},
		{"with another key", func(a *hostwire.Attach) { a.Key = make([]byte, 32) }, "key of session s is wrong"},
		{"with a part of the key", func(a *hostwire.Attach) { a.Key = a.Key[:31] }, "key of session s is wrong"},
		{"with another version", func(a *hostwire.Attach) { a.Version++ }, "end the session, or wait"},
		{"for another session", func(a *hostwire.Attach) { a.Session = "t" }, "another session"},
		{"without the magic", func(a *hostwire.Attach) { a.Magic = "GET" }, ""},
	}
	for _, tt := range tests {
		conn := f.dial()
		attach := f.attach()
		tt.edit(&attach)
		conn.Send(&hostwire.Message{Attach: &attach})
		m, _, err := conn.Receive()
		switch {
		case tt.want == "" && err == nil:
			t.Errorf("%s: %+v, want a hang-up", tt.name, m)
		case tt.want != "" && (err != nil || m.Failure == nil || !strings.Contains(m.Failure.Message, tt.want)):
			t.Errorf("%s: %+v, %v; want a refusal with %q", tt.name, m, err, tt.want)
		case tt.want != "":
			if _, _, err := conn.Receive(); err == nil {
				t.Errorf("%s: the host goes on", tt.name)
			}
		}
	}
	if f.output(r, "echo fine") != "fine" {
		t.Error("the other client is not served any more")
	}
}

func TestKeyIsPrivateAndFresh(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	keys := map[string]bool{}
	for range 3 {
		r := f.client()
		f.hostOf(r)
		for _, path := range []string{f.files.Key, f.files.Socket} {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s has the mode %v", path, info.Mode())
			}
		}
		keys[string(f.attach().Key)] = true
		r.Close(context.Background())
		f.awaitNoHost()
	}
	if len(keys) != 3 {
		t.Errorf("three hosts had %d keys", len(keys))
	}
}

// raw is a connection on which anything can be said.
func (f *fixture) raw() int {
	f.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { unix.Close(fd) })
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: f.files.Socket}); err != nil {
		f.Fatal(err)
	}
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: int64(hang / time.Second)})
	return fd
}

func (f *fixture) expectHangUp(name string, fd int) {
	f.Helper()
	buf := make([]byte, 1<<16)
	for {
		n, err := unix.Read(fd, buf)
		if err == unix.EAGAIN {
			f.Errorf("%s: the host does not hang up", name)
			return
		}
		if n <= 0 {
			return
		}
	}
}

func TestGarbageEndsOneConnection(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, shortDir(t))
	r := f.client()
	f.hostOf(r)
	frame := func(body string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	}
	attach := f.attach()
	greeting, err := hostwire.Encode(&hostwire.Message{Attach: &attach})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"another protocol":              []byte("GET / HTTP/1.1\r\n\r\n"),
		"a long first message":          binary.BigEndian.AppendUint32(nil, hostwire.MaxGreeting+1),
		"an empty message":              {0, 0, 0, 0},
		"no JSON":                       frame("nonsense"),
		"an empty object":               frame("{}"),
		"a long message":                append(bytes.Clone(greeting), 0x04, 0, 0, 1),
		"nonsense after the greeting":   append(bytes.Clone(greeting), frame("nonsense")...),
		"nothing after the greeting":    append(bytes.Clone(greeting), frame("{}")...),
		"a spawn without descriptors":   append(bytes.Clone(greeting), frame(`{"request":1,"spawn":{"id":1,"argv":"YQA=","grace":1}}`)...),
		"descriptors that did not come": append(bytes.Clone(greeting), frame(`{"files":3,"close":{"hurry":true}}`)...),
		"fewer than no descriptors":     append(bytes.Clone(greeting), frame(`{"files":-1,"close":{"hurry":true}}`)...),
		"an argument that does not end": append(bytes.Clone(greeting), frame(`{"request":1,"spawn":{"id":1,"argv":"YQ=="}}`)...),
	} {
		fd := f.raw()
		if _, err := unix.Write(fd, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.expectHangUp(name, fd)
	}
	if f.output(r, "echo fine") != "fine" {
		t.Error("the other client is not served any more")
	}
}

// shortDir is a directory whose sockets need no detour.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir + "/home"
}

func TestUnaskedDescriptorsEndTheConnection(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, shortDir(t))
	r := f.client()
	f.hostOf(r)
	fd := f.raw()
	attach := f.attach()
	data, err := hostwire.Encode(&hostwire.Message{Attach: &attach})
	if err != nil {
		t.Fatal(err)
	}
	// A message that never comes to its end, with descriptors at every byte.
	if _, err := unix.Write(fd, binary.BigEndian.AppendUint32(data, 1<<20)); err != nil {
		t.Fatal(err)
	}
	many := make([]int, hostwire.MaxFiles)
	for i := range many {
		many[i] = fd
	}
	for range 20 {
		if unix.Sendmsg(fd, []byte{' '}, unix.UnixRights(many...), nil, unix.MSG_NOSIGNAL) != nil {
			break
		}
	}
	f.expectHangUp("thousands of descriptors", fd)
	if f.output(r, "echo fine") != "fine" {
		t.Error("the other client is not served any more")
	}
}

func TestClientThatDoesNotReadLosesItsConnectionOnly(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, shortDir(t))
	r := f.client()
	f.hostOf(r)
	fd := f.raw()
	attach := f.attach()
	greeting, err := hostwire.Encode(&hostwire.Message{Attach: &attach})
	if err != nil {
		t.Fatal(err)
	}
	question, err := hostwire.Encode(&hostwire.Message{Request: 1, Confine: &hostwire.Confine{Policy: []byte(`{"mode":"read-only","workspaceRoot":"/w"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	unix.Write(fd, greeting)
	asked := 0
	for ; asked < 1_000_000; asked++ {
		if unix.Send(fd, question, unix.MSG_NOSIGNAL) != nil {
			break
		}
	}
	if asked == 1_000_000 {
		t.Error("a million answers wait to be read")
	}
	if f.output(r, "echo fine") != "fine" {
		t.Error("the other client is not served any more")
	}
}

func TestDescriptorsOfOneCommandAreLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.client()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	spec := f.spec(`ls /proc/self/fd | wc -l`)
	for range hostwire.MaxFiles - 3 {
		spec.ExtraFiles = append(spec.ExtraFiles, null)
	}
	h := f.start(r, spec)
	f.await(h)
	// ls itself opens one.
	if got := strings.TrimSpace(h.Reader(subprocess.Stdout).Collected().Text); got != "254" {
		t.Errorf("the command has %s descriptors, want 254", got)
	}
	spec.ExtraFiles = append(spec.ExtraFiles, null)
	if _, err := r.Spawn(context.Background(), spec); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("Spawn = %v, want INVALID_ARGUMENT", err)
	}
	closed, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	spec.ExtraFiles = []*os.File{closed}
	if _, err := r.Spawn(context.Background(), spec); !errors.Is(err, fault.SpawnFailed) {
		t.Errorf("Spawn with a closed file = %v, want SPAWN_FAILED", err)
	}
	if f.output(r, "echo fine") != "fine" {
		t.Error("the client is not served any more")
	}
}

func TestHostThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, command := range map[string][]string{
		"missing":        {"/no/such/program"},
		"something else": {"/bin/false"},
	} {
		r := f.client(func(c *host.Config) { c.Command = command })
		h, err := r.Spawn(context.Background(), f.spec("echo ran"))
		if h != nil || !errors.Is(err, fault.SpawnFailed) {
			t.Errorf("%s: Spawn = %v, %v; want SPAWN_FAILED", name, h, err)
		}
	}
}

func TestCrowdThatSaysNothingKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	f := newFixtureIn(t, shortDir(t))
	f.hostOf(f.client())
	const crowd = 200
	for range crowd {
		f.raw()
	}
	pid := f.hostOf(f.client())
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil || len(open) >= crowd {
		t.Errorf("the host holds %d descriptors (%v), all of the crowd's among them", len(open), err)
	}
}
