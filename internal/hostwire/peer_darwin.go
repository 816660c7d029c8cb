package hostwire

import "golang.org/x/sys/unix"

// receiveFlags has nothing to keep descriptors from children with.
const receiveFlags = 0

// peerUID asks the kernel who connected: LOCAL_PEERCRED of unix(4).
func peerUID(fd int) (int, error) {
	credentials, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(credentials.Uid), nil
}

// peerPID would need LOCAL_PEERPID; without a way to see a stopped process it
// has no use.
func peerPID(int) int { return 0 }

func stopped(int) bool { return false }
