//go:build linux && (amd64 || arm64)

package seccomp

import "golang.org/x/sys/unix"

// Labels of the checks that look at a call's arguments.
const (
	checkIoctl      label = "ioctl"
	checkClone      label = "clone"
	checkParent     label = "clone CLONE_PARENT"
	checkUnshare    label = "unshare"
	checkSetrlimit  label = "setrlimit"
	checkPrlimit    label = "prlimit64"
	prlimitSets     label = "prlimit64 sets"
	checkSocket     label = "socket"
	checkSocketpair label = "socketpair"
	checkFirst      label = "a thread as the first argument"
	checkSecond     label = "a thread as the second argument"
	checkFcntl      label = "fcntl"
	checkOwner      label = "fcntl F_SETOWN"
	checkScheduled  label = "a thread to schedule"
	checkPriority   label = "setpriority"
	checkIOPriority label = "ioprio_set"
	checkWho        label = "whose priority"
)

const (
	// newNamespace are the flags of clone(2) that make a namespace. Not
	// CLONE_NEWTIME: its bit is part of the exit signal there.
	newNamespace = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

	// mayUnshare are the flags of unshare(2) that make no namespace. The list
	// is of what is allowed, because later kernels give new meanings to bits
	// that unshare did not know.
	mayUnshare = unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SYSVSEM |
		unix.CLONE_THREAD | unix.CLONE_SIGHAND | unix.CLONE_VM

	// socketTypeMask is SOCK_TYPE_MASK of linux/net.h: the rest of the argument
	// are flags.
	socketTypeMask = 0xf

	// pastWire is the first protocol number that fits no IP header. Linux uses
	// such numbers for sockets that speak TCP through another family's code
	// (MPTCP 262, SMC 256), where Landlock's rules for TCP do not see them.
	pastWire = 256
)

// checkArguments emits the checks. Of an argument that the kernel takes as an
// int only the low half counts: the kernel drops the high one, so a check of
// both could be passed with a bit set there.
func (p *program) checkArguments(o Options) {
	// Input typed into the caller's terminal, and the console's selection.
	p.at(checkIoctl)
	p.load(low(1))
	p.ifEqual(unix.TIOCSTI, eperm, next)
	if o.Thread != 0 {
		// Who gets a descriptor's signals; the number lies in memory.
		p.ifEqual(fiosetown, eperm, next)
		p.ifEqual(siocspgrp, eperm, next)
	}
	p.ifEqual(unix.TIOCLINUX, eperm, allow)

	// The kernel takes the flags with lower_32_bits.
	p.at(checkClone)
	p.load(low(0))
	p.ifAnySet(newNamespace, eperm, next)
	if o.Pass == 0 {
		p.ifAnySet(unix.CLONE_PARENT, eperm, allow)
	} else {
		p.ifAnySet(unix.CLONE_PARENT, checkParent, allow)
		p.at(checkParent)
		p.load(low(3))
		p.ifEqual(uint32(o.Pass), next, eperm)
		p.load(high(3))
		p.ifEqual(uint32(o.Pass>>32), allow, eperm)
	}

	// Whoever holds a lease on a file keeps those who open it waiting, or has
	// them told EAGAIN: fcntl(2), "Leases". Reading it is enough to take one.
	p.at(checkFcntl)
	p.load(low(1))
	p.ifEqual(unix.F_SETLEASE, eperm, next)
	if o.Thread == 0 {
		p.ifEqual(unix.F_SETDELEG, eperm, allow)
	} else {
		p.ifEqual(unix.F_SETDELEG, eperm, next)
		p.ifEqual(unix.F_SETOWN_EX, eperm, next) // the number lies in memory
		p.ifEqual(unix.F_SETOWN, checkOwner, allow)
	}

	// An unsigned long: both halves count.
	p.at(checkUnshare)
	p.load(high(0))
	p.ifEqual(0, next, eperm)
	p.load(low(0))
	p.ifAnySet(^uint32(mayUnshare), eperm, allow)

	// The limit whose value marks the processes of a command.
	p.at(checkSetrlimit)
	p.load(low(0))
	p.ifEqual(unix.RLIMIT_LOCKS, eperm, allow)

	// Reading it, with a new limit of NULL, is allowed: ulimit -a does. Setting
	// any limit of another process is not: a limit can kill as a signal does,
	// and Landlock does not keep processes outside from it.
	p.at(checkPrlimit)
	p.load(low(0))
	p.ifEqual(0, next, prlimitSets)
	p.load(low(1))
	p.ifEqual(unix.RLIMIT_LOCKS, next, allow)
	p.at(prlimitSets)
	p.load(low(2))
	p.ifEqual(0, next, eperm)
	p.load(high(2))
	p.ifEqual(0, allow, eperm)

	p.checkSockets(o)
	if o.Thread != 0 {
		p.checkSignals(uint32(o.Thread))
		p.checkScheduling()
	}
}

const (
	fiosetown = 0x8901 // asm-generic/sockios.h
	siocspgrp = 0x8902
)

// checkSignals emits the checks of calls that signal a thread, or have it
// signalled.
func (p *program) checkSignals(thread uint32) {
	p.at(checkFirst)
	p.load(low(0))
	p.ifEqual(thread, eperm, allow)

	p.at(checkSecond)
	p.load(low(1))
	p.ifEqual(thread, eperm, allow)

	p.at(checkOwner)
	p.load(low(2))
	p.ifEqual(thread, eperm, allow)
}

// checkScheduling emits the checks of calls that change when a thread runs. A
// filter does not know the numbers of the command's own threads, so that what is
// left is 0, the caller: a process outside could be starved by any other.
func (p *program) checkScheduling() {
	p.at(checkScheduled)
	p.load(low(0))
	p.ifEqual(0, allow, eperm)

	// The processes of a user are never the command's alone; those of its own
	// group are.
	p.at(checkPriority)
	p.load(low(0))
	p.ifEqual(unix.PRIO_USER, eperm, checkWho)

	p.at(checkIOPriority)
	p.load(low(0))
	p.ifEqual(ioprioWhoUser, eperm, next)

	p.at(checkWho)
	p.load(low(1))
	p.ifEqual(0, allow, eperm)
}

const ioprioWhoUser = 3 // IOPRIO_WHO_USER of linux/ioprio.h

// checkSockets emits the checks of socket and socketpair. They answer what a
// kernel built without the family or the protocol answers, not EPERM: programs
// that have a fallback (TCP for MPTCP, no audit for NETLINK_AUDIT) take it only
// then.
func (p *program) checkSockets(o Options) {
	const (
		checkInet    label = "socket AF_INET"
		checkInet6   label = "socket AF_INET6"
		checkNetlink label = "socket AF_NETLINK"
	)
	inet, inet6 := checkInet, checkInet6
	if o.DenyIP {
		inet, inet6 = eacces, eacces
	}
	p.at(checkSocket)
	p.load(low(0))
	p.ifEqual(unix.AF_UNIX, allow, next)
	p.ifEqual(unix.AF_INET, inet, next)
	p.ifEqual(unix.AF_INET6, inet6, next)
	p.ifEqual(unix.AF_NETLINK, checkNetlink, eafnosupport)

	if !o.DenyIP {
		// An old form of AF_PACKET: the kernel rewrites the family.
		p.at(checkInet)
		p.load(low(1))
		p.and(socketTypeMask)
		p.ifEqual(unix.SOCK_PACKET, eafnosupport, next)

		p.at(checkInet6)
		p.load(low(2))
		p.ifAtLeast(pastWire, eprotonosupport, allow)
	}

	// Routing tables and addresses: getaddrinfo and getifaddrs read them.
	p.at(checkNetlink)
	p.load(low(2))
	p.ifEqual(unix.NETLINK_ROUTE, allow, eprotonosupport)

	// Event loops wake themselves through AF_UNIX pairs. Others that have
	// pairs, as AF_TIPC, would come in by this door.
	p.at(checkSocketpair)
	p.load(low(0))
	p.ifEqual(unix.AF_UNIX, allow, eopnotsupp)
}
