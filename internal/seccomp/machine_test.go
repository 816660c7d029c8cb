//go:build linux && (amd64 || arm64)

package seccomp

import (
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// call is struct seccomp_data.
type call struct {
	number, arch uint32
	ip           uint64
	args         [6]uint64
}

func (c call) bytes() []byte {
	b := binary.LittleEndian.AppendUint32(nil, c.number)
	b = binary.LittleEndian.AppendUint32(b, c.arch)
	b = binary.LittleEndian.AppendUint64(b, c.ip)
	for _, a := range c.args {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	return b
}

// run executes a program as the kernel would and returns its answer and the
// number of instructions that it took. It knows only the instructions that the
// kernel accepts in a seccomp filter and that this package emits.
func run(program []unix.SockFilter, c call) (answer uint32, steps int, err error) {
	data := c.bytes()
	var a uint32
	for pc := 0; ; pc++ {
		if pc < 0 || pc >= len(program) {
			return 0, steps, fmt.Errorf("ran off the program at %d of %d", pc, len(program))
		}
		i := program[pc]
		steps++
		branch := func(taken bool) {
			if taken {
				pc += int(i.Jt)
			} else {
				pc += int(i.Jf)
			}
		}
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			if i.K%4 != 0 || int(i.K)+4 > len(data) {
				return 0, steps, fmt.Errorf("load at %d: bad offset %d", pc, i.K)
			}
			a = binary.LittleEndian.Uint32(data[i.K:])
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= i.K
		case unix.BPF_JMP | unix.BPF_JA:
			pc += int(i.K)
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			branch(a == i.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			branch(a >= i.K)
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			branch(a&i.K != 0)
		case unix.BPF_RET | unix.BPF_K:
			return i.K, steps, nil
		default:
			return 0, steps, fmt.Errorf("instruction %d: unknown code %#x", pc, i.Code)
		}
	}
}

// verdict runs the filter for o on a call of this architecture and returns the
// error that the call gets, or 0 if it is allowed.
func verdict(t testing.TB, program []unix.SockFilter, c call) unix.Errno {
	t.Helper()
	answer, _, err := run(program, c)
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	switch answer & unix.SECCOMP_RET_ACTION_FULL {
	case unix.SECCOMP_RET_ALLOW:
		return 0
	case unix.SECCOMP_RET_ERRNO:
		return unix.Errno(answer & unix.SECCOMP_RET_DATA)
	}
	t.Fatalf("%+v: answer %#x is neither ALLOW nor ERRNO", c, answer)
	return 0
}

// native is a call of this architecture.
func native(number uintptr, args ...uint64) call {
	c := call{number: uint32(number), arch: auditArch}
	copy(c.args[:], args)
	return c
}
