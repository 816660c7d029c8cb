//go:build unix

package cli_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hangs bounds what must end by itself.
const hangs = 60 * time.Second

// process is a running hardshell. What it has not done within the bound, it
// never does: it is killed, and the test fails on what is missing.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr *bufio.Reader
	guard  *time.Timer
}

// start starts hardshell with arguments.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	return begin(t, exec.Command("hardshell", args...))
}

// begin starts a command that is or becomes hardshell, in a home of its own.
func begin(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	cmd.Env = append(os.Environ(), "DSH_HOME="+filepath.Join(t.TempDir(), "home"))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, stdout: bufio.NewReaderSize(stdout, 16), stderr: bufio.NewReader(stderr)}
	p.guard = time.AfterFunc(hangs, func() { cmd.Process.Kill() })
	t.Cleanup(func() { p.guard.Stop(); cmd.Process.Kill() })
	return p
}

// line reads a line of standard output.
func (p *process) line() string {
	p.t.Helper()
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		rest, _ := io.ReadAll(p.stderr)
		p.t.Fatalf("after %q standard output ends (%v); standard error: %s", line, err, rest)
	}
	return strings.TrimSuffix(line, "\n")
}

// up waits for the line "up".
func (p *process) up() {
	p.t.Helper()
	if line := p.line(); line != "up" {
		p.t.Fatalf("the command says %q, want up", line)
	}
}

func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// end waits for the end, and returns the status and the rest of the streams.
func (p *process) end() (status int, stdout, stderr string) {
	p.t.Helper()
	errs := make(chan string)
	go func() {
		rest, _ := io.ReadAll(p.stderr)
		errs <- string(rest)
	}()
	out, _ := io.ReadAll(p.stdout)
	stderr = <-errs
	p.cmd.Wait()
	if !p.guard.Stop() {
		p.t.Fatalf("it did not end within %v; standard error: %s", hangs, stderr)
	}
	return shellStatus(p.cmd.ProcessState), string(out), stderr
}

// fifo makes a named pipe. Opened for both, it never blocks.
func fifo(t *testing.T) (path string, file *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return path, file
}

// awaitByte waits until somebody writes to a pipe.
func awaitByte(t *testing.T, file *os.File) {
	t.Helper()
	file.SetReadDeadline(time.Now().Add(hangs))
	if _, err := file.Read(make([]byte, 1)); err != nil {
		t.Fatalf("nobody wrote to the pipe: %v", err)
	}
}

// startTo starts hardshell in the session s with its standard output somewhere
// else.
func (h home) startTo(stdout *os.File, args ...string) *process {
	h.t.Helper()
	cmd := exec.Command("hardshell", append([]string{"--home", h.path, "--session", "s"}, args...)...)
	cmd.Stdout = stdout
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	p := &process{t: h.t, cmd: cmd}
	p.guard = time.AfterFunc(hangs, func() { cmd.Process.Kill() })
	h.t.Cleanup(func() { p.guard.Stop(); cmd.Process.Kill() })
	return p
}
