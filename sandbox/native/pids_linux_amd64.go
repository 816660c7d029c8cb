package native

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"hardshell/internal/spawn"
)

// pidMaxIsPerNamespace reports whether each pid namespace has a pid_max of its
// own (since Linux 6.14). It is asked by opening the file as a user who is
// nobody outside of the namespace: where the file is the whole system's, that is
// refused, and nothing is written either way.
var pidMaxIsPerNamespace = sync.OnceValue(func() bool {
	program, err := image()
	if err != nil {
		return false
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return false
	}
	defer null.Close()
	const nobody = 65534
	child, err := spawn.Start(&spawn.Attr{
		Argv: []string{"hardshell-probe"}, Dir: "/",
		Files: []int{int(null.Fd()), int(program.Fd())},
		Confine: &spawn.Confine{
			Enter: func(p *spawn.Program) {
				if os.Geteuid() == 0 {
					p.Call("setresgid", unix.SYS_SETRESGID, nobody, nobody, nobody)
					p.Call("setresuid", unix.SYS_SETRESUID, nobody, nobody, nobody)
				}
				p.Call("unshare", unix.SYS_UNSHARE, unix.CLONE_NEWUSER|unix.CLONE_NEWNS|unix.CLONE_NEWPID)
			},
			Fork: true,
			Settle: func(p *spawn.Program) {
				p.Call("make all mounts private", unix.SYS_MOUNT, "none", "/", 0, unix.MS_REC|unix.MS_PRIVATE, 0)
				p.Call("mount proc", unix.SYS_MOUNT, "proc", "/proc", "proc", 0, 0)
				p.Call("open pid_max", unix.SYS_OPENAT, at, "/proc/sys/kernel/pid_max", unix.O_WRONLY|unix.O_CLOEXEC, 0)
			},
			Image: 1,
		},
	})
	if err != nil {
		return false
	}
	child.WaitExit() // its input is at its end
	child.Reap()
	return true
})
