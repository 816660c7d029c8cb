//go:build linux && (amd64 || arm64)

package seccomp

import "golang.org/x/sys/unix"

// Options say what varies between confinements. The zero value is the filter
// for a command whose processes and network are fenced by namespaces or by a
// Landlock domain.
type Options struct {
	// DenyPtrace refuses ptrace, process_vm_readv and process_vm_writev with
	// EPERM. Debuggers and address sanitizers then do not work.
	DenyPtrace bool

	// Thread, when not 0, is a thread that no signal may reach: the one from
	// which the command and its siblings are born, and which so belongs to their
	// Landlock domain. A signal to it would be one to its whole process. It also
	// says that no pid namespace stands between the command and the processes
	// of its user: the scheduling of others then cannot be changed.
	Thread int32

	// Pass, when not 0, is the fourth argument with which a clone may have
	// CLONE_PARENT: whoever starts the command forks once more after the filter
	// is in force. It must not be guessable, nor known to the command. Without,
	// nobody may: the parent would get a child that it does not wait for.
	Pass uint64

	// DenyIP refuses every new AF_INET and AF_INET6 socket with EACCES. It is
	// for a command without network that has no network namespace of its own.
	DenyIP bool
}

// Filter returns the program for SECCOMP_SET_MODE_FILTER of seccomp(2), or for
// PR_SET_SECCOMP of prctl(2). The caller owns the slice; nothing in it points
// elsewhere. Filter has no state and may be called from any goroutine. It takes
// tens of microseconds, so call it once for a policy, not for each command.
//
// The thread that installs the program needs no_new_privs or CAP_SYS_ADMIN, and
// must be done with what the program refuses: setns, mounts, and the limit
// RLIMIT_LOCKS. Programs stack: the strictest answer of all of them holds.
func Filter(o Options) []unix.SockFilter {
	var p program

	// Numbers mean different calls in different tables, so the table comes
	// first. A 64-bit program reaches the 32-bit one by int 0x80.
	p.load(offsetArch)
	p.ifEqual(auditArch, next, eperm)
	p.load(offsetNumber)
	p.search(segments(rules(o)))

	p.checkArguments(o)

	p.at(allow)
	p.answer(unix.SECCOMP_RET_ALLOW)
	for _, refusal := range refusals {
		if !p.names(refusal.label) {
			continue
		}
		p.at(refusal.label)
		p.answer(unix.SECCOMP_RET_ERRNO | uint32(refusal.errno))
	}
	return p.assemble()
}

// Labels that end a program.
const (
	allow           label = "allow"
	eperm           label = "EPERM"
	enosys          label = "ENOSYS"
	eacces          label = "EACCES"
	eafnosupport    label = "EAFNOSUPPORT"
	eprotonosupport label = "EPROTONOSUPPORT"
	eopnotsupp      label = "EOPNOTSUPP"
)

var refusals = []struct {
	label label
	errno unix.Errno
}{
	{eperm, unix.EPERM},
	{enosys, unix.ENOSYS},
	{eacces, unix.EACCES},
	{eafnosupport, unix.EAFNOSUPPORT},
	{eprotonosupport, unix.EPROTONOSUPPORT},
	{eopnotsupp, unix.EOPNOTSUPP},
}

// Offsets in struct seccomp_data (linux/seccomp.h): int nr, __u32 arch,
// __u64 instruction_pointer, __u64 args[6].
const (
	offsetNumber    = 0
	offsetArch      = 4
	offsetArguments = 16
)

// low is the offset of the low half of argument n, high that of the other.
// Both architectures are little-endian.
func low(n uint32) uint32  { return offsetArguments + 8*n }
func high(n uint32) uint32 { return low(n) + 4 }
