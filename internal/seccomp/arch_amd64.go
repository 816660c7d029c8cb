//go:build linux

package seccomp

import "golang.org/x/sys/unix"

// auditArch is the table of calls that the filter's numbers belong to.
const auditArch = unix.AUDIT_ARCH_X86_64

// archRefused are the calls of amd64 alone that fail with EPERM.
var archRefused = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB}

// archRules cover the numbers between the calls of amd64 alone and those that
// all architectures share. They are unused so far.
var archRules = []rule{{unix.SYS_UPROBE + 1, unix.SYS_PIDFD_SEND_SIGNAL - 1, enosys}}
