package native

import (
	"fmt"
	"os"
	"path/filepath"

	"hardshell/internal/realpath"
	"hardshell/sandbox"
)

// runKept is what of /run a sandbox sees: nothing that can be connected to.
var runKept = []string{
	"/run/systemd/resolve/stub-resolv.conf", "/run/systemd/resolve/resolv.conf", // /etc/resolv.conf leads there
	"/run/resolvconf/resolv.conf", "/run/NetworkManager/resolv.conf", "/run/connman/resolv.conf",
	"/run/media", "/run/mount", // removable disks
	"/run/current-system", "/run/opengl-driver", "/run/booted-system", // NixOS
	"/run/lock", "/run/utmp",
}

// socketDirs hold nothing but sockets of the host's services and of its users'
// programs, now or later.
var socketDirs = []string{"/run", "/var/lib/docker", "/var/lib/containerd", "/var/snap"}

// devices are those that every program may expect.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// layout is the plan as a file system.
func (pl *plan) layout() (*layout, error) {
	var list []placement
	add := func(kind kind, path, source string) {
		list = append(list, placement{path: path, kind: kind, source: source})
	}
	cover := func(path string) {
		switch info, err := os.Lstat(path); {
		case err != nil || info.Mode()&os.ModeSymlink != 0:
		case info.IsDir():
			add(coverDir, path, "")
		default:
			add(coverFile, path, "")
		}
	}
	// Later ones win over earlier ones at the same path; the deeper always over
	// the less deep.
	add(scratch, "/dev/shm", "")
	if !pl.policy.Sockets.Host {
		for _, dir := range socketDirs {
			cover(realpath.Canonical(dir))
		}
		for _, path := range runKept {
			// A link, of NixOS for instance, is kept by what it leads to.
			if real, err := filepath.EvalSymlinks(path); err == nil && realpath.Within(real, "/run") {
				add(readOnly, real, "")
			}
		}
		for _, path := range pl.uncovered {
			cover(path)
		}
		for _, path := range pl.sockets {
			if _, err := os.Stat(path); err == nil {
				add(readOnly, realpath.Canonical(path), "")
			}
		}
	}
	for _, dir := range []string{"/tmp", "/var/tmp"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			add(temp, realpath.Canonical(dir), "")
		}
	}
	cover(pl.home)
	for _, path := range pl.hidden {
		if _, err := os.Lstat(path); err != nil {
			return nil, fmt.Errorf("%w: %w", errMoved, err)
		}
		cover(path)
	}
	for _, path := range pl.shown {
		add(readOnly, path, "")
	}
	for _, c := range pl.caches {
		switch {
		case c.private == "":
			add(tree, c.dir, "")
		case c.dir == "":
			add(tree, realpath.Canonical(c.private), "")
		default:
			add(tree, c.dir, realpath.Canonical(c.private))
		}
	}
	if pl.policy.Mode == sandbox.WorkspaceWrite {
		for _, path := range pl.writable {
			add(tree, path, "")
		}
		for _, path := range pl.pinned {
			add(tree, path, "")
		}
		for _, path := range pl.protected {
			add(readOnly, path, "")
		}
		for _, path := range pl.granted {
			add(tree, path, "")
		}
	} else if underSynthetic := enclosing(sorted(list), realpath.Canonical(pl.policy.WorkspaceRoot)); underSynthetic != nil && underSynthetic.synthetic() {
		// A workspace in /tmp is to be seen, too.
		add(readOnly, realpath.Canonical(pl.policy.WorkspaceRoot), "")
	}
	return arrange(list, pl.temp)
}
