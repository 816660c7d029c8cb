//go:build linux

package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What was printed to nobody was not told: the next call tells it.
func TestNewsThatDidNotArriveIsToldAgain(t *testing.T) {
	t.Parallel()
	full := func(t *testing.T) *os.File {
		file, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		return file
	}
	broken := func(t *testing.T) *os.File {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		return w
	}
	for _, c := range []struct {
		name           string
		json           bool
		stdout, stderr func(*testing.T) *os.File // nil is nowhere
		status         int
		again          bool
	}{
		{name: "a document whose reader has gone", json: true, stdout: broken, status: 141, again: true},
		{name: "a document that a full disk took", json: true, stdout: full, status: 125, again: true},
		{name: "a text whose reader has gone", stdout: broken, status: 141, again: true},
		{name: "a line whose reader has gone", stderr: broken, again: true},
		{name: "a line that a full disk took", stderr: full, status: 125, again: true},
		{name: "a text that a full disk took, beside news that arrived", stdout: full, status: 125},
		{name: "a document that arrived", json: true},
		{name: "a text that arrived"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			arguments, _ := json.Marshal(map[string]any{"command": "while [ ! -e go ]; do sleep 0.02; done", "description": "d", "run_in_background": true})
			h.expect("call", "--workspace", h.work, "bash", string(arguments))
			// It ends when no call is there to tell of it.
			if err := os.WriteFile(filepath.Join(h.work, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			h.expect("jobs", "wait", "bash-1")
			args := []string{"--home", h.path, "--session", "s", "call", "--workspace", h.work, "job_list", "{}"}
			if c.json {
				args = append(args, "--json")
			}
			cmd := exec.Command("hardshell", args...)
			if c.stdout != nil {
				file := c.stdout(t)
				defer file.Close()
				cmd.Stdout = file
			}
			if c.stderr != nil {
				file := c.stderr(t)
				defer file.Close()
				cmd.Stderr = file
			}
			if err := cmd.Run(); cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if status := shellStatus(cmd.ProcessState); status != c.status {
				t.Errorf("the status is %d, want %d", status, c.status)
			}
			for i, want := range []bool{c.again, false} {
				out := h.expect("call", "--workspace", h.work, "--json", "job_list", "{}")
				if told := strings.Contains(out, `"notices":[{"seq":2,"jobId":"bash-1"`); told != want {
					t.Errorf("call %d after it: the news is told: %v, want %v: %s", i+1, told, want, out)
				}
			}
		})
	}
}
