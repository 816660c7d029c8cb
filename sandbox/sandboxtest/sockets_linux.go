package sandboxtest

import (
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"hardshell/sandbox"
)

// hostServer is a server of the host that counts its connections.
type hostServer struct {
	address string
	served  atomic.Int64
}

// serve listens on the host for the rest of the check.
func (f *fixture) serve(network, address string) *hostServer {
	f.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		f.Skipf("skipped: the host cannot listen: %v", err)
	}
	s := &hostServer{address: network + ":" + l.Addr().String()}
	done := make(chan struct{})
	f.Cleanup(func() {
		l.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.served.Add(1)
			go func() {
				io.Copy(io.Discard, conn)
				conn.Close()
			}()
		}
	}()
	return s
}

// dials reports whether a confined process can connect to "network:address".
func (f *fixture) dials(c sandbox.Confinement, address string) report {
	f.Helper()
	t := f.targetOf(nil)
	t.Socket = address
	return f.attempt(c, "dial", t)
}

func (f *fixture) expectDialled(c sandbox.Confinement, address string) {
	f.Helper()
	if r := f.dials(c, address); !r.Done {
		f.Errorf("connecting to %s failed: %s", address, r.Error)
	}
}

func (f *fixture) expectNotDialled(c sandbox.Confinement, address string) {
	f.Helper()
	if f.dials(c, address).Done {
		f.Errorf("connected to %s, want a refusal", address)
	}
}

// expectUnixRefused expects that a socket of the host is not connected to, as
// far as the report says so.
func (f *fixture) expectUnixRefused(c sandbox.Confinement, s *hostServer) {
	f.Helper()
	r := f.dials(c, s.address)
	switch tolerated := c.Report().Effects.Unix != sandbox.Full; {
	case r.Done && tolerated:
		f.Logf("tolerated: Unix sockets are reported %s", c.Report().Effects.Unix)
	case r.Done || s.served.Load() > 0:
		f.Errorf("connected to %s, want a refusal", s.address)
	}
}

// unixChecks are about Unix sockets of the host. Behind one there may be a
// daemon that does for a command what the sandbox does not.
func unixChecks() []check {
	refused := func(mode sandbox.Mode, address func(f *fixture) string) func(*fixture) {
		return func(f *fixture) {
			s := f.serve("unix", address(f))
			f.expectUnixRefused(f.confine(f.policy(mode)), s)
		}
	}
	abstract := func(f *fixture) string { return "@sandboxtest-" + f.Marker }
	outside := func(f *fixture) string { return f.Outside + "/s" }
	workspace := func(f *fixture) string { return f.Workspace + "/s" }
	return []check{
		{name: "workspace-write: an abstract socket of the host is not connected to where Unix sockets are reported full", run: refused(sandbox.WorkspaceWrite, abstract)},
		{name: "read-only: an abstract socket of the host is not connected to where Unix sockets are reported full", run: refused(sandbox.ReadOnly, abstract)},
		{name: "workspace-write: a socket outside is not connected to where Unix sockets are reported full", run: refused(sandbox.WorkspaceWrite, outside)},
		{name: "read-only: a socket outside is not connected to where Unix sockets are reported full", run: refused(sandbox.ReadOnly, outside)},
		{name: "read-only: a socket in the workspace is not connected to where Unix sockets are reported full", run: refused(sandbox.ReadOnly, workspace)},
		{name: "a socket outside that appears later is not connected to where Unix sockets are reported full", run: func(f *fixture) {
			c := f.workspaceWrite()
			f.expectOK(f.sh(c, `true`))
			f.expectUnixRefused(c, f.serve("unix", f.Outside+"/s"))
		}},
		{name: "a socket outside is not connected to through a symbolic link where Unix sockets are reported full", run: func(f *fixture) {
			s := f.serve("unix", f.Outside+"/s")
			f.symlink(f.Outside+"/s", f.Workspace+"/link")
			s.address = "unix:" + f.Workspace + "/link"
			f.expectUnixRefused(f.workspaceWrite(), s)
		}},
		{name: "a socket outside is not sent datagrams where Unix sockets are reported full", run: func(f *fixture) {
			conn, err := net.ListenPacket("unixgram", f.Outside+"/d")
			if err != nil {
				f.Fatal(err)
			}
			defer conn.Close()
			f.expectUnixRefused(f.workspaceWrite(), &hostServer{address: "unixgram:" + f.Outside + "/d"})
		}},
		{name: "a socket of a daemon of the host is not connected to where Unix sockets are reported full", run: func(f *fixture) {
			if os.Geteuid() != 0 {
				f.Skip("skipped: only root may make a socket in /run")
			}
			f.expectUnixRefused(f.workspaceWrite(), f.serve("unix", "/run/sandboxtest-"+f.Marker))
		}},
		{name: "a socket in the host's /tmp is not connected to", run: func(f *fixture) {
			s := f.serve("unix", directory(f.T, "/tmp")+"/s")
			f.expectUnixRefused(f.workspaceWrite(), s)
		}},
	}
}

// networkChecks are about what a policy opens.
func networkChecks() []check {
	policy := func(f *fixture, change func(*sandbox.Policy)) sandbox.Confinement {
		p := f.policy(sandbox.WorkspaceWrite)
		change(&p)
		return f.confine(p)
	}
	none := func(p *sandbox.Policy) { p.Network = sandbox.NetworkNone }
	return []check{
		{name: "an open network reaches a server of the host's loopback", run: func(f *fixture) {
			f.expectDialled(f.workspaceWrite(), f.serve("tcp", "127.0.0.1:0").address)
			f.expectDialled(f.readOnly(), f.serve("tcp", "127.0.0.1:0").address)
		}},
		{name: "no network does not reach a server of the host's loopback", run: func(f *fixture) {
			s := f.serve("tcp", "127.0.0.1:0")
			f.expectNotDialled(policy(f, none), s.address)
			if s.served.Load() > 0 {
				f.Error("the server was reached")
			}
		}},
		{name: "no network does not reach a server of the host's loopback of version 6", run: func(f *fixture) {
			f.expectNotDialled(policy(f, none), f.serve("tcp6", "[::1]:0").address)
		}},
		{name: "no network does not send datagrams to the host's loopback", run: func(f *fixture) {
			conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
			if err != nil {
				f.Fatal(err)
			}
			defer conn.Close()
			// On a loopback of its own a first datagram is sent to nobody.
			f.dials(policy(f, none), "udp:"+conn.LocalAddr().String())
			f.expectDialled(f.workspaceWrite(), "udp:"+conn.LocalAddr().String())
			// What came from the first would have come before the second.
			buffer, received, wait := make([]byte, 16), 0, hang
			for {
				conn.SetReadDeadline(time.Now().Add(wait))
				if _, _, err := conn.ReadFrom(buffer); err != nil {
					break
				}
				received++
				wait = 10 * time.Millisecond
			}
			if received != 1 {
				f.Errorf("%d datagrams arrived, want the one of the open network", received)
			}
		}},
		{name: "no network reaches nothing beyond the host", run: func(f *fixture) {
			f.expectNotDialled(policy(f, none), "udp:192.0.2.1:9")
			f.expectNotDialled(policy(f, none), "udp:[2001:db8::1]:9")
		}},
		{name: "no network does not reach an abstract socket of the host", run: func(f *fixture) {
			f.expectUnixRefused(policy(f, none), f.serve("unix", "@sandboxtest-"+f.Marker))
		}},
		{name: "no network is reported", run: func(f *fixture) {
			r := policy(f, none).Report()
			if r.Network != sandbox.NetworkNone || r.Effects.Network != sandbox.NetworkNone {
				f.Errorf("the report says %q and %q", r.Network, r.Effects.Network)
			}
		}},
		{name: "a loopback server of one command is reached by the next, and not from the host", run: func(f *fixture) {
			c := policy(f, none)
			if !f.tier.namespaces {
				f.expectRefused(f.sh(c, `exec 3<>/dev/tcp/127.0.0.1/9`))
				return
			}
			f.expectLoopback(c)
		}},
		{name: "an open network lets a server of one command be reached by the next", run: func(f *fixture) {
			f.expectLoopback(f.workspaceWrite())
		}},
		{name: "a Unix socket in the workspace is connected to", run: func(f *fixture) {
			f.expectDialled(f.workspaceWrite(), f.serve("unix", f.Workspace+"/s").address)
		}},
		{name: "a socket that the policy names is connected to", run: func(f *fixture) {
			s := f.serve("unix", f.Outside+"/s")
			f.expectDialled(policy(f, func(p *sandbox.Policy) { p.Sockets.Paths = []string{f.Outside + "/s"} }), s.address)
		}},
		{name: "a socket in a directory that the policy names is connected to", run: func(f *fixture) {
			s := f.serve("unix", f.Outside+"/dir/s")
			f.expectDialled(policy(f, func(p *sandbox.Policy) { p.Sockets.Paths = []string{f.Outside} }), s.address)
		}},
		{name: "the sockets of the host are connected to when the policy says so", run: func(f *fixture) {
			s := f.serve("unix", f.Outside+"/s")
			c := policy(f, func(p *sandbox.Policy) { p.Sockets.Host = true })
			f.expectDialled(c, s.address)
			f.expectDialled(c, f.serve("unix", "@sandboxtest-"+f.Marker).address)
		}},
		{name: "variables that lead to the host's daemons are dropped", run: func(f *fixture) {
			const script = `echo "${SSH_AUTH_SOCK-}${DOCKER_HOST-}${DBUS_SESSION_BUS_ADDRESS-}${WAYLAND_DISPLAY-}${DISPLAY-}"`
			environment := map[string]string{"SSH_AUTH_SOCK": "/run/a", "DOCKER_HOST": "unix:///run/d",
				"DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/b", "WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}
			with := func(c sandbox.Confinement) result {
				spec := f.bash(c, script)
				for name, value := range environment {
					spec.Env[name] = value
				}
				return f.run(spec)
			}
			f.expectStdout(with(f.workspaceWrite()), "\n")
			f.expectStdout(with(policy(f, func(p *sandbox.Policy) { p.Sockets.Host = true })),
				"/run/aunix:///run/dunix:path=/run/bw:0\n")
		}},
	}
}

// expectLoopback serves one connection by one command and makes it by another.
func (f *fixture) expectLoopback(c sandbox.Confinement) {
	f.Helper()
	spec := f.program(c, f.binary, attemptWord, "serve once", f.encode(f.targetOf(nil)))
	server := f.start(spec)
	var address string
	f.waitFor("the server", func() bool {
		text, err := os.ReadFile(f.Workspace + "/address")
		address = strings.TrimSpace(string(text))
		return err == nil && strings.HasSuffix(string(text), "\n")
	})
	if c.Report().Network == sandbox.NetworkNone {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			f.Error("the host reaches the server of a command without a network")
		}
	}
	f.expectDialled(c, "tcp:"+address)
	f.expectOK(f.await(server))
}
