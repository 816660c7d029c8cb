package state

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"hardshell/internal/fault"
)

// homeVariable names the environment variable that says where the home is.
const homeVariable = "DSH_HOME"

// privateDir and privateFile are the modes of everything in a home.
const (
	privateDir  fs.FileMode = 0o700
	privateFile fs.FileMode = 0o600
)

// Home is the directory that holds all state. The zero value is no home.
type Home struct {
	root string
}

// ResolveHome returns the home that explicit names, else the one that
// $DSH_HOME names, else ~/.hardshell. What is blank names nothing. A leading ~
// alone or before a separator is the user's home directory; ~user is not
// expanded. A relative path is taken from the working directory. Nothing is
// created.
//
// INVALID_ARGUMENT for a path that can be none, and when the user's home
// directory is needed but unknown.
func ResolveHome(explicit string) (Home, error) {
	path := explicit
	if isBlank(path) {
		path = os.Getenv(homeVariable)
	}
	if isBlank(path) {
		path = filepath.Join("~", ".hardshell")
	}
	if strings.IndexByte(path, 0) >= 0 {
		return Home{}, fault.New(fault.InvalidArgument, "the path of the home contains a NUL byte: remove it")
	}
	path, err := expandTilde(path)
	if err != nil {
		return Home{}, err
	}
	root, err := filepath.Abs(path)
	if err != nil {
		return Home{}, fault.New(fault.InvalidArgument,
			"the home %q is relative and the working directory is gone: pass an absolute --home (%w)", path, err)
	}
	return Home{root: root}, nil
}

// Root is the absolute path of the home.
func (h Home) Root() string { return h.root }

// Run is the directory of locks, sockets and keys. Nothing confined sees it.
func (h Home) Run() string { return filepath.Join(h.root, "run") }

// Sessions is the directory with one directory per session.
func (h Home) Sessions() string { return filepath.Join(h.root, "sessions") }

// Session is the directory of one session. Like every method that takes a
// session's id it panics when the id is invalid: ids are checked with
// ValidateSessionID where they come in, and one that was not must not become
// a path.
func (h Home) Session(id string) string { return filepath.Join(h.Sessions(), segment(id)) }

// SessionLog is the log of one session, a file for AppendLine.
func (h Home) SessionLog(id string) string { return filepath.Join(h.Session(id), "log.jsonl") }

// Spills is the directory with one directory of spill files per session.
func (h Home) Spills() string { return filepath.Join(h.root, "spill") }

// Spill is the directory of one session's spill files.
func (h Home) Spill(id string) string { return filepath.Join(h.Spills(), segment(id)) }

// Jobs is the directory of one session's background jobs.
func (h Home) Jobs(id string) string { return filepath.Join(h.root, "jobs", segment(id)) }

// Temp is the private temp of one session's confined commands.
func (h Home) Temp(id string) string { return filepath.Join(h.root, "tmp", segment(id)) }

// Caches is the directory with one directory of package managers' caches per
// workspace.
func (h Home) Caches() string { return filepath.Join(h.root, "cache") }

// Ensure creates the home and the given directories, which lie in it, with
// their parents, mode 0700. Directories that exist are left as they are: Check
// says whether the home can be trusted. INVALID_ARGUMENT when the home cannot
// be created, wrapping the cause.
func (h Home) Ensure(dirs ...string) error {
	for _, dir := range append([]string{h.root}, dirs...) {
		if err := os.MkdirAll(dir, privateDir); err != nil {
			return fault.New(fault.InvalidArgument,
				"the home %s cannot be used: %w. Choose another directory with --home or $%s", h.root, err, homeVariable)
		}
	}
	return nil
}

// Check returns nil when the home can be trusted: it does not exist yet, or it
// is a directory of this user that nobody else can write to. Otherwise the
// error, code INVALID_ARGUMENT, says what is wrong and how to put it right.
func (h Home) Check() error {
	info, err := os.Stat(h.root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fault.New(fault.InvalidArgument, "the home %s cannot be examined: %w", h.root, err)
	case !info.IsDir():
		return fault.New(fault.InvalidArgument,
			"the home %s is not a directory: choose another with --home or $%s", h.root, homeVariable)
	}
	return checkOwner(h.root, info)
}

// expandTilde replaces a leading ~. A backslash separates here on every
// system, so that one spelling serves a configuration shared by several.
func expandTilde(path string) (string, error) {
	if path != "~" && !strings.HasPrefix(path, "~/") && !strings.HasPrefix(path, `~\`) {
		return path, nil
	}
	dir, err := userHome()
	if err != nil {
		return "", fault.New(fault.InvalidArgument,
			"the user's home directory is unknown: set HOME, or pass an absolute --home or $%s (%w)", homeVariable, err)
	}
	return filepath.Join(dir, strings.TrimLeft(path[1:], `/\`)), nil
}

// userHome asks the environment, then the user database: a server may be
// started with no environment at all.
func userHome() (string, error) {
	dir, err := os.UserHomeDir()
	if err == nil {
		return dir, nil
	}
	current, userErr := user.Current()
	switch {
	case userErr != nil:
		return "", errors.Join(err, userErr)
	case current.HomeDir == "":
		return "", err
	}
	return current.HomeDir, nil
}

// segment returns id when it is safe as one element of a path.
func segment(id string) string {
	if err := ValidateSessionID(id); err != nil {
		panic(fault.New(fault.Invariant, "a session id that was not validated reached a path: %w", err))
	}
	return id
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }
