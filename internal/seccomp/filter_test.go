//go:build linux && (amd64 || arm64)

package seccomp

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

// up is a bit in the high half of an argument.
const up = uint64(1) << 32

func TestFilterAnswersCallsByTheirArguments(t *testing.T) {
	t.Parallel()
	const (
		ok     = unix.Errno(0)
		sigchl = uint64(unix.SIGCHLD)
	)
	ptr := uint64(0x7fff_0000_1000)
	tests := []struct {
		name    string
		options Options
		call    call
		want    unix.Errno
	}{
		{"fork by clone is allowed", Options{}, native(unix.SYS_CLONE, sigchl), ok},
		{"a thread by clone is allowed", Options{}, native(unix.SYS_CLONE, 0x3d0f00), ok},
		{"vfork by clone with a pidfd is allowed", Options{}, native(unix.SYS_CLONE, unix.CLONE_VM|unix.CLONE_VFORK|unix.CLONE_PIDFD|sigchl), ok},
		{"the bit of NEWTIME is part of clone's signal", Options{}, native(unix.SYS_CLONE, unix.CLONE_NEWTIME), ok},
		{"clone to a mount namespace is refused", Options{}, native(unix.SYS_CLONE, unix.CLONE_NEWNS|sigchl), unix.EPERM},
		{"clone to a cgroup namespace is refused", Options{}, native(unix.SYS_CLONE, unix.CLONE_NEWCGROUP|sigchl), unix.EPERM},
		{"clone to a uts namespace is refused", Options{}, native(unix.SYS_CLONE, unix.CLONE_NEWUTS|sigchl), unix.EPERM},
		{"clone to an ipc namespace is refused", Options{}, native(unix.SYS_CLONE, unix.CLONE_NEWIPC|sigchl), unix.EPERM},
		{"clone to a user namespace is refused", Options{}, native(unix.SYS_CLONE, unix.CLONE_NEWUSER|sigchl), unix.EPERM},
		{"clone to a pid namespace is refused", Options{}, native(unix.SYS_CLONE, unix.CLONE_NEWPID|sigchl), unix.EPERM},
		{"clone to a network namespace is refused", Options{}, native(unix.SYS_CLONE, unix.CLONE_NEWNET|sigchl), unix.EPERM},
		{"a high half does not hide a flag of clone", Options{}, native(unix.SYS_CLONE, up|unix.CLONE_NEWUSER|sigchl), unix.EPERM},
		{"clone3 does not exist", Options{}, native(unix.SYS_CLONE3, ptr, 88), unix.ENOSYS},

		{"a child of the parent is refused", Options{}, native(unix.SYS_CLONE, unix.CLONE_PARENT|sigchl), unix.EPERM},
		{"a high half does not hide a child of the parent", Options{}, native(unix.SYS_CLONE, up|unix.CLONE_PARENT|sigchl), unix.EPERM},
		{"a child of the parent is allowed with the pass", Options{Pass: 0x1122334455667788}, native(unix.SYS_CLONE, unix.CLONE_PARENT|sigchl, 0, 0, 0x1122334455667788), ok},
		{"a child of the parent is refused with another low half", Options{Pass: 0x1122334455667788}, native(unix.SYS_CLONE, unix.CLONE_PARENT|sigchl, 0, 0, 0x1122334455667789), unix.EPERM},
		{"a child of the parent is refused with another high half", Options{Pass: 0x1122334455667788}, native(unix.SYS_CLONE, unix.CLONE_PARENT|sigchl, 0, 0, 0x1122334555667788), unix.EPERM},
		{"the pass lets no namespace through", Options{Pass: 7}, native(unix.SYS_CLONE, unix.CLONE_PARENT|unix.CLONE_NEWUSER|sigchl, 0, 0, 7), unix.EPERM},
		{"fork by clone is allowed beside a pass", Options{Pass: 7}, native(unix.SYS_CLONE, sigchl), ok},

		{"a lease is refused", Options{}, native(unix.SYS_FCNTL, 3, unix.F_SETLEASE, unix.F_WRLCK), unix.EPERM},
		{"a lease is refused beside the thread", Options{Thread: 77}, native(unix.SYS_FCNTL, 3, unix.F_SETLEASE, unix.F_RDLCK), unix.EPERM},
		{"a high half does not hide a lease", Options{}, native(unix.SYS_FCNTL, 3, up|unix.F_SETLEASE, unix.F_WRLCK), unix.EPERM},
		{"a delegation is refused", Options{}, native(unix.SYS_FCNTL, 3, unix.F_SETDELEG, ptr), unix.EPERM},
		{"a delegation is refused beside the thread", Options{Thread: 77}, native(unix.SYS_FCNTL, 3, unix.F_SETDELEG, ptr), unix.EPERM},
		{"asking for a lease is allowed", Options{}, native(unix.SYS_FCNTL, 3, unix.F_GETLEASE), ok},
		{"a lock is allowed", Options{}, native(unix.SYS_FCNTL, 3, unix.F_OFD_SETLK, ptr), ok},
		{"an owner is allowed in a pid namespace", Options{}, native(unix.SYS_FCNTL, 3, unix.F_SETOWN_EX, ptr), ok},

		{"scheduling oneself is allowed", Options{Thread: 77}, native(unix.SYS_SCHED_SETSCHEDULER, 0, 0, ptr), ok},
		{"scheduling another is refused", Options{Thread: 77}, native(unix.SYS_SCHED_SETSCHEDULER, 78, 5, ptr), unix.EPERM},
		{"a high half does not hide whom to schedule", Options{Thread: 77}, native(unix.SYS_SCHED_SETSCHEDULER, up|78, 5, ptr), unix.EPERM},
		{"scheduling another is left to a pid namespace", Options{}, native(unix.SYS_SCHED_SETSCHEDULER, 78, 5, ptr), ok},
		{"parameters of another are refused", Options{Thread: 77}, native(unix.SYS_SCHED_SETPARAM, 78, ptr), unix.EPERM},
		{"attributes of another are refused", Options{Thread: 77}, native(unix.SYS_SCHED_SETATTR, 78, ptr, 0), unix.EPERM},
		{"processors of another are refused", Options{Thread: 77}, native(unix.SYS_SCHED_SETAFFINITY, 78, 8, ptr), unix.EPERM},
		{"processors of oneself are allowed", Options{Thread: 77}, native(unix.SYS_SCHED_SETAFFINITY, 0, 8, ptr), ok},
		{"a priority of oneself is allowed", Options{Thread: 77}, native(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, 5), ok},
		{"a priority of the own group is allowed", Options{Thread: 77}, native(unix.SYS_SETPRIORITY, unix.PRIO_PGRP, 0, 5), ok},
		{"a priority of another is refused", Options{Thread: 77}, native(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 78, 5), unix.EPERM},
		{"a priority of another group is refused", Options{Thread: 77}, native(unix.SYS_SETPRIORITY, unix.PRIO_PGRP, 78, 5), unix.EPERM},
		{"a priority of the user is refused", Options{Thread: 77}, native(unix.SYS_SETPRIORITY, unix.PRIO_USER, 0, 5), unix.EPERM},
		{"a priority of the user is left to a pid namespace", Options{}, native(unix.SYS_SETPRIORITY, unix.PRIO_USER, 0, 5), ok},
		{"a priority of reading for oneself is allowed", Options{Thread: 77}, native(unix.SYS_IOPRIO_SET, 1, 0, 0x6000), ok},
		{"a priority of reading for another is refused", Options{Thread: 77}, native(unix.SYS_IOPRIO_SET, 1, 78, 0x6000), unix.EPERM},
		{"a priority of reading for the user is refused", Options{Thread: 77}, native(unix.SYS_IOPRIO_SET, ioprioWhoUser, 0, 0x6000), unix.EPERM},

		{"unshare of descriptors is allowed", Options{}, native(unix.SYS_UNSHARE, unix.CLONE_FILES|unix.CLONE_FS|unix.CLONE_SYSVSEM), ok},
		{"unshare of nothing is allowed", Options{}, native(unix.SYS_UNSHARE, 0), ok},
		{"unshare to a user namespace is refused", Options{}, native(unix.SYS_UNSHARE, unix.CLONE_NEWUSER), unix.EPERM},
		{"unshare to a time namespace is refused", Options{}, native(unix.SYS_UNSHARE, unix.CLONE_NEWTIME), unix.EPERM},
		{"unshare to a mount namespace with others is refused", Options{}, native(unix.SYS_UNSHARE, unix.CLONE_NEWNS|unix.CLONE_FS), unix.EPERM},
		{"unshare with a bit that has no meaning yet is refused", Options{}, native(unix.SYS_UNSHARE, 0x00100000), unix.EPERM},
		{"unshare with a high bit is refused", Options{}, native(unix.SYS_UNSHARE, up), unix.EPERM},

		{"ioctl TCGETS is allowed", Options{}, native(unix.SYS_IOCTL, 0, unix.TCGETS, ptr), ok},
		{"ioctl TIOCSTI is refused", Options{}, native(unix.SYS_IOCTL, 0, unix.TIOCSTI, ptr), unix.EPERM},
		{"ioctl TIOCLINUX is refused", Options{}, native(unix.SYS_IOCTL, 0, unix.TIOCLINUX, ptr), unix.EPERM},
		{"a high half does not hide TIOCSTI", Options{}, native(unix.SYS_IOCTL, 0, up|unix.TIOCSTI, ptr), unix.EPERM},
		{"a high half does not hide TIOCLINUX", Options{}, native(unix.SYS_IOCTL, 0, 0xffffffff<<32|unix.TIOCLINUX, ptr), unix.EPERM},
		{"TIOCSTI as a descriptor or a value is nothing", Options{}, native(unix.SYS_IOCTL, unix.TIOCSTI, unix.TCGETS, unix.TIOCSTI), ok},

		{"setrlimit of open files is allowed", Options{}, native(unix.SYS_SETRLIMIT, unix.RLIMIT_NOFILE, ptr), ok},
		{"setrlimit of locks is refused", Options{}, native(unix.SYS_SETRLIMIT, unix.RLIMIT_LOCKS, ptr), unix.EPERM},
		{"a high half does not hide the resource of setrlimit", Options{}, native(unix.SYS_SETRLIMIT, up|unix.RLIMIT_LOCKS, ptr), unix.EPERM},
		{"prlimit that reads locks is allowed", Options{}, native(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_LOCKS, 0, ptr), ok},
		{"prlimit that sets open files is allowed", Options{}, native(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, ptr, 0), ok},
		{"prlimit that sets open files of another process is refused", Options{}, native(unix.SYS_PRLIMIT64, 1, unix.RLIMIT_NOFILE, ptr, 0), unix.EPERM},
		{"prlimit that reads a limit of another process is allowed", Options{}, native(unix.SYS_PRLIMIT64, 1, unix.RLIMIT_NOFILE, 0, ptr), ok},
		{"prlimit that sets locks is refused", Options{}, native(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_LOCKS, ptr, 0), unix.EPERM},
		{"prlimit that sets locks from an address with a zero low half is refused", Options{}, native(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_LOCKS, up, 0), unix.EPERM},
		{"prlimit that sets locks from an address with a zero high half is refused", Options{}, native(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_LOCKS, 0x1000, 0), unix.EPERM},
		{"prlimit that sets locks of another process is refused", Options{}, native(unix.SYS_PRLIMIT64, 1, unix.RLIMIT_LOCKS, ptr, 0), unix.EPERM},
		{"a high half does not hide the resource of prlimit", Options{}, native(unix.SYS_PRLIMIT64, 0, up|unix.RLIMIT_LOCKS, ptr, 0), unix.EPERM},

		{"a unix socket is allowed", Options{}, native(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0), ok},
		{"a unix socket is allowed without IP", Options{DenyIP: true}, native(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0), ok},
		{"a TCP socket is allowed", Options{}, native(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP), ok},
		{"a UDP socket over IPv6 is allowed", Options{}, native(unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_DGRAM, 0), ok},
		{"a raw socket is left to capabilities", Options{}, native(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW), ok},
		{"an IPv4 socket is denied without IP", Options{DenyIP: true}, native(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0), unix.EACCES},
		{"an IPv6 socket is denied without IP", Options{DenyIP: true}, native(unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_DGRAM, 0), unix.EACCES},
		{"a high half does not hide the family", Options{DenyIP: true}, native(unix.SYS_SOCKET, up|unix.AF_INET, unix.SOCK_STREAM, 0), unix.EACCES},
		{"a high half does not turn a refused family into another", Options{}, native(unix.SYS_SOCKET, up|unix.AF_VSOCK, unix.SOCK_STREAM, 0), unix.EAFNOSUPPORT},
		{"a high half does not refuse a unix socket", Options{}, native(unix.SYS_SOCKET, up|unix.AF_UNIX, unix.SOCK_STREAM, 0), ok},
		{"MPTCP over IPv4 is refused", Options{}, native(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP), unix.EPROTONOSUPPORT},
		{"MPTCP over IPv6 is refused", Options{}, native(unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_MPTCP), unix.EPROTONOSUPPORT},
		{"a high half does not hide MPTCP", Options{}, native(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, up|unix.IPPROTO_MPTCP), unix.EPROTONOSUPPORT},
		{"SMC as a protocol is refused", Options{}, native(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SMC), unix.EPROTONOSUPPORT},
		{"protocol 255 is allowed", Options{}, native(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, 255), ok},
		{"a packet socket in its old form is refused", Options{}, native(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_PACKET, 3), unix.EAFNOSUPPORT},
		{"flags and a high half do not hide the old packet socket", Options{}, native(unix.SYS_SOCKET, unix.AF_INET, up|unix.SOCK_PACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 3), unix.EAFNOSUPPORT},
		{"a routing netlink socket is allowed", Options{}, native(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE), ok},
		{"a routing netlink socket is allowed without IP", Options{DenyIP: true}, native(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE), ok},
		{"an audit netlink socket is refused", Options{}, native(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT), unix.EPROTONOSUPPORT},
		{"a netfilter netlink socket is refused", Options{}, native(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER), unix.EPROTONOSUPPORT},
		{"a high half does not hide the netlink protocol", Options{}, native(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, up|unix.NETLINK_AUDIT), unix.EPROTONOSUPPORT},

		{"a unix pair is allowed", Options{DenyIP: true}, native(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, ptr), ok},
		{"a TIPC pair is refused", Options{}, native(unix.SYS_SOCKETPAIR, unix.AF_TIPC, unix.SOCK_STREAM, 0, ptr), unix.EOPNOTSUPP},
		{"a high half does not hide the family of a pair", Options{}, native(unix.SYS_SOCKETPAIR, up|unix.AF_TIPC, unix.SOCK_STREAM, 0, ptr), unix.EOPNOTSUPP},

		{"ptrace is allowed where other fences stand", Options{}, native(unix.SYS_PTRACE, 0), ok},
		{"ptrace is refused on demand", Options{DenyPtrace: true}, native(unix.SYS_PTRACE, 0), unix.EPERM},
		{"reading another process is refused on demand", Options{DenyPtrace: true}, native(unix.SYS_PROCESS_VM_READV), unix.EPERM},
		{"writing another process is refused on demand", Options{DenyPtrace: true}, native(unix.SYS_PROCESS_VM_WRITEV), unix.EPERM},

		{"a signal is allowed", Options{Thread: 77}, native(unix.SYS_KILL, 78, 9), ok},
		{"a signal to the thread is refused", Options{Thread: 77}, native(unix.SYS_KILL, 77, 9), unix.EPERM},
		{"a high half does not hide the thread", Options{Thread: 77}, native(unix.SYS_KILL, up|77, 9), unix.EPERM},
		{"a signal to its number is allowed elsewhere", Options{}, native(unix.SYS_KILL, 77, 9), ok},
		{"a signal to a group of its number is allowed", Options{Thread: 77}, native(unix.SYS_KILL, 1<<64-77, 9), ok},
		{"tkill of the thread is refused", Options{Thread: 77}, native(unix.SYS_TKILL, 77, 9), unix.EPERM},
		{"tgkill of the thread is refused", Options{Thread: 77}, native(unix.SYS_TGKILL, 70, 77, 9), unix.EPERM},
		{"tgkill of another thread is allowed", Options{Thread: 77}, native(unix.SYS_TGKILL, 70, 78, 9), ok},
		{"a queued signal to the thread is refused", Options{Thread: 77}, native(unix.SYS_RT_SIGQUEUEINFO, 77, 9, ptr), unix.EPERM},
		{"a signal queued to a thread is refused", Options{Thread: 77}, native(unix.SYS_RT_TGSIGQUEUEINFO, 70, 77, 9, ptr), unix.EPERM},
		{"a pidfd of the thread is refused", Options{Thread: 77}, native(unix.SYS_PIDFD_OPEN, 77, unix.O_EXCL), unix.EPERM},
		{"a pidfd is allowed", Options{Thread: 77}, native(unix.SYS_PIDFD_OPEN, 78, 0), ok},
		{"a signal through a descriptor does not exist", Options{Thread: 77}, native(unix.SYS_PIDFD_SEND_SIGNAL, 3, 9, 0, 0), unix.ENOSYS},
		{"the thread as an owner is refused", Options{Thread: 77}, native(unix.SYS_FCNTL, 3, unix.F_SETOWN, 77), unix.EPERM},
		{"another owner is allowed", Options{Thread: 77}, native(unix.SYS_FCNTL, 3, unix.F_SETOWN, 78), ok},
		{"an owner in memory is refused", Options{Thread: 77}, native(unix.SYS_FCNTL, 3, unix.F_SETOWN_EX, ptr), unix.EPERM},
		{"an owner by ioctl is refused", Options{Thread: 77}, native(unix.SYS_IOCTL, 3, fiosetown, ptr), unix.EPERM},
		{"the owner of a socket by ioctl is refused", Options{Thread: 77}, native(unix.SYS_IOCTL, 3, siocspgrp, ptr), unix.EPERM},
		{"other ioctls are allowed", Options{Thread: 77}, native(unix.SYS_IOCTL, 0, unix.TCGETS, ptr), ok},
		{"TIOCSTI is refused beside the thread", Options{Thread: 77}, native(unix.SYS_IOCTL, 0, unix.TIOCSTI, ptr), unix.EPERM},
		{"fcntl is allowed", Options{Thread: 77}, native(unix.SYS_FCNTL, 77, unix.F_GETFD, 77), ok},

		{"the newest known call is allowed", Options{}, native(newest), ok},
		{"the call after the newest does not exist", Options{}, native(newest + 1), unix.ENOSYS},
		{"an x32 call does not exist", Options{}, native(0x40000000 | unix.SYS_GETPID), unix.ENOSYS},
		{"an x32 call of its own numbers does not exist", Options{}, native(0x40000000 | 514), unix.ENOSYS},
		{"the highest number does not exist", Options{}, native(0xffffffff), unix.ENOSYS},
	}
	for family := uint64(0); family < 64; family++ {
		switch family {
		case unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK:
			continue
		}
		for _, o := range allOptions {
			if got := verdict(t, Filter(o), native(unix.SYS_SOCKET, family, unix.SOCK_STREAM)); got != unix.EAFNOSUPPORT {
				t.Errorf("%+v: socket of family %d: got %d, want EAFNOSUPPORT", o, family, got)
			}
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := verdict(t, Filter(tt.options), tt.call); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

var allOptions = []Options{{}, {DenyPtrace: true}, {DenyIP: true}, {DenyPtrace: true, DenyIP: true}, {DenyPtrace: true, DenyIP: true, Thread: 77}}

// TestFilterAllowsAllCallsButThose goes through every number: what is not
// listed here by its name must pass with all arguments zero.
func TestFilterAllowsAllCallsButThose(t *testing.T) {
	t.Parallel()
	for _, o := range allOptions {
		want := map[uint32]unix.Errno{
			unix.SYS_CLONE3:     unix.ENOSYS,
			unix.SYS_SOCKET:     unix.EAFNOSUPPORT, // family 0
			unix.SYS_SOCKETPAIR: unix.EOPNOTSUPP,
		}
		for number := range refusedByName {
			want[number] = unix.EPERM
		}
		for number := range archRefusedByName {
			want[number] = unix.EPERM
		}
		for _, gap := range unusedNumbers {
			for number := gap[0]; number <= gap[1]; number++ {
				want[number] = unix.ENOSYS
			}
		}
		if o.DenyPtrace {
			want[unix.SYS_PTRACE] = unix.EPERM
			want[unix.SYS_PROCESS_VM_READV] = unix.EPERM
			want[unix.SYS_PROCESS_VM_WRITEV] = unix.EPERM
		}
		if o.Thread != 0 {
			want[unix.SYS_PIDFD_SEND_SIGNAL] = unix.ENOSYS
		}
		program := Filter(o)
		for number := uint32(0); number < 2048; number++ {
			expected := want[number]
			if number > 471 {
				expected = unix.ENOSYS
			}
			if got := verdict(t, program, native(uintptr(number))); got != expected {
				t.Errorf("%+v: call %d: got %d, want %d", o, number, got, expected)
			}
		}
	}
}

// refusedByName are the calls that must fail with EPERM on every architecture.
var refusedByName = map[uint32]string{
	unix.SYS_ACCT: "acct", unix.SYS_ADD_KEY: "add_key", unix.SYS_BPF: "bpf",
	unix.SYS_CLOCK_SETTIME: "clock_settime", unix.SYS_DELETE_MODULE: "delete_module",
	unix.SYS_FANOTIFY_INIT: "fanotify_init", unix.SYS_FINIT_MODULE: "finit_module",
	unix.SYS_FSCONFIG: "fsconfig", unix.SYS_FSMOUNT: "fsmount", unix.SYS_FSOPEN: "fsopen",
	unix.SYS_FSPICK: "fspick", unix.SYS_INIT_MODULE: "init_module",
	unix.SYS_IO_URING_ENTER: "io_uring_enter", unix.SYS_IO_URING_REGISTER: "io_uring_register",
	unix.SYS_IO_URING_SETUP: "io_uring_setup", unix.SYS_KCMP: "kcmp",
	unix.SYS_KEXEC_FILE_LOAD: "kexec_file_load", unix.SYS_KEXEC_LOAD: "kexec_load",
	unix.SYS_KEYCTL: "keyctl", unix.SYS_LOOKUP_DCOOKIE: "lookup_dcookie",
	unix.SYS_MOUNT: "mount", unix.SYS_MOUNT_SETATTR: "mount_setattr",
	unix.SYS_MOVE_MOUNT: "move_mount", unix.SYS_NFSSERVCTL: "nfsservctl",
	unix.SYS_OPEN_BY_HANDLE_AT: "open_by_handle_at", unix.SYS_OPEN_TREE: "open_tree",
	unix.SYS_OPEN_TREE_ATTR: "open_tree_attr", unix.SYS_PERF_EVENT_OPEN: "perf_event_open",
	unix.SYS_PIDFD_GETFD: "pidfd_getfd", unix.SYS_PIVOT_ROOT: "pivot_root",
	unix.SYS_QUOTACTL: "quotactl", unix.SYS_QUOTACTL_FD: "quotactl_fd",
	unix.SYS_REBOOT: "reboot", unix.SYS_REQUEST_KEY: "request_key", unix.SYS_SETNS: "setns",
	unix.SYS_SETTIMEOFDAY: "settimeofday", unix.SYS_SWAPOFF: "swapoff",
	unix.SYS_SWAPON: "swapon", unix.SYS_SYSLOG: "syslog", unix.SYS_UMOUNT2: "umount2",
	unix.SYS_USERFAULTFD: "userfaultfd", unix.SYS_VHANGUP: "vhangup",
}

func TestFilterRefusesOtherArchitectures(t *testing.T) {
	t.Parallel()
	for _, arch := range []uint32{0, unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, unix.AUDIT_ARCH_X86_64, unix.AUDIT_ARCH_AARCH64, 0xffffffff} {
		if arch == auditArch {
			continue
		}
		for _, number := range []uint32{0, unix.SYS_GETPID, 20, 0xffffffff} {
			if got := verdict(t, Filter(Options{}), call{number: number, arch: arch}); got != unix.EPERM {
				t.Errorf("arch %#x, call %d: got %d, want EPERM", arch, number, got)
			}
		}
	}
}

func TestFilterIsSmallAndQuick(t *testing.T) {
	t.Parallel()
	for _, o := range allOptions {
		program := Filter(o)
		if len(program) > 255 {
			t.Errorf("%+v: %d instructions: more than a byte's reach; comparisons grow", o, len(program))
		}
		most := 0
		for number := uint32(0); number <= newest; number++ {
			answer, steps, err := run(program, native(uintptr(number)))
			if err != nil {
				t.Fatal(err)
			}
			if answer == unix.SECCOMP_RET_ALLOW {
				most = max(most, steps)
			}
		}
		if most > 16 {
			t.Errorf("%+v: an allowed call takes %d instructions", o, most)
		}
		_, read, _ := run(program, native(unix.SYS_READ))
		_, ioctl, _ := run(program, native(unix.SYS_IOCTL, 0, unix.TCGETS))
		t.Logf("%+v: %d instructions; steps: read %d, ioctl %d, at most %d", o, len(program), read, ioctl, most)
	}
}

// FuzzFilterEndsForEveryCall: whatever a command passes, the program ends with
// an answer that this package gives, and the high halves of arguments that the
// kernel takes as ints change nothing.
func FuzzFilterEndsForEveryCall(f *testing.F) {
	for _, r := range rules(Options{DenyPtrace: true}) {
		c := native(uintptr(r.first), unix.AF_NETLINK, unix.TIOCSTI, 1)
		f.Add(c.bytes())
	}
	f.Add(call{number: 20, arch: unix.AUDIT_ARCH_I386}.bytes())
	var programs [][]unix.SockFilter
	for _, o := range allOptions {
		programs = append(programs, Filter(o))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		full := make([]byte, 64)
		copy(full, data)
		c := call{
			number: binary.LittleEndian.Uint32(full),
			arch:   binary.LittleEndian.Uint32(full[4:]),
			ip:     binary.LittleEndian.Uint64(full[8:]),
		}
		for n := range c.args {
			c.args[n] = binary.LittleEndian.Uint64(full[16+8*n:])
		}
		for _, program := range programs {
			got := verdict(t, program, c)
			switch got {
			case 0, unix.EPERM, unix.ENOSYS, unix.EACCES, unix.EAFNOSUPPORT, unix.EPROTONOSUPPORT, unix.EOPNOTSUPP:
			default:
				t.Fatalf("%+v: answer %d", c, got)
			}
			if c.number == unix.SYS_UNSHARE || c.number == unix.SYS_PRLIMIT64 {
				continue // they have an unsigned long and a pointer
			}
			cut := c
			for n := range cut.args {
				cut.args[n] &= 0xffffffff
			}
			if lowOnly := verdict(t, program, cut); lowOnly != got {
				t.Fatalf("%+v: got %d, with the high halves cut %d", c, got, lowOnly)
			}
		}
	})
}
