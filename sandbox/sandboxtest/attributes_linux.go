package sandboxtest

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"hardshell/sandbox"
)

func metadata(e sandbox.Effects) sandbox.Enforcement { return e.Metadata }

// metadataAttempts change what is known about a file by calls that no program
// of every day makes.
var metadataAttempts = []attempt{
	{name: "setting an attribute of a file outside", governed: metadata, rare: true, do: func(t *target) error {
		return unix.Setxattr(t.Outside+"/file", "user.sandboxtest", []byte("x"), 0)
	}},
	{name: "setting an attribute through a descriptor", governed: metadata, rare: true, do: func(t *target) error {
		return withFile(t, func(fd int) error { return unix.Fsetxattr(fd, "user.sandboxtest", []byte("x"), 0) })
	}},
	{name: "changing the mode through a descriptor of a file outside", governed: metadata, do: func(t *target) error {
		return withFile(t, func(fd int) error { return unix.Fchmod(fd, 0o777) })
	}},
	{name: "changing the mode through a path descriptor", governed: metadata, do: func(t *target) error {
		fd, err := unix.Open(t.Outside+"/file", unix.O_PATH, 0)
		if err != nil {
			return err
		}
		return os.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), 0o777)
	}},
	{name: "changing the owner through a descriptor", governed: metadata, do: func(t *target) error {
		return withFile(t, func(fd int) error { return unix.Fchown(fd, os.Getuid(), os.Getgid()) })
	}},
	{name: "changing the time through a descriptor", governed: metadata, do: func(t *target) error {
		return withFile(t, func(fd int) error { return unix.Futimes(fd, []unix.Timeval{{Sec: 1}, {Sec: 1}}) })
	}},
	{name: "changing the flags of a file outside", governed: metadata, rare: true, do: func(t *target) error {
		const noDump = 0x40 // FS_NODUMP_FL
		return withFile(t, func(fd int) error { return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, noDump) })
	}},
}

// withFile does something to a file outside that is open for reading.
func withFile(t *target, do func(fd int) error) error {
	fd, err := unix.Open(t.Outside+"/file", unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd)
}
