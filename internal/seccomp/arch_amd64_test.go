//go:build linux

package seccomp

import "golang.org/x/sys/unix"

var archRefusedByName = map[uint32]string{
	unix.SYS_IOPL: "iopl", unix.SYS_IOPERM: "ioperm", unix.SYS_USELIB: "uselib",
}

var unusedNumbers = [][2]uint32{{337, 423}}
