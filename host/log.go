//go:build unix

package host

import (
	"os"
	"sync"
	"syscall"
)

// lazyFile is a file that is made when something is first written to it.
type lazyFile struct {
	path string

	mu   sync.Mutex
	file *os.File
}

func (l *lazyFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			return 0, err
		}
		l.file = file
	}
	return l.file.Write(p)
}
