//go:build linux && (amd64 || arm64)

package seccomp

import "golang.org/x/sys/unix"

// newest is the highest call number that this package was written for. Calls
// that came later are ENOSYS, as on an older kernel: nobody has judged what they
// can do, and libc and runtimes fall back. The x32 calls of amd64 carry bit 30
// in their number and so lie above it as well. Judge the new calls of
// golang.org/x/sys before this is raised.
const newest = unix.SYS_RSEQ_SLICE_YIELD

// A rule sends the call numbers first to last, both included, to a label. A
// number without a rule is allowed.
type rule struct {
	first, last uint32
	to          label
}

// rules returns the rules for o, in no order. No two overlap.
func rules(o Options) []rule {
	all := append([]rule{
		{unix.SYS_IOCTL, unix.SYS_IOCTL, checkIoctl},
		{unix.SYS_FCNTL, unix.SYS_FCNTL, checkFcntl},
		{unix.SYS_CLONE, unix.SYS_CLONE, checkClone},
		{unix.SYS_CLONE3, unix.SYS_CLONE3, enosys}, // its flags lie in memory; libc falls back to clone
		{unix.SYS_UNSHARE, unix.SYS_UNSHARE, checkUnshare},
		{unix.SYS_SETRLIMIT, unix.SYS_SETRLIMIT, checkSetrlimit},
		{unix.SYS_PRLIMIT64, unix.SYS_PRLIMIT64, checkPrlimit},
		{unix.SYS_SOCKET, unix.SYS_SOCKET, checkSocket},
		{unix.SYS_SOCKETPAIR, unix.SYS_SOCKETPAIR, checkSocketpair},
		{newest + 1, ^uint32(0), enosys},
	}, archRules...)
	for _, number := range refused {
		all = append(all, rule{number, number, eperm})
	}
	for _, number := range archRefused {
		all = append(all, rule{number, number, eperm})
	}
	if o.DenyPtrace {
		all = append(all,
			rule{unix.SYS_PTRACE, unix.SYS_PTRACE, eperm},
			rule{unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_READV, eperm},
			rule{unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_VM_WRITEV, eperm},
		)
	}
	if o.Thread != 0 {
		for _, number := range []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_PIDFD_OPEN} {
			all = append(all, rule{number, number, checkFirst})
		}
		for _, number := range []uint32{unix.SYS_TGKILL, unix.SYS_RT_TGSIGQUEUEINFO} {
			all = append(all, rule{number, number, checkSecond})
		}
		for _, number := range []uint32{unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETAFFINITY} {
			all = append(all, rule{number, number, checkScheduled})
		}
		all = append(all,
			rule{unix.SYS_SETPRIORITY, unix.SYS_SETPRIORITY, checkPriority},
			rule{unix.SYS_IOPRIO_SET, unix.SYS_IOPRIO_SET, checkIOPriority},
			// Its descriptor may be the directory of a thread in /proc. Without it
			// programs use kill, as on Linux before 5.1.
			rule{unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PIDFD_SEND_SIGNAL, enosys},
		)
	}
	return all
}

// refused are the calls that fail with EPERM whatever their arguments.
//
// Left alone on purpose: chroot, sethostname, clock_adjtime and adjtimex, whose
// harmful uses need a capability that the command lacks, and which have
// harmless ones; personality, which gdb needs; seccomp, prctl and landlock_*,
// with which a sandbox inside this one restricts itself further.
var refused = []uint32{
	// Work that the kernel does outside of the calls that a filter sees.
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,

	// Another process's descriptors and kernel objects.
	unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,

	// Large attack surface, or a help to exploits: userfaultfd stops the kernel
	// in the middle of a copy.
	unix.SYS_USERFAULTFD, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_FANOTIFY_INIT,

	// Keyrings belong to a user id, not to a namespace.
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,

	// Code for the kernel.
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,

	// A file by its inode, past every mount and path rule.
	unix.SYS_OPEN_BY_HANDLE_AT,

	// The mount table, old calls and new ones, and other namespaces.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS,

	// The machine as a whole.
	unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_REBOOT, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP,

	// Remains of old kernels.
	unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
}
