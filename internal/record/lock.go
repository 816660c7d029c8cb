//go:build unix

package record

import "golang.org/x/sys/unix"

// TryLock takes the lock on the directory, which who starts a command holds
// until the start has come to something. Ok is false while somebody has it. The
// kernel gives it back when its holder dies.
func (d *Dir) TryLock() (release func(), ok bool, err error) {
	lock, err := d.open(".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, false, err
	}
	for {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != unix.EINTR {
			break
		}
	}
	switch err {
	case nil:
		return func() { lock.Close() }, true, nil
	case unix.EWOULDBLOCK:
		lock.Close()
		return nil, false, nil
	default:
		lock.Close()
		return nil, false, err
	}
}
