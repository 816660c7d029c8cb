package sandboxtest

import (
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// mountAttempts change what the sandbox's file system looks like.
var mountAttempts = []attempt{
	{name: "remounting the root writable", do: func(t *target) error {
		if err := unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, ""); err != nil {
			return err
		}
		return t.escape()
	}},
	{name: "remounting the file system of the root writable", rare: true, do: func(t *target) error {
		if err := onlyConfined(); err != nil {
			return err
		}
		return unix.Mount("", "/", "", unix.MS_REMOUNT, "")
	}},
	{name: "remounting any mount writable", do: func(t *target) error {
		return first(eachMount(func(point string) error {
			return unix.Mount("", point, "", unix.MS_REMOUNT|unix.MS_BIND, "")
		})...)
	}},
	{name: "the mount program", do: func(t *target) error {
		if out, err := exec.Command("mount", "-o", "remount,bind,rw", "/").CombinedOutput(); err != nil {
			return &os.PathError{Op: "mount", Path: string(out), Err: err}
		}
		return t.escape()
	}},
	{name: "binding a directory from outside into the workspace", do: func(t *target) error {
		point := t.point()
		if err := unix.Mount(t.Outside, point, "", unix.MS_BIND, ""); err != nil {
			return err
		}
		return os.WriteFile(point+"/file", []byte("escaped\n"), 0o644)
	}},
	{name: "mounting a tmpfs", do: func(t *target) error {
		return unix.Mount("tmpfs", t.point(), "tmpfs", 0, "")
	}},
	{name: "mounting another proc", do: func(t *target) error {
		return unix.Mount("proc", t.point(), "proc", 0, "")
	}},
	{name: "mounting another sysfs", do: func(t *target) error {
		return unix.Mount("sysfs", t.point(), "sysfs", 0, "")
	}},
	{name: "mounting cgroups", rare: true, do: func(t *target) error {
		return unix.Mount("cgroup2", t.point(), "cgroup2", 0, "")
	}},
	{name: "mounting a devpts", do: func(t *target) error {
		return unix.Mount("devpts", t.point(), "devpts", 0, "")
	}},
	{name: "mounting an overlay", rare: true, do: func(t *target) error {
		return unix.Mount("overlay", t.point(), "overlay", 0, "lowerdir="+t.Outside+":"+t.Workspace)
	}},
	{name: "moving a mount", rare: true, do: func(t *target) error {
		if err := onlyConfined(); err != nil {
			return err
		}
		return unix.Mount("/proc", t.point(), "", unix.MS_MOVE, "")
	}},
	{name: "making a mount shared", do: func(t *target) error {
		return unix.Mount("", "/", "", unix.MS_SHARED, "")
	}},
	// Outside of a sandbox this would take the mounts of the test away.
	{name: "taking a mount away", rare: true, do: func(t *target) error {
		if err := onlyConfined(); err != nil {
			return err
		}
		return first(eachMount(func(point string) error {
			return unix.Unmount(point, unix.MNT_DETACH)
		})...)
	}},
	{name: "opening a new file system", do: func(t *target) error {
		_, err := unix.Fsopen("tmpfs", 0)
		return err
	}},
	{name: "picking a file system to configure", do: func(t *target) error {
		_, err := unix.Fspick(unix.AT_FDCWD, "/", 0)
		return err
	}},
	{name: "cloning a mount", do: func(t *target) error {
		_, err := unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE)
		return err
	}},
	{name: "attaching a cloned mount", do: func(t *target) error {
		fd, err := unix.OpenTree(unix.AT_FDCWD, t.Outside, unix.OPEN_TREE_CLONE)
		if err != nil {
			return err
		}
		point := t.point()
		if err := unix.MoveMount(fd, "", unix.AT_FDCWD, point, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return err
		}
		return os.WriteFile(point+"/file", []byte("escaped\n"), 0o644)
	}},
	{name: "moving a mount by the new calls", rare: true, do: func(t *target) error {
		if err := onlyConfined(); err != nil {
			return err
		}
		return unix.MoveMount(unix.AT_FDCWD, "/proc", unix.AT_FDCWD, t.point(), 0)
	}},
	{name: "clearing the read-only flag of all mounts", do: func(t *target) error {
		attr := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &attr); err != nil {
			return err
		}
		return t.escape()
	}},
	{name: "clearing the read-only flag of one mount", do: func(t *target) error {
		return first(eachMount(func(point string) error {
			attr := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
			return unix.MountSetattr(unix.AT_FDCWD, point, 0, &attr)
		})...)
	}},
	{name: "a new root by pivot_root", rare: true, do: func(t *target) error {
		if err := onlyConfined(); err != nil {
			return err
		}
		return first(
			func() error { return unix.PivotRoot(t.Workspace, t.point()) },
			func() error { return unix.PivotRoot(".", ".") },
		)
	}},
	{name: "a new root by chroot", do: func(t *target) error {
		return unix.Chroot(t.Workspace)
	}},
	{name: "opening a file outside by its handle", do: func(t *target) error {
		handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, t.Outside+"/file", 0)
		if err != nil {
			return err
		}
		for _, through := range []string{t.Workspace, t.Outside, "/"} {
			var mount, fd int
			if mount, err = unix.Open(through, unix.O_RDONLY|unix.O_DIRECTORY, 0); err != nil {
				continue
			}
			if fd, err = unix.OpenByHandleAt(mount, handle, unix.O_WRONLY); err == nil {
				unix.Write(fd, []byte("escaped\n"))
				return nil
			}
		}
		return err
	}},
	{name: "turning the quotas of a disk on", do: func(t *target) error {
		none := []byte("/nonexistent\x00")
		return reached(sys(unix.SYS_QUOTACTL, 0x80000200 /* Q_QUOTAON, user */, pointer(none), 0, pointer(none)),
			unix.ENOENT, unix.ENOTBLK, unix.EINVAL)
	}, rare: true},
}

// eachMount is the attempt for every mount that the process sees.
func eachMount(attempt func(point string) error) []func() error {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return []func() error{func() error { return err }}
	}
	attempts := []func() error{func() error { return unix.ENOENT }}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 5 {
			attempts = append(attempts, func() error { return attempt(fields[4]) })
		}
	}
	return attempts
}
