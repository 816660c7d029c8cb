package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal makes a pseudo terminal (pty(7)) of some width.
func terminal(t *testing.T, width uint16) (own, far *os.File) {
	t.Helper()
	own, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { own.Close() })
	n, err := unix.IoctlGetInt(int(own.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(own.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(own.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width})
	}
	if err != nil {
		t.Fatal(err)
	}
	if far, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { far.Close() })
	return own, far
}

func TestTheListIsDrawnAgainOnATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.background("echo up; exec sleep " + newMark())
	own, far := terminal(t, 60)
	cmd := exec.Command("hardshell", "--home", h.path, "jobs", "list", "--all", "--watch")
	cmd.Stdout = far
	cmd.Env = append(os.Environ(), "NO_COLOR=", "TERM=xterm")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	far.Close()
	guard := time.AfterFunc(hangs, func() { cmd.Process.Kill() })
	defer guard.Stop()
	screen := bufio.NewReader(own)
	var drawn strings.Builder
	for strings.Count(drawn.String(), "bash-1") < 2 {
		line, err := screen.ReadString('\n')
		if err != nil {
			t.Fatalf("%v after %q", err, drawn.String())
		}
		drawn.WriteString(line)
	}
	for _, want := range []string{"\r\x1b[J\x1b[2mSESSION", "\x1b[32mrunning\x1b[0m", "\r\n\x1b[2A\r\x1b[J\x1b[2mSESSION", "…\r\n"} {
		if !strings.Contains(drawn.String(), want) {
			t.Errorf("the screen has no %q: %q", want, drawn.String())
		}
	}
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
	if status := shellStatus(cmd.ProcessState); status != 130 {
		t.Errorf("the status is %d, want 130", status)
	}
}

func TestATerminalMayWantNoColours(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.background("echo up; exec sleep " + newMark())
	for name, env := range map[string]string{"NO_COLOR": "NO_COLOR=1", "a dumb one": "TERM=dumb"} {
		t.Run(name, func(t *testing.T) {
			own, far := terminal(t, 70)
			cmd := exec.Command("hardshell", "--home", h.path, "--session", "s", "jobs", "list")
			cmd.Stdout = far
			cmd.Env = append(os.Environ(), env)
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			far.Close()
			screen := bufio.NewReader(own)
			first, err := screen.ReadString('\n')
			if err != nil || first != "ID      STATUS   TIME  OUTPUT  LABEL\r\n" {
				t.Errorf("%q, %v", first, err)
			}
		})
	}
}
