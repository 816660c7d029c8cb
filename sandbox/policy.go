package sandbox

import (
	"path/filepath"
	"strings"

	"hardshell/internal/fault"
)

// Policy is the confinement asked for one call. It is data: the same policy may
// cross to another process. Every path is absolute.
type Policy struct {
	Mode Mode `json:"mode"`
	// WorkspaceRoot is carried in every mode; WorkspaceWrite makes it writable.
	WorkspaceRoot string `json:"workspaceRoot"`
	// SessionID names the session whose temp and logs the command may see; ""
	// gives it a temp of its own.
	SessionID string `json:"sessionId,omitempty"`
	// WritableRoots are further directories that WorkspaceWrite makes writable.
	// Naming one is an explicit grant: it wins over Protect and Hide.
	WritableRoots []string `json:"writableRoots,omitempty"`
	// Physical says that no root had a link in it when it was chosen: one that
	// has one now is refused, since it was put there to lead elsewhere.
	Physical bool `json:"physical,omitempty"`
	// Protect adds to the files and directories inside of the workspace that
	// stay read-only; the control files of its repository always are.
	Protect []string `json:"protect,omitempty"`
	// Hide lists what cannot be read, besides the home of hardshell.
	Hide []string `json:"hide,omitempty"`
	// Network is NetworkOpen when "".
	Network Network `json:"network,omitempty"`
	// Sockets says which Unix sockets of the host may be reached.
	Sockets Sockets `json:"sockets,omitzero"`
	// Caches says what package managers cache into; CachesPrivate when "".
	Caches Caches `json:"caches,omitempty"`
	// UserHome is where the user's caches are; "" is the home directory of the
	// user that the provider runs as.
	UserHome string `json:"userHome,omitempty"`
	// PIDs bounds the processes of the sandbox; 0 is DefaultPIDs.
	PIDs int `json:"pids,omitempty"`
	// DenyPtrace refuses ptrace and process_vm_* also inside of the sandbox.
	DenyPtrace bool `json:"denyPtrace,omitempty"`
}

// DefaultPIDs is how many processes a sandbox may have at once.
const DefaultPIDs = 4096

// Network is what a command may reach beyond Unix sockets.
type Network string

// NetworkNone leaves a loopback that the commands of one sandbox share.
const (
	NetworkOpen Network = "open"
	NetworkNone Network = "none"
)

// ParseNetwork returns the network that s spells, or an INVALID_ARGUMENT error.
func ParseNetwork(s string) (Network, error) {
	switch n := Network(s); n {
	case NetworkOpen, NetworkNone:
		return n, nil
	default:
		return "", fault.New(fault.InvalidArgument, "unknown network %q: use %s or %s", s, NetworkOpen, NetworkNone)
	}
}

// Sockets are the Unix sockets of the host that a command may connect to. The
// zero value is none: those under writable roots and in the temp remain.
type Sockets struct {
	// Host lifts the restriction.
	Host bool `json:"host,omitempty"`
	// Paths are sockets, and directories of sockets, that may be reached.
	Paths []string `json:"paths,omitempty"`
}

// IsZero reports whether no socket of the host may be reached.
func (s Sockets) IsZero() bool { return !s.Host && len(s.Paths) == 0 }

// Caches says where package managers keep what they download.
type Caches string

// The caches of WorkspaceWrite. ReadOnly writes to none.
const (
	// CachesPrivate is a directory per workspace, kept between sessions.
	CachesPrivate Caches = "private"
	// CachesShared makes the user's own caches writable.
	CachesShared Caches = "shared"
	// CachesNone leaves the user's caches readable.
	CachesNone Caches = "none"
)

// ParseCaches returns the caches that s spells, or an INVALID_ARGUMENT error.
func ParseCaches(s string) (Caches, error) {
	switch c := Caches(s); c {
	case CachesPrivate, CachesShared, CachesNone:
		return c, nil
	default:
		return "", fault.New(fault.InvalidArgument, "unknown caches %q: use %s, %s or %s", s, CachesPrivate, CachesShared, CachesNone)
	}
}

// Validate refuses a policy that no provider could enforce, INVALID_ARGUMENT.
// A mode that is none of the vocabulary is refused, never taken for another.
func (p *Policy) Validate() error {
	if _, err := ParseMode(string(p.Mode)); err != nil {
		return err
	}
	paths := append([]string{p.WorkspaceRoot}, p.WritableRoots...)
	if p.UserHome != "" {
		paths = append(paths, p.UserHome)
	}
	paths = append(paths, p.Protect...)
	paths = append(paths, p.Hide...)
	paths = append(paths, p.Sockets.Paths...)
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			return fault.New(fault.InvalidArgument, "sandbox policy: the path %q is not absolute", path)
		}
		if strings.IndexByte(path, 0) >= 0 {
			return fault.New(fault.InvalidArgument, "sandbox policy: a path contains a NUL byte: remove it")
		}
	}
	if p.Network != "" {
		if _, err := ParseNetwork(string(p.Network)); err != nil {
			return err
		}
	}
	if p.Caches != "" {
		if _, err := ParseCaches(string(p.Caches)); err != nil {
			return err
		}
	}
	if p.PIDs < 0 {
		return fault.New(fault.InvalidArgument, "sandbox policy: pids must not be negative")
	}
	return nil
}
