//go:build unix

package state

import "syscall"

// lockFlags open a lock. A lock is never a link, and opening what is a pipe by
// mistake does not block.
const lockFlags = syscall.O_CREAT | syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// probeFlags open a lock that is there.
const probeFlags = syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
