//go:build unix

package local

import (
	"context"
	"path/filepath"
	"strings"

	"hardshell/internal/fault"
	"hardshell/subprocess"
)

// ResolveExecutable implements subprocess.Runtime.
func (r *Runtime) ResolveExecutable(ctx context.Context, name string, env map[string]string) (string, error) {
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
	environ := subprocess.Environ(r.config.ambient(), env, nil, subprocess.DshEnvironment{})
	return lookup(name, environ)
}

// defaultPath is searched when the child has no PATH at all, as execvp(3) does.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// lookup finds a bare program name in the PATH of a child's environment.
// Relative directories in it are taken from this process's own.
func lookup(name string, environ []string) (string, error) {
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
