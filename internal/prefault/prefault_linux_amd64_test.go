package prefault_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"hardshell/internal/prefault"
)

func TestTheImageIsMapped(t *testing.T) {
	memory, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(memory)
	able := unix.Madvise(memory, unix.MADV_POPULATE_READ) == nil
	if prefault.Done() != able {
		t.Errorf("Done = %v, and this kernel can: %v", prefault.Done(), able)
	}
}
