//go:build linux

package seccomp

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestKernelRefusesCallsOfThe32BitTable runs a program that makes getpid by
// int 0x80 and exits with its error number, or 0.
func TestKernelRefusesCallsOfThe32BitTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "getpid32")
	if err := os.WriteFile(path, getpid32(), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path).CombinedOutput(); err != nil {
		t.Skipf("this kernel makes no 32-bit calls: %v %s", err, out)
	}
	_, err := child(t, order{Exec: path})
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != int(unix.EPERM) {
		t.Fatalf("got %v, want exit status %d", err, unix.EPERM)
	}
}

// getpid32 is a static 64-bit ELF program.
func getpid32() []byte {
	code := []byte{
		0xb8, 20, 0, 0, 0, // mov eax, 20 (getpid of the 32-bit table)
		0xcd, 0x80, // int 0x80
		0x31, 0xff, // xor edi, edi
		0x85, 0xc0, // test eax, eax
		0x79, 0x04, // jns past the next two
		0xf7, 0xd8, // neg eax
		0x89, 0xc7, // mov edi, eax
		0xb8, 60, 0, 0, 0, // mov eax, 60 (exit)
		0x0f, 0x05, // syscall
	}
	const base, headers = 0x400000, 64 + 56
	le := binary.LittleEndian
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	b = le.AppendUint16(b, 2)                        // ET_EXEC
	b = le.AppendUint16(b, 62)                       // EM_X86_64
	b = le.AppendUint32(b, 1)                        // version
	b = le.AppendUint64(b, base+headers)             // entry
	b = le.AppendUint64(b, 64)                       // program headers
	b = le.AppendUint64(b, 0)                        // no section headers
	b = le.AppendUint32(b, 0)                        // flags
	for _, n := range []uint16{64, 56, 1, 0, 0, 0} { // sizes and counts
		b = le.AppendUint16(b, n)
	}
	size := uint64(headers + len(code))
	b = le.AppendUint32(b, 1) // PT_LOAD
	b = le.AppendUint32(b, 5) // read, execute
	for _, n := range []uint64{0, base, base, size, size, 0x1000} {
		b = le.AppendUint64(b, n)
	}
	return append(b, code...)
}
