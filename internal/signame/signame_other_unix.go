//go:build unix && !linux

package signame

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Name spells a signal with the prefix SIG: "SIGTERM".
func Name(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", sig)
}

// Number is the inverse of Name, 0 for an unknown one.
func Number(name string) int {
	if sig := unix.SignalNum(name); sig != 0 {
		return int(sig)
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(name, "SIG"))
	return n
}
