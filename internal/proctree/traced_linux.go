package proctree

import (
	"bytes"
	"os"
	"strconv"

	"hardshell/internal/procfs"
)

var tracer = []byte("\nTracerPid:\t")

// tracedHere reports whether a thread of this process traces pid.
func tracedHere(pid int) bool {
	status, err := procfs.Read(pid, "status", make([]byte, 1024))
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(status, tracer) // proc_pid_status(5)
	line, _, _ := bytes.Cut(rest, []byte{'\n'})
	thread, err := strconv.Atoi(string(line))
	if err != nil || thread == 0 {
		return false
	}
	_, err = os.Stat("/proc/self/task/" + strconv.Itoa(thread))
	return err == nil
}
