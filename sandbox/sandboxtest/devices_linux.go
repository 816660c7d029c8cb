package sandboxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// deviceAttempts reach the machine below the file system.
var deviceAttempts = []attempt{
	{name: "reading a disk through a node of its own", rare: true, do: func(t *target) error {
		dirs := []string{t.Workspace, os.TempDir(), "/dev", "/dev/shm"}
		var attempts []func() error
		for _, number := range append(values(t.Disks), unix.Mkdev(8, 0), unix.Mkdev(254, 0)) {
			for _, dir := range dirs {
				attempts = append(attempts, func() error {
					node := dir + "/disk"
					defer os.Remove(node)
					if err := unix.Mknod(node, unix.S_IFBLK|0o600, int(number)); err != nil {
						return err
					}
					return readSome(node)
				})
			}
		}
		return first(attempts...)
	}},
	{name: "reading a disk", rare: true, do: func(t *target) error {
		err := error(unix.ENOENT)
		for path := range t.Disks {
			if err = readSome(path); err == nil {
				return nil
			}
		}
		return err
	}},
	{name: "opening a disk to write", rare: true, do: func(t *target) error {
		err := error(unix.ENOENT)
		for path := range t.Disks {
			if err = openToWrite(path); err == nil {
				return nil
			}
		}
		return err
	}},
	{name: "opening the memory of the machine", rare: true, do: func(t *target) error {
		return first(
			func() error { return openToWrite("/dev/mem") },
			func() error { return openToWrite("/dev/kmem") },
			func() error { return openToWrite("/dev/port") },
			func() error { return readSome("/proc/kcore") },
		)
	}},
	{name: "opening the log of the kernel to write", do: func(t *target) error {
		return openToWrite("/dev/kmsg")
	}},
	{name: "opening a terminal of the machine", rare: true, do: func(t *target) error {
		return first(
			func() error { return openToWrite("/dev/console") },
			func() error { return openToWrite("/dev/tty0") },
			func() error { return openToWrite("/dev/tty1") },
		)
	}},
	{name: "opening the program for core dumps to write", do: func(t *target) error {
		return openToWrite("/proc/sys/kernel/core_pattern")
	}},
	{name: "opening the settings of the kernel to write", do: func(t *target) error {
		var attempts []func() error
		for _, name := range []string{"kernel/hostname", "kernel/modprobe", "kernel/hotplug", "vm/overcommit_memory",
			"fs/file-max", "fs/binfmt_misc/register", "net/ipv4/ip_forward"} {
			attempts = append(attempts, func() error { return openToWrite("/proc/sys/" + name) })
		}
		return first(attempts...)
	}},
	{name: "opening the system requests to write", rare: true, do: func(t *target) error {
		return openToWrite("/proc/sysrq-trigger")
	}},
	{name: "opening another switch of the kernel to write", rare: true, do: func(t *target) error {
		return first(
			func() error { return openToWrite("/proc/irq/default_smp_affinity") },
			func() error { return openToWrite("/proc/mtrr") },
			func() error { return openToWrite("/proc/fs/ext4") },
		)
	}},
	{name: "opening a file of /sys to write", do: func(t *target) error {
		var attempts []func() error
		for _, pattern := range []string{"/sys/kernel/mm/*/enabled", "/sys/kernel/uevent_helper", "/sys/power/*",
			"/sys/block/*/queue/*", "/sys/class/net/*/mtu", "/sys/module/*/parameters/*", "/sys/kernel/*"} {
			paths, _ := filepath.Glob(pattern)
			for _, path := range paths {
				attempts = append(attempts, func() error { return openToWrite(path) })
			}
		}
		return first(append(attempts, func() error { return unix.ENOENT })...)
	}},
	{name: "changing a control group", rare: true, do: func(t *target) error {
		var groups []string
		table, _ := os.ReadFile("/proc/self/mountinfo")
		for line := range strings.Lines(string(table)) {
			if fields := strings.Fields(line); strings.Contains(line, " - cgroup") && len(fields) > 5 {
				groups = append(groups, fields[4])
			}
		}
		return first(append(changeGroups(groups), func() error { return unix.ENOENT })...)
	}},
	{name: "writing through the root of pid 1", rare: true, do: func(t *target) error {
		return os.WriteFile("/proc/1/root"+t.Outside+"/file", []byte("escaped\n"), 0o644)
	}},
	{name: "writing through the root of a process outside", do: func(t *target) error {
		return os.WriteFile(fmt.Sprintf("/proc/%d/root%s/file", t.PID, t.Outside), []byte("escaped\n"), 0o644)
	}},
	{name: "writing through the directory of a process outside", do: func(t *target) error {
		return os.WriteFile(fmt.Sprintf("/proc/%d/cwd/file", t.PID), []byte("escaped\n"), 0o644)
	}},
}

// changeGroups tries to make a group below each group, and to join each.
func changeGroups(groups []string) (attempts []func() error) {
	for _, group := range groups {
		attempts = append(attempts,
			func() error {
				made := group + "/sandboxtest"
				if err := os.Mkdir(made, 0o755); err != nil {
					return err
				}
				os.Remove(made)
				return nil
			},
			func() error { return openToWrite(group + "/cgroup.procs") })
	}
	return attempts
}

// openToWrite opens and writes nothing.
func openToWrite(path string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	return unix.Close(fd)
}

// readSome opens and reads a little.
func readSome(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	if n, err := unix.Read(fd, make([]byte, 512)); err != nil || n == 0 {
		return fmt.Errorf("reading %s: %d bytes, %v", path, n, err)
	}
	return nil
}

func values(m map[string]uint64) (list []uint64) {
	for _, v := range m {
		list = append(list, v)
	}
	return list
}
