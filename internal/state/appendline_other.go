//go:build !unix

package state

const appendFlags = 0

// appendLockPath is a file beside the log: here a lock on the log itself would
// keep its own writer out.
func appendLockPath(log string) string { return log + ".lock" }
