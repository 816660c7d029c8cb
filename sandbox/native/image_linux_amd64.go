package native

import (
	"encoding/binary"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// image is the program that is pid 1 of a sandbox, and holds a user namespace
// while it is being prepared: it waits until its standard input ends. The kernel
// reaps its children, because it is started with SIGCHLD ignored (wait(2)).
//
//	if (argc > 1) prctl(PR_SET_DUMPABLE, 0) // nobody inside traces it
//	do { n = read(0, stack, 1) } while (n == -EINTR)
//	exit_group(0)
var image = sync.OnceValues(func() (*os.File, error) {
	// MFD_EXEC says what it is for where vm.memfd_noexec is 1; kernels before 6.3
	// do not know it.
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("hardshell-sandbox", flags|unix.MFD_EXEC)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate("hardshell-sandbox", flags)
	}
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "hardshell-sandbox")
	if _, err := f.Write(imageFile()); err != nil {
		f.Close()
		return nil, err
	}
	const seals = unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		f.Close()
		return nil, os.NewSyscallError("seal a memfd", err)
	}
	return f, nil
})

// imageFile is an ELF file of one segment; see elf(5).
func imageFile() []byte {
	code := []byte{
		0x83, 0x3c, 0x24, 1, // cmp dword [rsp], 1: the number of arguments
		0x74, 14, // je again
		0xb8, 157, 0, 0, 0, // mov eax, SYS_prctl
		0xbf, 4, 0, 0, 0, // mov edi, PR_SET_DUMPABLE
		0x31, 0xf6, // xor esi, esi
		0x0f, 0x05, // syscall
		0x31, 0xc0, // again: xor eax, eax (SYS_read)
		0x31, 0xff, // xor edi, edi
		0x48, 0x8d, 0x74, 0x24, 0xf8, // lea rsi, [rsp-8]
		0xba, 1, 0, 0, 0, // mov edx, 1
		0x0f, 0x05, // syscall
		0x83, 0xf8, 0xfc, // cmp eax, -EINTR
		0x74, 0xeb, // je again
		0xb8, 231, 0, 0, 0, // mov eax, SYS_exit_group
		0x31, 0xff, // xor edi, edi
		0x0f, 0x05, // syscall
	}
	const (
		base    = 0x400000
		headers = 64 + 56
	)
	size := uint64(headers + len(code))
	le := binary.LittleEndian
	b := []byte{0x7f, 'E', 'L', 'F', 2 /* 64 bits */, 1 /* little endian */, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	b = le.AppendUint16(b, 2)  // ET_EXEC
	b = le.AppendUint16(b, 62) // EM_X86_64
	b = le.AppendUint32(b, 1)
	b = le.AppendUint64(b, base+headers) // entry
	b = le.AppendUint64(b, 64)           // program headers
	b = le.AppendUint64(b, 0)            // no section headers
	b = le.AppendUint32(b, 0)
	b = le.AppendUint16(b, 64)
	b = le.AppendUint16(b, 56)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, 64)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint32(b, 1) // PT_LOAD
	b = le.AppendUint32(b, 5) // readable, executable
	b = le.AppendUint64(b, 0)
	b = le.AppendUint64(b, base)
	b = le.AppendUint64(b, base)
	b = le.AppendUint64(b, size)
	b = le.AppendUint64(b, size)
	b = le.AppendUint64(b, 0x1000)
	return append(b, code...)
}
