package bash

import (
	"os"

	"golang.org/x/sys/unix"
)

// scriptFile returns a sealed file in memory that holds the script, to be read
// from its start.
func scriptFile(script string) (*os.File, error) {
	fd, err := unix.MemfdCreate("script", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), "script")
	if _, err := file.WriteString(script); err != nil {
		file.Close()
		return nil, err
	}
	// Sealed, so that nothing that gets hold of it changes it before bash reads.
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(file.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		file.Close()
		return nil, os.NewSyscallError("fcntl F_ADD_SEALS", err)
	}
	if _, err := file.Seek(0, 0); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
