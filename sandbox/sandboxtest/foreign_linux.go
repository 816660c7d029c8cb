package sandboxtest

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// foreignChecks are about programs that enter the kernel by another door, which
// numbers its calls differently: a filter that looks at the number only would
// take one call for another. A kernel may be built or started without that door.
func foreignChecks() []check {
	const (
		mkdir   = 39
		mount   = 21
		unshare = 310
		keyctl  = 288
		uring   = 425
	)
	return []check{
		{name: "a 32-bit program makes no directory outside", run: func(f *fixture) {
			f.expectForeignRefused(mkdir, f.Outside+"/made", 0o755)
		}, rare: true},
		{name: "a 32-bit program makes no user namespace", run: func(f *fixture) {
			f.expectForeignRefused(unshare, "", unix.CLONE_NEWUSER)
		}, rare: true},
		{name: "a 32-bit program has no io_uring", run: func(f *fixture) {
			f.expectForeignRefused(uring, "", 0)
		}, rare: true},
		{name: "a 32-bit program has no keyrings", run: func(f *fixture) {
			f.expectForeignRefused(keyctl, "", 0)
		}, rare: true},
		{name: "a 32-bit program mounts nothing", run: func(f *fixture) {
			f.expectForeignRefused(mount, "", 0)
		}, rare: true},
	}
}

// expectForeignRefused runs a 32-bit program of one system call. Its first
// argument is the path, or the number when there is none.
func (f *fixture) expectForeignRefused(call uint32, path string, number uint32) {
	f.Helper()
	if runtime.GOARCH != "amd64" {
		f.Skip("skipped: the program is one for x86")
	}
	program := f.Workspace + "/foreign"
	if err := os.WriteFile(program, foreignProgram(call, path, number), 0o755); err != nil {
		f.Fatal(err)
	}
	before := content(f.Outside)
	r := f.sh(f.workspaceWrite(), `"$ws/foreign"`)
	// The status is the error number, 14 for EFAULT: arguments that make no
	// sense were looked at by the code that must not be reached.
	if r.Code == 0 || r.Code == int(unix.EFAULT) || r.Code == int(unix.EINVAL) {
		f.Errorf("the call was reached: %v", r)
	}
	f.Log(r)
	f.expectUnchanged(before, content(f.Outside))
}

// foreignProgram is a 32-bit ELF file of one segment (see elf(5)) that makes one
// system call by the interrupt 0x80 and exits with its error number.
func foreignProgram(call uint32, path string, number uint32) []byte {
	const base, headers = 0x08048000, 52 + 32
	le := binary.LittleEndian
	var code bytes.Buffer
	load := func(opcode byte, value uint32) {
		code.WriteByte(opcode)
		binary.Write(&code, le, value)
	}
	const length = 5*4 + 2 + 2 + 2 + 5 + 2 // of the code below
	first, second := number, uint32(0)
	if path != "" {
		first, second = base+headers+length, number
	}
	load(0xb8, call)                // mov eax, call
	load(0xbb, first)               // mov ebx, first
	load(0xb9, second)              // mov ecx, second
	load(0xba, 0)                   // mov edx, 0
	code.Write([]byte{0xcd, 0x80})  // int 0x80
	code.Write([]byte{0xf7, 0xd8})  // neg eax
	code.Write([]byte{0x89, 0xc3})  // mov ebx, eax
	load(0xb8, 1)                   // mov eax, SYS_exit
	code.Write([]byte{0xcd, 0x80})  // int 0x80
	code.WriteString(path + "\x00") // the path
	var file bytes.Buffer
	file.Write([]byte{0x7f, 'E', 'L', 'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	for _, v := range []any{
		uint16(2), uint16(3), uint32(1), // an executable for the 386
		uint32(base + headers), uint32(52), uint32(0), uint32(0),
		uint16(52), uint16(32), uint16(1), uint16(40), uint16(0), uint16(0),
		uint32(1), uint32(0), uint32(base), uint32(base), // one segment to load
		uint32(headers + code.Len()), uint32(headers + code.Len()), uint32(5), uint32(0x1000),
	} {
		binary.Write(&file, le, v)
	}
	file.Write(code.Bytes())
	return file.Bytes()
}
