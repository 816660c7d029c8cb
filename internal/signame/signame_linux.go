package signame

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// sigrtmin is the first real-time signal that programs may use: glibc and musl
// keep 32 and 33 (and musl 34) for threads; signal(7) counts from 34.
const sigrtmin = 34

// Name spells a signal as kill(1) does with the prefix SIG: "SIGTERM",
// "SIGRTMIN+2".
func Name(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	switch {
	case sig == sigrtmin:
		return "SIGRTMIN"
	case sig > sigrtmin:
		return fmt.Sprintf("SIGRTMIN+%d", sig-sigrtmin)
	default:
		return fmt.Sprintf("SIG%d", sig)
	}
}

// Number is the inverse of Name, 0 for an unknown one.
func Number(name string) int {
	if sig := unix.SignalNum(name); sig != 0 {
		return int(sig)
	}
	if offset, ok := strings.CutPrefix(name, "SIGRTMIN"); ok {
		n, err := strconv.Atoi(strings.TrimPrefix(offset, "+"))
		if offset == "" || err == nil {
			return sigrtmin + n
		}
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(name, "SIG"))
	return n
}
