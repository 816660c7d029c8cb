package native

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hardshell/internal/realpath"
	"hardshell/sandbox"
)

// What a program says when it was refused a file, by how: see errno(3). These
// are the words of the C library in its own language; a program that speaks
// another is not understood.
const (
	saysReadOnly = "read-only file system"   // EROFS, of the mounts
	saysDenied   = "permission denied"       // EACCES, of Landlock
	saysBusy     = "device or resource busy" // EBUSY, of renames onto protected paths
)

// Denied implements sandbox.Confinement by what the command's standard error
// says: a line with the words of a refusal. Where the line names a path, the
// path must be one that this confinement refuses; a path that it leaves alone
// was refused by something else.
func (c *confined) Denied(o sandbox.Outcome) bool {
	if o.ExitCode == nil || *o.ExitCode == 0 {
		return false
	}
	for line := range strings.Lines(o.Stderr) {
		if c.deniedLine(strings.TrimRight(line, "\r\n"), o.Workdir) {
			return true
		}
	}
	return false
}

func (c *confined) deniedLine(line, workdir string) bool {
	lower := strings.ToLower(line)
	path, named := namedPath(line, workdir)
	switch {
	case strings.Contains(lower, saysBusy):
		return named && slices.ContainsFunc(slices.Concat(c.plan.protected, c.plan.pinned), func(p string) bool { return realpath.Within(path, p) })
	case c.report.Tier != sandbox.TierLandlock:
		return strings.Contains(lower, saysReadOnly) && (!named || !c.allows(path)) ||
			strings.Contains(lower, saysDenied) && named && c.plan.hides(path)
	default:
		// Ordinary permissions say the same: only what this process could do
		// itself was refused by the sandbox.
		return strings.Contains(lower, saysDenied) && named && !c.allows(path) && (couldWrite(path) || c.plan.hides(path))
	}
}

// allows reports whether a path can be written as far as c is concerned.
func (c *confined) allows(path string) bool {
	pl := c.plan
	in := func(roots []string) bool {
		return slices.ContainsFunc(roots, func(root string) bool { return realpath.Within(path, root) })
	}
	if in(pl.granted) {
		return true
	}
	if in(pl.protected) || pl.hides(path) {
		return false
	}
	if pl.policy.Mode == sandbox.ReadOnly && realpath.Within(path, pl.policy.WorkspaceRoot) {
		return false // also where it lies in /tmp
	}
	return in(pl.writable) || realpath.Within(path, pl.temp) ||
		c.private && (realpath.Within(path, "/tmp") || realpath.Within(path, "/var/tmp") || realpath.Within(path, "/dev/shm"))
}

// hides reports whether a path cannot be seen.
func (pl *plan) hides(path string) bool {
	return slices.ContainsFunc(append([]string{pl.home}, pl.hidden...), func(root string) bool { return realpath.Within(path, root) })
}

// quoted finds the paths that programs put into quotes of any kind.
var quoted = lazily(`['"` + "`" + `‘“]([^'"` + "`" + `’”]+)['"` + "`" + `’”]`)

// bashLine is a message of bash about a file: a word without a slash is one there.
var bashLine = lazily(`^(ba)?sh: line \d+: [^/: ]+: [A-Z]`)

// namedPath is the path that a line of standard error is about, made physical.
func namedPath(line, workdir string) (path string, ok bool) {
	candidate := ""
	if match := quoted().FindStringSubmatch(line); match != nil {
		candidate = match[1]
	} else {
		// bash: line 1: /etc/x: Read-only file system
		parts := strings.Split(line, ": ")
		for i, part := range parts {
			lower := strings.ToLower(part)
			if i > 0 && (strings.HasPrefix(lower, saysReadOnly) || strings.HasPrefix(lower, saysDenied) || strings.HasPrefix(lower, saysBusy)) {
				candidate = parts[i-1]
				if cut := strings.LastIndexByte(candidate, ' '); cut >= 0 && !strings.HasPrefix(candidate, "/") {
					candidate = candidate[cut+1:] // could not write config file .git/config
				}
			}
		}
		if i := len(parts) - 1; candidate == "" || !strings.Contains(candidate, "/") && strings.HasPrefix(parts[i], "/") {
			candidate = parts[i]
		}
	}
	if !strings.Contains(candidate, "/") && !bashLine().MatchString(line) {
		return "", false
	}
	if !filepath.IsAbs(candidate) {
		candidate = filepath.Join(workdir, candidate)
	}
	dir := realpath.Canonical(filepath.Dir(candidate))
	return filepath.Join(dir, filepath.Base(candidate)), true
}

// lazily compiles an expression when it is first needed: most commands are not
// refused anything.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
