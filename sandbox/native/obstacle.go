package native

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"hardshell/internal/fault"
	"hardshell/internal/realpath"
	"hardshell/sandbox"
)

// look resolves a path. The error says that nothing is there, by
// realpath.LeadsNowhere, or that it cannot be told: real is then the directory
// that cannot be looked into. A command may have taken the permissions of one
// that is its user's, to give them back when it runs the next time, so that the
// two are never the same.
func look(path string) (real string, err error) {
	if _, err := os.Lstat(path); realpath.LeadsNowhere(err) {
		return "", err // most paths, at the cost of one call
	}
	return realpath.Reach(path)
}

// openable reports whether a command of this user could look into a directory
// after all: it was refused to its owner, or failed for another reason.
func openable(real string, err error) bool {
	return !errors.Is(err, fs.ErrPermission) || realpath.Owned(real)
}

// hide plans that a path cannot be read. Where it cannot be told what is there,
// the directory that cannot be looked into is hidden as a whole.
func (pl *plan) hide(path string) error {
	real, err := look(path)
	switch {
	case err == nil:
		pl.hidden = append(pl.hidden, hidden(path, real, pl.policy.WorkspaceRoot))
	case realpath.LeadsNowhere(err): // most: the list is for everybody
		pl.missing = append(pl.missing, path)
	default:
		pl.blocked = append(pl.blocked, path)
		if !openable(real, err) {
			return nil
		}
		if pl.holdsRoot(real) {
			return &obstacle{at: real, err: err}
		}
		pl.hidden = append(pl.hidden, real)
	}
	return nil
}

// protect plans that a path stays as it is; see hide.
func (pl *plan) protect(path string) error {
	real, err := look(path)
	switch {
	case err == nil:
		pl.protected = append(pl.protected, real)
	case realpath.LeadsNowhere(err):
		pl.missing = append(pl.missing, path)
	default:
		return pl.closeOff(path, real, err)
	}
	return nil
}

// closeOff protects the directory real, in which path cannot be examined, as a
// whole, where a command could write to it.
func (pl *plan) closeOff(path, real string, err error) error {
	pl.blocked = append(pl.blocked, path)
	within := func(root string) bool { return realpath.Within(real, root) }
	if !openable(real, err) || !slices.ContainsFunc(pl.writable, within) {
		return nil
	}
	if pl.holdsRoot(real) {
		return &obstacle{at: real, err: err}
	}
	pl.protected = append(pl.protected, real)
	return nil
}

// holdsRoot reports whether a directory cannot be closed as a whole without
// closing what a command is run for.
func (pl *plan) holdsRoot(dir string) bool {
	within := func(root string) bool { return realpath.Within(root, dir) }
	return within(pl.policy.WorkspaceRoot) || slices.ContainsFunc(pl.writable, within)
}

// recheck leaves out of paths what went away since it was found. What cannot be
// examined any more is closed off.
func (pl *plan) recheck(paths []string) (there []string, err error) {
	for _, path := range paths {
		switch _, lookErr := os.Lstat(path); {
		case lookErr == nil:
			there = append(there, path)
		case !realpath.LeadsNowhere(lookErr):
			real, reached := realpath.Reach(path)
			if reached == nil {
				there = append(there, path)
			} else if err := pl.closeOff(path, real, reached); err != nil {
				return nil, err
			}
		}
	}
	return there, nil
}

// unveil leaves out of paths those below a hidden one: as a mount of its own
// each would be seen. Roots below a hidden directory, and what is in them, are
// seen.
func (pl *plan) unveil(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		return slices.ContainsFunc(pl.hidden, func(veil string) bool {
			return realpath.Within(path, veil) && !slices.ContainsFunc(pl.writable, func(root string) bool {
				return realpath.Within(path, root) && realpath.Within(root, veil)
			})
		})
	})
}

// obstacle refuses to run anything: a directory cannot be looked into, and
// cannot be closed as a whole either.
type obstacle struct {
	at  string
	err error
}

func (o *obstacle) Error() string { return reason(o.err) + " at " + o.at }
func (o *obstacle) Unwrap() error { return o.err }

// refusal is what the caller is told.
func (o *obstacle) refusal() error {
	return fault.New(sandbox.ErrUnavailable, "the command was not run: %q cannot be looked into (%s), "+
		"and may hold what is to be hidden or protected. %s", o.at, reason(o.err), remedy(o.at, o.err))
}

// remedy says how to mend what cannot be looked into.
func remedy(at string, err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "Give yourself access to it: chmod u+rwX '" + strings.ReplaceAll(at, "'", `'\''`) + "'"
	}
	return "Mend or remove what is broken there, a file system that does not answer for instance"
}

// reason is an error without the path that it is about.
func reason(err error) string {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}

// errMoved is a plan that does not fit the host any more: it is made anew.
var errMoved = errors.New("what is to be hidden was moved")
