package subprocesstest

import (
	"context"
	"runtime"

	"golang.org/x/sys/unix"
)

// blockedSignals spawns from a thread that blocks signals, as a program that
// embeds this one may.
func blockedSignals(f *fixture) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	block := unix.Sigset_t{Val: [16]uint64{1<<(unix.SIGUSR2-1) | 1<<(unix.SIGTERM-1)}}
	var before unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &block, &before); err != nil {
		f.Fatal(err)
	}
	h, err := f.Runtime.Spawn(context.Background(), f.program("cat", "/proc/self/status"))
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil); err != nil {
		f.Fatal(err)
	}
	if err != nil {
		f.Fatal(err)
	}
	f.await(h)
	if blocked, _ := f.signalsOf(h); blocked != noSignals {
		f.Errorf("the child starts with the signals %s blocked, want none", blocked)
	}
}
