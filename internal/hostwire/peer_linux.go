package hostwire

import (
	"bytes"

	"golang.org/x/sys/unix"

	"hardshell/internal/procfs"
)

// receiveFlags keep descriptors from children that are being started.
const receiveFlags = unix.MSG_CMSG_CLOEXEC

// peerUID asks the kernel who connected: SO_PEERCRED of unix(7).
func peerUID(fd int) (int, error) {
	credentials, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(credentials.Uid), nil
}

// peerPID is the process at the other end: for who dialled, the one that
// listens. 0 when the kernel does not tell.
func peerPID(fd int) int {
	credentials, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0
	}
	return int(credentials.Pid)
}

// stopped reads the state of proc_pid_stat(5), the letter behind the name: T by
// a signal, t by a debugger.
func stopped(pid int) bool {
	var buf [256]byte
	stat, err := procfs.Read(pid, "stat", buf[:])
	if err != nil {
		return false
	}
	_, rest, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return ok && len(rest) > 0 && (rest[0] == 'T' || rest[0] == 't')
}
