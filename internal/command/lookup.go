//go:build unix

package command

import (
	"context"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"hardshell/internal/fault"
)

// Resolve returns the absolute path of a program, a bare word or an absolute
// path, as a child with the environment that environ makes would find it:
// INVALID_ARGUMENT for what is neither, SPAWN_FAILED when there is none, the
// context's cause when that has ended.
func Resolve(ctx context.Context, name string, environ func() []string) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	switch {
	case name == "":
		return "", fault.New(fault.InvalidArgument, "the program name must be non-empty")
	case filepath.IsAbs(name):
		if !executable(name) {
			return "", fault.New(fault.SpawnFailed, "%q is not an executable file", name)
		}
		return name, nil
	case strings.ContainsRune(name, '/'):
		return "", fault.New(fault.InvalidArgument, "%q is a relative path: use a bare name or an absolute path", name)
	}
	return Lookup(name, environ())
}

// defaultPath is searched when the child has no PATH at all, as execvp(3) does.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// Lookup finds a bare program name in the PATH of a child's environment.
// Relative directories in it are taken from this process's own. SPAWN_FAILED when there is none.
func Lookup(name string, environ []string) (string, error) {
	path := defaultPath
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			continue // POSIX reads it as the current directory; nobody means that
		}
		candidate, err := filepath.Abs(filepath.Join(dir, name))
		if err == nil && executable(candidate) {
			return candidate, nil
		}
	}
	return "", fault.New(fault.SpawnFailed, "%q was not found on PATH: install it, or give its absolute path", name)
}

// executable reports whether path is a file that this user may execute.
func executable(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG &&
		unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) == nil
}
