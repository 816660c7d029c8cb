//go:build unix

package state

import "syscall"

// appendFlags are added to open a log: never through a link.
const appendFlags = syscall.O_NOFOLLOW

// appendLockPath is the log itself: it is never replaced, and flock(2) hinders
// neither its readers nor its writer.
func appendLockPath(log string) string { return log }
