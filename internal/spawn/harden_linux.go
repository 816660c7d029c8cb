package spawn

import "golang.org/x/sys/unix"

// Harden keeps the commands of this process away from what is in it: every
// descriptor above 2 becomes close-on-exec, so that what this process's parent
// left open reaches no child, and /proc/PID/environ and mem are closed to other
// processes of the same user, root apart (PR_SET_DUMPABLE, prctl(2)). A library
// does neither, but for the second when it confines by Landlock alone.
func Harden() {
	// Kernels before 5.11 refuse the first; each spawn then looks for itself.
	_ = unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}
