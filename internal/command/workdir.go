//go:build unix

package command

import (
	"os"
	"path/filepath"
	"strings"
)

// WithPWD returns a child's explicit entries and in them the spelling of its
// working directory: a PWD inherited from elsewhere may name a symbolic link to
// it, and a shell would believe it. It does not change env.
func WithPWD(env map[string]string, dir string) map[string]string {
	if _, explicit := env["PWD"]; explicit || dir == "" {
		return env
	}
	if !strings.HasPrefix(dir, "/") {
		own, err := os.Getwd()
		if err != nil {
			return env
		}
		dir = own + "/" + dir
	}
	if filepath.Clean(dir) != dir {
		// A shell takes link/.. out of PWD as text; the kernel followed the link.
		physical, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return env // the spawn will say why
		}
		dir = physical
	}
	with := make(map[string]string, len(env)+1)
	for name, value := range env {
		with[name] = value
	}
	with["PWD"] = dir
	return with
}
