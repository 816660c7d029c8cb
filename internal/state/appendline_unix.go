//go:build unix

package state

import "syscall"

// appendFlags are added to open a log: never through a link, and without waiting
// for the reader of a pipe.
const appendFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
