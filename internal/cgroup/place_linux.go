package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// place is where groups can be made.
type place struct {
	dir    string   // "" is nowhere
	mounts []string // where the hierarchy is mounted
}

// find finds the place, makes it ready, and removes what others have left there.
func find() place {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return place{}
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return place{}
	}
	dir, top, mounts := locate(string(own), string(table))
	if dir == "" || !isCgroup2(dir) {
		return place{}
	}
	p := place{dir: settle(dir, top, marked), mounts: mounts}
	if p.dir != "" {
		sweep(p.dir)
	}
	return p
}

// locate finds the directory of this process's group in /proc/self/cgroup and
// /proc/self/mountinfo, the mount that it is in, and all mounts of the
// hierarchy. Dir is "" when it cannot be seen, or is one of a tree that is being
// measured: what that makes beside it would escape the measure. See cgroups(7)
// and proc_pid_mountinfo(5).
func locate(own, table string) (dir, top string, mounts []string) {
	group := ""
	for line := range strings.Lines(own) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			group = path
		}
	}
	parts := strings.Split(group, "/")
	measured := slices.ContainsFunc(parts, func(part string) bool {
		_, ok := maker(part)
		return ok
	})
	// A group outside of the cgroup namespace begins with "/..".
	hidden := !strings.HasPrefix(group, "/") || slices.Contains(parts, "..") || strings.HasSuffix(group, " (deleted)")
	for line := range strings.Lines(table) {
		mount, source, _ := strings.Cut(line, " - ")
		fields := strings.Fields(mount) // id parent device root point options …
		if len(fields) < 6 || !strings.HasPrefix(source, "cgroup2 ") {
			continue
		}
		root, point := fields[3], fields[4]
		mounts = append(mounts, point)
		below, ok := strings.CutPrefix(group, strings.TrimSuffix(root, "/"))
		readOnly := slices.Contains(strings.Split(fields[5], ","), "ro")
		// A backslash is the beginning of an escape: no usual place.
		if !ok || below != "" && below[0] != '/' || readOnly || strings.Contains(point, `\`) || measured || hidden {
			continue
		}
		dir, top = filepath.Join(point, below), point
	}
	return dir, top, mounts
}

// isCgroup2 reports whether a directory is a control group: something else may
// have been mounted over it.
func isCgroup2(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Type == unix.CGROUP2_SUPER_MAGIC
}

// settle returns the directory in which a process whose group is dir, in the
// mount top, may make groups that have the memory controller; "" for none.
func settle(dir, top string, marked func(dir string) bool) string {
	above := filepath.Dir(dir)
	switch {
	case mayMake(dir) && has(dir):
		return dir
	case dir != top && marked(above) && mayMake(above) && (has(above) || enable(above)):
		return above
	}
	return ""
}

// marked reports whether systemd has delegated a group to those in it.
func marked(dir string) bool {
	value := make([]byte, 8)
	for _, name := range []string{"user.delegate", "trusted.delegate"} { // the second before version 251
		if n, err := unix.Getxattr(dir, name, value); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

// mayMake reports whether this user may make groups in a group, and have
// processes be born into them: clone(2), CLONE_INTO_CGROUP.
func mayMake(dir string) bool {
	return unix.Access(dir, unix.W_OK) == nil && unix.Access(dir+"/cgroup.procs", unix.W_OK) == nil
}

// enable enables the memory controller for the children of a group: EBUSY when
// a process lives in it, ENOENT when it has none itself.
func enable(dir string) bool {
	file, err := os.OpenFile(dir+"/cgroup.subtree_control", os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	_, err = file.WriteString("+memory")
	return err == nil
}

// has reports whether the children of a group have the memory controller.
func has(dir string) bool {
	list, _ := os.ReadFile(dir + "/cgroup.subtree_control")
	return slices.Contains(strings.Fields(string(list)), "memory")
}
