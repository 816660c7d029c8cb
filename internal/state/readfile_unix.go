//go:build unix

package state

import "syscall"

// plainFlags open what should be a plain file: never through a link, and without
// waiting for the writer of a pipe. A plain file is read as without them.
const plainFlags = syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// listFlags open what should be a directory.
const listFlags = syscall.O_RDONLY | syscall.O_DIRECTORY
