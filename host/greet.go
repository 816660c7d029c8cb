//go:build unix

package host

import (
	"crypto/subtle"
	"os"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
)

// greeting is how long a client may take to say who it is.
const greeting = 10 * time.Second

// greet reads a client's first message and decides whether it may attach. A
// connection over the socket must be this user's, and know the key.
func (s *server) greet(conn *hostwire.Conn, trusted bool) (*hostwire.Attach, error) {
	if !trusted {
		if uid, err := conn.PeerUID(); err != nil || uid != os.Geteuid() {
			return nil, fault.New(fault.InvalidArgument, "this session belongs to another user")
		}
	}
	conn.SetReceiveDeadline(time.Now().Add(greeting))
	m, files, err := conn.Receive()
	if err != nil {
		return nil, &hangUp{err}
	}
	hostwire.CloseFiles(files)
	attach := m.Attach
	if attach == nil || attach.Magic != hostwire.Magic {
		return nil, &hangUp{fault.New(fault.Invariant, "a connection did not begin with an attach")}
	}
	if attach.Version != hostwire.Version {
		return nil, fault.New(fault.InvalidArgument,
			"the host of session %s speaks protocol %d and this program %d, because one of them was replaced: end the session, or wait until its commands have ended",
			s.session, hostwire.Version, attach.Version)
	}
	if !trusted && subtle.ConstantTimeCompare(attach.Key, s.key) != 1 {
		return nil, fault.New(fault.InvalidArgument, "the key of session %s is wrong: it is read from the home's run directory", s.session)
	}
	if attach.Session != s.session {
		return nil, fault.New(fault.InvalidArgument, "this is the host of another session")
	}
	conn.SetReceiveDeadline(time.Time{})
	conn.Trust()
	return attach, nil
}
