//go:build linux

package seccomp

import "golang.org/x/sys/unix"

// auditArch is the table of calls that the filter's numbers belong to.
const auditArch = unix.AUDIT_ARCH_AARCH64

// archRefused are the calls of arm64 alone that fail with EPERM.
var archRefused []uint32

// archRules cover the numbers that are kept for calls of one architecture, of
// which arm64 has none, and those that 64-bit architectures do not have.
var archRules = []rule{
	{unix.SYS_ARCH_SPECIFIC_SYSCALL, unix.SYS_WAIT4 - 1, enosys},
	{unix.SYS_KEXEC_FILE_LOAD + 1, unix.SYS_PIDFD_SEND_SIGNAL - 1, enosys},
}
