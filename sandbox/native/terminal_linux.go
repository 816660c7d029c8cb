package native

import "golang.org/x/sys/unix"

// terminal reports whether one of the descriptors is a terminal.
func terminal(files []int) bool {
	for _, fd := range files {
		if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
			return true
		}
	}
	return false
}
