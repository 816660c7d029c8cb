// Package policy decides which sandbox.Policy a call runs under: the standing
// one of the composition, narrowed or widened by a session's override and by
// an approval of that very call.
package policy

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"hardshell/internal/fault"
	"hardshell/internal/realpath"
	"hardshell/sandbox"
)

// Config is the standing policy. A path may begin with "~/", the user's home
// directory.
type Config struct {
	// Mode is what a call may do to files; ReadOnly when "".
	Mode sandbox.Mode
	// WorkspaceRoot is the workspace of calls without a session; the working
	// directory when "".
	WorkspaceRoot string
	// WritableRoots are further directories that WorkspaceWrite makes writable,
	// absolute.
	WritableRoots []string
	// Protect are files and directories that stay read-only inside of writable
	// ones. A relative path is taken from the workspace of the call.
	Protect []string
	// Hide are files and directories that cannot be read, absolute. Nil stands
	// for DefaultHide; an empty list hides nothing.
	Hide []string
	// The rest is as in sandbox.Policy.
	Network    sandbox.Network
	Sockets    sandbox.Sockets
	Caches     sandbox.Caches
	PIDs       int
	DenyPtrace bool
}

// Session is what a session says about the policy of its calls.
type Session struct {
	ID string
	// Workspace is the absolute working directory that the session has for
	// life.
	Workspace string
	// Mode is the session's override, "" when it has none.
	Mode sandbox.Mode
}

// Service resolves the policy of each call. It is immutable and safe for
// concurrent use.
type Service struct {
	standing sandbox.Policy
	protect  []string
}

// New returns the service of a standing policy. INVALID_ARGUMENT for a mode or
// another word that is none, for a relative path where an absolute one is
// needed, and for "~/" when the user's home directory is unknown.
func New(config Config) (*Service, error) { return newService(config, homeDirectory()) }

// homeDirectory is $HOME, else what the system has on record, else "".
func homeDirectory() string {
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return home
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}

func newService(config Config, home string) (*Service, error) {
	if config.Mode == "" {
		config.Mode = sandbox.ReadOnly
	}
	if config.Hide == nil {
		config.Hide = DefaultHide(home)
	}
	if config.WorkspaceRoot == "" {
		config.WorkspaceRoot = "."
	}
	p := paths{home: home}
	root, err := filepath.Abs(realpath.Canonical(p.expand(config.WorkspaceRoot)))
	if err != nil {
		return nil, fault.New(fault.InvalidArgument,
			"sandbox policy: the workspace %q is relative and the working directory is gone: name an absolute one (%w)", config.WorkspaceRoot, err)
	}
	s := &Service{
		standing: sandbox.Policy{
			Mode: config.Mode, WorkspaceRoot: root,
			WritableRoots: p.canonical("writable root", config.WritableRoots),
			Hide:          p.absolute("hidden path", config.Hide),
			Network:       config.Network,
			Sockets:       sandbox.Sockets{Host: config.Sockets.Host, Paths: p.absolute("socket", config.Sockets.Paths)},
			Caches:        config.Caches, PIDs: config.PIDs, DenyPtrace: config.DenyPtrace,
		},
	}
	for _, path := range config.Protect {
		s.protect = append(s.protect, p.expand(path))
	}
	if p.err != nil {
		return nil, p.err
	}
	if _, err := s.Resolve(nil, ""); err != nil {
		return nil, err
	}
	return s, nil
}

// Default returns the policy of a call without session and approval.
func (s *Service) Default() sandbox.Policy {
	policy := s.standing
	policy.WritableRoots = slices.Clone(policy.WritableRoots)
	policy.Hide = slices.Clone(policy.Hide)
	policy.Sockets.Paths = slices.Clone(policy.Sockets.Paths)
	policy.Protect = s.protectIn(policy.WorkspaceRoot)
	return policy
}

// Resolve returns the policy of one call, which the caller owns: the mode that
// was approved for it, else the session's override, else the standing one, in
// the session's workspace. Both arguments may be zero.
//
// INVALID_ARGUMENT for a mode that is none, whoever asked for it: a session's
// log that was damaged never widens anything. A grant changes nothing but the
// mode.
func (s *Service) Resolve(session *Session, approved sandbox.Mode) (sandbox.Policy, error) {
	policy := s.Default()
	if session != nil {
		if !filepath.IsAbs(session.Workspace) {
			return sandbox.Policy{}, fault.New(fault.InvalidArgument,
				"session header cwd must be an absolute path, got %q", session.Workspace)
		}
		policy.SessionID = session.ID
		policy.WorkspaceRoot = realpath.Canonical(session.Workspace)
		policy.Protect = s.protectIn(policy.WorkspaceRoot)
		if session.Mode != "" {
			// Checked even if an approval outranks it.
			if _, err := sandbox.ParseMode(string(session.Mode)); err != nil {
				return sandbox.Policy{}, fault.New(fault.InvalidArgument,
					"sandbox/mode carries unknown mode %q: set the mode of the session again", string(session.Mode))
			}
			policy.Mode = session.Mode
		}
	}
	if approved != "" {
		policy.Mode = approved
	}
	if err := policy.Validate(); err != nil {
		return sandbox.Policy{}, err
	}
	return policy, nil
}

// protectIn returns the protected paths of a workspace.
func (s *Service) protectIn(workspace string) []string {
	var out []string
	for _, path := range s.protect {
		out = append(out, realpath.Join(workspace, path))
	}
	return out
}

// paths makes the paths of a configuration absolute and keeps the first error.
type paths struct {
	home string // "" when it is unknown
	err  error
}

// expand replaces a leading "~".
func (p *paths) expand(path string) string {
	rest, below := strings.CutPrefix(path, "~"+string(filepath.Separator))
	if path != "~" && !below {
		return path
	}
	if p.home == "" {
		p.fail("%q is below the home directory, which is unknown: set HOME or name an absolute path", path)
		return path
	}
	if !below {
		return p.home
	}
	return realpath.Join(p.home, rest)
}

func (p *paths) absolute(what string, list []string) []string {
	var out []string
	for _, path := range list {
		expanded := p.expand(path)
		if !filepath.IsAbs(expanded) {
			p.fail("the %s %q is not absolute: name an absolute path or one that begins with ~/", what, path)
		}
		out = append(out, expanded)
	}
	return out
}

// canonical is absolute, resolved and without duplicates.
func (p *paths) canonical(what string, list []string) []string {
	var out []string
	for _, path := range p.absolute(what, list) {
		if real := realpath.Canonical(path); !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
}

func (p *paths) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fault.New(fault.InvalidArgument, "sandbox policy: "+format, args...)
	}
}
