package sandboxtest

import (
	"fmt"
	"os"
	"os/exec"
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

// alive lists the processes of the host that carry the marker.
func (f *fixture) alive() []int {
	entries, _ := os.ReadDir("/proc")
	var found []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err == nil && slices.Contains(commandLine(pid), f.Marker) {
			found = append(found, pid)
		}
	}
	return found
}

// commandLine is the arguments of a process, nil for the dead.
func commandLine(pid int) []string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}

// awaitAlive waits until at least n processes carry the marker.
func (f *fixture) awaitAlive(n int) {
	f.Helper()
	f.waitFor(fmt.Sprintf("%d processes", n), func() bool { return len(f.alive()) >= n })
}

// expectGone expects that no process carries the marker at this moment.
func (f *fixture) expectGone() {
	f.Helper()
	for _, pid := range f.alive() {
		f.Errorf("alive, but should be gone: %d %.200q", pid, commandLine(pid))
	}
}

// expectNothingAlive is the end of every check. What is left would disturb the
// machine for ten minutes, so it also goes.
func (f *fixture) expectNothingAlive() {
	f.expectGone()
	for range 50 {
		left := f.alive()
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
}

// sleeper is a process of the host, outside of every sandbox, that a command
// may try to reach.
type sleeper struct {
	pid   int
	ended chan struct{}
}

// newSleeper starts a sleeper with the secret in its environment.
func (f *fixture) newSleeper() *sleeper {
	f.Helper()
	cmd := exec.Command("sleep", f.Marker)
	cmd.Dir = f.Outside
	cmd.Env = []string{"SECRET=" + secret}
	// A session of its own: a signal to a group must not reach it by accident.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		f.Fatal(err)
	}
	s := &sleeper{pid: cmd.Process.Pid, ended: make(chan struct{})}
	go func() {
		cmd.Wait()
		close(s.ended)
	}()
	f.Cleanup(func() {
		cmd.Process.Kill()
		<-s.ended
	})
	return s
}

// expectUntouched expects that the sleeper lives, untraced and not stopped.
func (f *fixture) expectUntouched(s *sleeper) {
	f.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		f.Errorf("the process outside is gone: %v", err)
		return
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if name == "TracerPid" && value != "0" || name == "State" && value[0] != 'S' && value[0] != 'R' {
			f.Errorf("the process outside was touched: %s: %s", name, value)
		}
	}
}
