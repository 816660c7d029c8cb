//go:build unix

package state

import "syscall"

// appendFlags are added to open a log: never through a link.
const appendFlags = syscall.O_NOFOLLOW
