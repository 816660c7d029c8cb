package hostwire

import "golang.org/x/sys/unix"

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
