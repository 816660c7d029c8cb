//go:build unix

package subprocesstest

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

var markers atomic.Int64

// newMarker returns an argument that no other process has, and that sleep
// reads as ten minutes: the rest of the digits tells who made it.
func newMarker() string {
	return fmt.Sprintf("600.%07d%05d", os.Getpid(), markers.Add(1))
}

// procfs reports whether this system tells of its processes in /proc.
func procfs() bool { return runtime.GOOS == "linux" }

// needProcfs skips the check where nothing can witness it.
func (f *fixture) needProcfs() {
	f.Helper()
	if !procfs() {
		f.Skipf("skipped: needs the /proc of Linux, and this is %s", runtime.GOOS)
	}
}

// alive lists the processes that carry the marker, in ascending order. The
// dead that wait to be reaped have no arguments and do not count.
func (f *fixture) alive() []int { return processesWith(f.Marker) }

func processesWith(argument string) []int {
	var found []int
	for _, pid := range pids() {
		if slices.Contains(commandLine(pid), argument) {
			found = append(found, pid)
		}
	}
	return found
}

// commandLine is the arguments of a process, nil for the dead and for threads
// of the kernel. In the middle of an exec a process has none for a moment.
func commandLine(pid int) []string {
	for range 100 {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			return nil
		}
		if len(line) > 0 {
			return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		}
		if !hasMemory(pid) {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// hasMemory tells a process that runs, or will in a moment, from a zombie and
// a thread of the kernel.
func hasMemory(pid int) bool {
	const kernelThread = 0x00200000 // PF_KTHREAD of the kernel's sched.h
	fields, ok := stat(pid)
	if !ok || len(fields) < 7 || fields[0] == "Z" || fields[0] == "X" {
		return false
	}
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	return err == nil && flags&kernelThread == 0
}

// pids lists all processes in ascending order, none where there is no /proc.
func pids() []int {
	entries, _ := os.ReadDir("/proc")
	var all []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			all = append(all, pid)
		}
	}
	slices.Sort(all)
	return all
}

// expectGone expects that no process carries the marker at this moment.
func (f *fixture) expectGone() {
	f.Helper()
	if left := f.alive(); len(left) > 0 {
		f.Errorf("alive, but should be gone: %s", describe(left))
	}
}

// expectAlive expects that n processes carry the marker.
func (f *fixture) expectAlive(n int) {
	f.Helper()
	if !procfs() {
		return
	}
	if got := f.alive(); len(got) != n {
		f.Errorf("%d processes are alive, want %d: %s", len(got), n, describe(got))
	}
}

// awaitAlive waits until n processes carry the marker.
func (f *fixture) awaitAlive(n int) {
	f.Helper()
	f.waitFor(fmt.Sprintf("%d processes", n), func() bool { return len(f.alive()) == n })
}

// expectNothingAlive is the end of every check. What is left would disturb the
// machine for ten minutes, so it also goes.
func (f *fixture) expectNothingAlive() {
	f.Helper()
	f.expectGone()
	for round := 0; round < 50; round++ {
		left := f.alive()
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// describe says for people what processes are.
func describe(pids []int) string {
	var b strings.Builder
	for i, pid := range pids {
		if i == 10 {
			fmt.Fprintf(&b, "\n\tand %d more", len(pids)-i)
			break
		}
		fmt.Fprintf(&b, "\n\t%d %.200s", pid, strings.Join(commandLine(pid), " "))
	}
	return b.String()
}

// stat is the fields of /proc/PID/stat that follow the name, which may hold
// blanks and parentheses itself: state, parent, group, session, terminal, …
func stat(pid int) ([]string, bool) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, false
	}
	_, rest, ok := strings.Cut(string(line[bytes.LastIndexByte(line, ')'):]), " ")
	return strings.Fields(rest), ok
}

// pidIn is the process id that a script wrote to a file of the check's
// directory.
func (f *fixture) pidIn(name string) int {
	f.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(f.read(name)))
	if err != nil {
		f.Fatal(err)
	}
	return pid
}
