package spawn

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// startConfined starts a program of true with a confinement.
func startConfined(t *testing.T, c *Confine) (*Child, error) {
	t.Helper()
	if !CanConfine() {
		t.Skip("children run no programs in this way of spawning")
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	fd := int(null.Fd())
	return Start(&Attr{Path: "/bin/true", Argv: []string{"true"}, Dir: "/", Files: []int{fd, fd, fd}, Confine: c})
}

func TestAFailedStepIsNamedAndLeavesNothing(t *testing.T) {
	// Somebody else's child must be neither waited for nor reaped.
	sibling := exec.Command("sleep", "600")
	if err := sibling.Start(); err != nil {
		t.Fatal(err)
	}
	defer sibling.Wait()
	defer sibling.Process.Kill()
	bad := func(p *Program) { p.Call("close what is not open", unix.SYS_CLOSE, 1<<20) }
	for name, c := range map[string]*Confine{
		"at first":                     {Enter: bad},
		"at first, before a fork":      {Enter: bad, Fork: true},
		"after a fork":                 {Settle: bad, Fork: true},
		"at last, after a fork":        {Lock: bad, Fork: true},
		"at last":                      {Lock: bad},
		"the image, after a fork":      {Image: 900, Fork: true},
		"in a namespace it is refused": {Enter: func(p *Program) { p.Call("close what is not open", unix.SYS_SETNS, 0, unix.CLONE_NEWNS) }, Fork: true},
	} {
		child, err := startConfined(t, c)
		var failed *Error
		switch {
		case child != nil || !errors.As(err, &failed):
			t.Errorf("%s: %v, %v", name, child, err)
		case c.Image == 0 && (failed.Stage != StageConfine || failed.Path != "close what is not open"):
			t.Errorf("%s: %v", name, err)
		}
	}
	var ws unix.WaitStatus
	if pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil); pid != 0 || err != nil {
		t.Errorf("a child was left: %d, %v", pid, err)
	}
}

func TestResultsAreArgumentsOfLaterSteps(t *testing.T) {
	var moved Result
	child, err := startConfined(t, &Confine{
		Enter: func(p *Program) {
			dir := p.Call("open /", unix.SYS_OPENAT, -100, "/", unix.O_PATH|unix.O_CLOEXEC, 0)
			proc := p.Call("open proc", unix.SYS_OPENAT, dir, "proc", unix.O_PATH|unix.O_CLOEXEC, 0)
			missing := p.Try("open what is missing", unix.SYS_OPENAT, proc, "no-such-file", unix.O_PATH|unix.O_CLOEXEC, 0)
			p.Try("use what is missing", unix.SYS_FCHDIR, missing)
			moved = p.Call("enter it", unix.SYS_FCHDIR, proc)
			p.Call("look around", unix.SYS_FACCESSAT, -100, "self/status", unix.R_OK)
		},
		Fork: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	child.WaitExit()
	if status := child.Reap(); status.Code != 0 {
		t.Errorf("the child ended with %+v", status)
	}
	if *moved.cell != 0 {
		t.Errorf("fchdir returned %d", *moved.cell)
	}
}

func TestANulByteInAStepIsRefused(t *testing.T) {
	child, err := startConfined(t, &Confine{Enter: func(p *Program) { p.Call("bad", unix.SYS_CHDIR, "a\x00b") }})
	if child != nil || !errors.Is(err, unix.EINVAL) {
		t.Errorf("%v, %v", child, err)
	}
}

func TestAProcessThatIsKeptFromStartingIsKilled(t *testing.T) {
	var born Result
	child, err := startConfined(t, &Confine{
		Fork: true,
		Settle: func(p *Program) {
			born = p.Call("ask for its number", unix.SYS_GETPID)
			p.Call("stand still, as a stopped process does", unix.SYS_PPOLL, 0, 0, 0, 0, 0)
		},
	})
	if child != nil || !errors.Is(err, unix.ETIMEDOUT) {
		t.Errorf("%v, %v", child, err)
	}
	if pid := int(*born.cell); pid <= 0 || unix.Kill(pid, 0) != unix.ESRCH {
		t.Errorf("process %d is still there", pid)
	}
}
