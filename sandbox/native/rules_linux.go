package native

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"hardshell/internal/landlock"
	"hardshell/internal/realpath"
)

// rules is the plan as a Landlock ruleset. Landlock knows no rule that takes
// away: what is hidden is left out, and everything beside it is let in, level by
// level. What is made there later stays out.
func (pl *plan) rules(abi int) (*landlock.Ruleset, error) {
	write := landlock.WriteRights(abi)
	rules, err := landlock.New(landlock.Handled{
		Files:        write | landlock.ReadRights,
		AbstractUnix: abi >= abstractUnixABI && !pl.policy.Sockets.Host,
		Signals:      abi >= signalABI,
	})
	if err != nil {
		return nil, fmt.Errorf("make a Landlock ruleset: %w", err)
	}
	allow := func(path string, rights landlock.Access) {
		// What went, or became a link, since it was found is left out, and so is
		// what cannot be reached: a directory that can be listed and not entered
		// has such names.
		e := rules.Allow(path, rights)
		if e == unix.EACCES && !slices.Contains(pl.writable, path) {
			return
		}
		if e != nil && !errors.Is(e, fs.ErrNotExist) && e != unix.ELOOP && e != unix.ENOTDIR && err == nil {
			err = fmt.Errorf("make a Landlock rule for %s: %w", path, e)
		}
	}
	// Of the devices only the harmless ones: root could read whole disks.
	out := slices.Concat([]string{pl.home, "/dev"}, pl.hidden)
	allowBeside(out, "/", func(path string) { allow(path, landlock.ReadRights) })
	for _, path := range pl.shown {
		allow(path, landlock.ReadRights)
	}
	both := write | landlock.ReadRights
	for _, path := range pl.writable {
		// What is hidden inside of a root stays hidden.
		allowBeside(slices.DeleteFunc(slices.Clone(out), func(hidden string) bool { return realpath.Within(path, hidden) }), path,
			func(path string) { allow(path, both) })
	}
	allow(pl.temp, both)
	for _, c := range pl.caches {
		if c.private != "" {
			allow(realpath.Canonical(c.private), both)
		} else {
			allow(c.dir, both)
		}
	}
	for _, name := range devices {
		allow("/dev/"+name, landlock.WriteFile|landlock.ReadFile|landlock.Truncate&write)
	}
	if err != nil {
		rules.Close()
		return nil, err
	}
	return rules, nil
}

// abstractUnixABI is the version of Landlock that knows abstract Unix sockets.
const abstractUnixABI = 6

// allowBeside calls allow for path, or, when one of out lies in it, for what it
// holds beside that.
func allowBeside(out []string, path string, allow func(string)) {
	if slices.Contains(out, path) {
		return
	}
	if !slices.ContainsFunc(out, func(hidden string) bool { return realpath.Within(hidden, path) }) {
		allow(path)
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		// What cannot be listed cannot be told apart: nothing of it is let in.
		return
	}
	for _, entry := range entries {
		if entry.Type()&fs.ModeSymlink == 0 {
			allowBeside(out, filepath.Join(path, entry.Name()), allow)
		}
	}
}
