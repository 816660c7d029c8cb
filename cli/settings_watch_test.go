//go:build unix

package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// change runs hardshell in the home of a process.
func (p *process) change(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("hardshell", args...)
	cmd.Env = p.cmd.Env
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("%q: %v", args, err)
	}
	return string(out)
}

func TestEveryChangeOfTheSettingsIsTold(t *testing.T) {
	t.Parallel()
	p := start(t, "--log-level", "warn", "settings", "watch", "shell")
	// It says so once it watches.
	if line, err := p.stderr.ReadString('\n'); err != nil || !strings.HasPrefix(line, "hardshell: watching ") || !strings.HasSuffix(line, "/settings.yaml until Ctrl-C\n") {
		t.Fatalf("it begins with %q, %v", line, err)
	}
	p.change("settings", "set", "sandbox.network", "none") // of another namespace
	p.change("settings", "set", "shell.timeoutMs", "77")
	if line := p.line(); line != "shell has revision 1: other values are in force" {
		t.Errorf("a change is told as %q", line)
	}
	p.change("settings", "set", "shell.nothing", "1")
	if line := p.line(); line != "shell has revision 2: the values in force are the same" {
		t.Errorf("a change of no value is told as %q", line)
	}
	// An editor's.
	path := strings.TrimSpace(p.change("settings", "path"))
	if err := os.WriteFile(path+".new", []byte("shell: {timeoutMs: 78}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if line := p.line(); line != "shell has revision 3: other values are in force" {
		t.Errorf("the change of an editor is told as %q", line)
	}
	p.cmd.Process.Signal(syscall.SIGINT)
	p.cmd.Wait()
	if status := shellStatus(p.cmd.ProcessState); status != 130 {
		t.Errorf("the status is %d, want 130", status)
	}
}

func TestEveryChangeIsALineOfJSON(t *testing.T) {
	t.Parallel()
	p := start(t, "settings", "watch", "--json")
	lines := make(chan string, 1)
	go func() { lines <- p.line() }()
	// It does not say when it watches: it is told until it tells.
	var line string
	for n := 1; line == ""; n++ {
		p.change("settings", "set", "shell.timeoutMs", strconv.Itoa(1000+n))
		select {
		case line = <-lines:
		default:
		}
	}
	var told map[string]any
	if err := json.Unmarshal([]byte(line), &told); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if told["ns"] != "shell" || told["updated"] != true || len(told) != 3 {
		t.Errorf("a change is told as %q", line)
	}
	if _, ok := told["revision"].(float64); !ok {
		t.Errorf("a change is told as %q", line)
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.cmd.Wait()
	if status := shellStatus(p.cmd.ProcessState); status != 143 {
		t.Errorf("the status is %d, want 143", status)
	}
}
