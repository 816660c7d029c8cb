package subprocesstest

import (
	"fmt"
	"os"
	"syscall"
)

// mountTiny puts a file system of a few bytes on a directory for the rest of
// the check, or skips it.
func mountTiny(f *fixture, dir string, bytes int) {
	f.Helper()
	if os.Geteuid() != 0 {
		f.Skip("skipped: only root may mount a small disk to fill it")
	}
	options := fmt.Sprintf("size=%d,mode=0700", bytes)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		f.Skipf("skipped: a small disk to fill cannot be mounted here: %v", err)
	}
	f.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			f.Errorf("unmounting %s: %v", dir, err)
		}
	})
}
