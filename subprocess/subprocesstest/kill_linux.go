package subprocesstest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hardshell/subprocess"
)

// pidReuse lets strangers take the number of a finished leader, and of one of
// which only a daemon is left: the stranger's group and session have the same
// number then, and only the stranger may be spared.
func pidReuse(f *fixture) {
	for name, script := range map[string]string{
		"gone":   `exit 0`,
		"daemon": `setsid sleep "$marker" >/dev/null 2>&1 & exit 0`,
	} {
		spec := f.bash(script)
		spec.Grace = brief
		h := f.run(spec)
		if name == "daemon" {
			f.awaitSleepers(1)
		} else {
			f.awaitTree(h)
		}
		stranger := takeNumber(f, h.PID())
		h.Terminate()
		h.Kill()
		f.awaitTree(h)
		f.run(f.program("true"))
		stranger.expectAlive(f, name+": ending the tree")
		f.close()
		stranger.expectAlive(f, name+": closing the runtime")
		stranger.end()
		f.expectGone()
		f.use(Options{SpillDir: f.SpillDir})
	}
}

// stranger is a process of this test, and no child of the runtime.
type stranger struct {
	cmd  *exec.Cmd
	dead chan struct{}
}

func newStranger(f *fixture) *stranger {
	f.Helper()
	s := &stranger{cmd: exec.Command("sleep", "600"), dead: make(chan struct{})}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := s.cmd.Start(); err != nil {
		f.Fatal(err)
	}
	go func() {
		s.cmd.Wait()
		close(s.dead)
	}()
	return s
}

func (s *stranger) end() {
	s.cmd.Process.Kill()
	<-s.dead
}

// expectAlive gives a signal that is under way time to arrive.
func (s *stranger) expectAlive(f *fixture, after string) {
	f.Helper()
	select {
	case <-s.dead:
		f.Errorf("after %s a stranger with the leader's number is dead: %v", after, s.cmd.ProcessState)
	case <-time.After(100 * time.Millisecond):
	}
}

// takeNumber starts a stranger with a given process id, or skips the check.
func takeNumber(f *fixture, pid int) *stranger {
	f.Helper()
	for range 500 {
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(pid-1)), 0); err != nil {
			f.Skipf("skipped: process ids cannot be chosen here: %v", err)
		}
		s := newStranger(f)
		if s.cmd.Process.Pid == pid {
			f.Cleanup(s.end)
			return s
		}
		s.end()
	}
	f.Skip("skipped: the process id was taken by others again and again")
	return nil
}

// freezer is a cgroup that makes its processes deaf to SIGKILL until it thaws,
// as an uninterruptible sleep in a driver or a dead file server does. Only the
// first version of cgroups has that.
type freezer string

func newFreezer(f *fixture) freezer {
	f.Helper()
	if os.Geteuid() != 0 {
		f.Skip("skipped: only root may freeze processes")
	}
	dir := filepath.Join("/sys/fs/cgroup/freezer", "subprocesstest-"+f.Marker)
	if err := os.Mkdir(dir, 0o700); err != nil {
		f.Skipf("skipped: there is no freezer here: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "freezer.state"), []byte("THAWED"), 0); err != nil {
		os.Remove(dir)
		f.Skipf("skipped: there is no freezer here: %v", err)
	}
	fr := freezer(dir)
	f.Cleanup(func() {
		fr.set(f, "THAWED")
		f.waitFor("the freezer to be empty", func() bool { return os.Remove(dir) == nil })
	})
	return fr
}

func (fr freezer) set(f *fixture, state string) {
	f.Helper()
	file := filepath.Join(string(fr), "freezer.state")
	if err := os.WriteFile(file, []byte(state), 0); err != nil {
		f.Fatal(err)
	}
	f.waitFor(state, func() bool {
		now, err := os.ReadFile(file)
		return err == nil && strings.TrimSpace(string(now)) == state
	})
}

func (fr freezer) freeze(f *fixture, pid int) {
	f.Helper()
	if err := os.WriteFile(filepath.Join(string(fr), "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
		f.Fatal(err)
	}
	fr.set(f, "FROZEN")
}

func frozenChild(f *fixture) {
	endFrozen(f, func(leader, child int) int { return child })
}

func frozenLeader(f *fixture) {
	endFrozen(f, func(leader, child int) int { return leader })
}

// endFrozen ends a tree in which one process cannot be killed: Done comes all
// the same, and says who is left.
func endFrozen(f *fixture, choose func(leader, child int) int) {
	fr := newFreezer(f)
	// Closed within the check, with an error that it expects.
	r := f.open(f.T, Options{SpillDir: f.SpillDir})
	f.Runtime = r
	h := f.ready(`sleep "$marker" & echo $! >"$dir/child"; echo ready; wait`, brief)
	f.awaitSleepers(1)
	pid := choose(h.PID(), f.pidIn("child"))
	fr.freeze(f, pid)
	began := time.Now()
	h.Terminate()
	f.await(h)
	f.expectAtLeast("the end", time.Since(began), brief)
	if got := h.Survivors(); !slices.Equal(got, []int{pid}) {
		f.Errorf("Survivors = %v, want %d", got, pid)
	}
	f.expectUnfinished(h)
	err := f.closing(r, context.Background())
	if err == nil || !strings.Contains(err.Error(), strconv.Itoa(pid)) {
		f.Errorf("Close = %v, want an error that names %d", err, pid)
	}
	fr.set(f, "THAWED")
	f.waitFor("the end of the thawed", func() bool { return len(f.alive()) == 0 })
}

// expectUnfinished expects that the tree is not told gone.
func (f *fixture) expectUnfinished(h subprocess.Handle) {
	f.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := h.WaitTree(ctx); err == nil {
		f.Error("WaitTree says that the tree is gone")
	}
}
