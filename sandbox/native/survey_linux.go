package native

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"hardshell/internal/landlock"
	"hardshell/internal/spawn"
)

// tryCommand runs a shell that does nothing. A host without one is believed.
func tryCommand(c confinement) error {
	starter, ok := c.(spawn.Starter)
	if _, err := os.Stat("/bin/sh"); err != nil || !ok {
		return nil
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	fd := int(null.Fd())
	child, err := starter.Start(&spawn.Attr{
		Path: "/bin/sh", Argv: []string{"sh", "-c", ":"}, Dir: "/", Files: []int{fd, fd, fd},
	})
	if err != nil {
		return err
	}
	child.WaitExit()
	if status := child.Reap(); status.Code != 0 {
		return fmt.Errorf("a command that does nothing ended with status %d %s", status.Code, status.Signal)
	}
	return nil
}

// hostFacts reads what may stand in the way of a tier.
func hostFacts() facts {
	f := facts{
		arch: runtime.GOARCH, root: os.Geteuid() == 0, fastSpawn: spawn.CanConfine(),
		portable:      os.Getenv("HARDSHELL_SPAWN") == "portable",
		usernsClone:   sysctl("kernel/unprivileged_userns_clone"),
		maxUserns:     sysctl("user/max_user_namespaces"),
		apparmor:      sysctl("kernel/apparmor_restrict_unprivileged_userns"),
		memfdNoexec:   sysctl("vm/memfd_noexec"),
		lsm:           readLine("/sys/kernel/security/lsm"),
		apparmorLabel: readLine("/proc/self/attr/current"),
		version:       readLine("/proc/version"),
		docker:        present("/.dockerenv"),
		podman:        present("/run/.containerenv"),
		kubernetes:    os.Getenv("KUBERNETES_SERVICE_HOST") != "",
		maskedProc:    maskedProc(readAll("/proc/self/mountinfo")),
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		f.kernel = unix.ByteSliceToString(name.Release[:])
	}
	f.seccomp, f.noNewPrivs = confinedAlready(readAll("/proc/self/status"))
	f.landlockABI, f.landlock = landlock.ABI()
	if path, err := os.Executable(); err == nil {
		f.executable, _ = filepath.EvalSymlinks(path)
	}
	return f
}

// confinedAlready reads the filter of system calls and no_new_privs out of
// /proc/self/status: see proc_pid_status(5).
func confinedAlready(status string) (seccomp, noNewPrivs bool) {
	for line := range strings.Lines(status) {
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "Seccomp":
			seccomp = strings.TrimSpace(value) == "2"
		case "NoNewPrivs":
			noNewPrivs = strings.TrimSpace(value) == "1"
		}
	}
	return seccomp, noNewPrivs
}

// maskedProc reports whether something is mounted over a part of /proc: then a
// process without privileges cannot mount a new one (mount_too_revealing in the
// kernel's fs/namespace.c). Automounts do not count.
func maskedProc(mountinfo string) bool {
	for line := range strings.Lines(mountinfo) {
		fields, rest, _ := strings.Cut(line, " - ")
		words := strings.Fields(fields)
		if len(words) > 4 && strings.HasPrefix(words[4], "/proc/") && !strings.HasPrefix(rest, "autofs ") && !strings.HasPrefix(rest, "binfmt_misc ") {
			return true
		}
	}
	return false
}

// sysctl reads a setting of the kernel: -1 when there is none.
func sysctl(name string) int {
	value, err := strconv.Atoi(readLine("/proc/sys/" + name))
	if err != nil {
		return -1
	}
	return value
}

func readLine(path string) string {
	return strings.TrimRight(readAll(path), "\n\x00 ")
}

// readAll is the text of a small file of the kernel, "" without one.
func readAll(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

// landlockCause says why there is no Landlock, by the answer of the kernel:
// landlock_create_ruleset(2).
func landlockCause(err error) landlockState {
	switch {
	case err == nil:
		return landlockWorks
	case errors.Is(err, unix.EOPNOTSUPP):
		return landlockDisabled
	case errors.Is(err, unix.ENOSYS):
		return landlockMissing
	default:
		return landlockRefused
	}
}
