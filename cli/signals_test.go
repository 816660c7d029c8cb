//go:build unix

package cli_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tree is a script of four processes, one of which left the session.
const tree = `echo $$; sleep 600 & echo $!; (echo $BASHPID; setsid bash -c 'echo $$; echo up; exec sleep 600' & exec sleep 600) & wait; wait`

func TestASignalEndsTheTree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		status int
	}{
		{"Ctrl-C", syscall.SIGINT, 130},
		{"SIGTERM", syscall.SIGTERM, 143},
		{"SIGHUP", syscall.SIGHUP, 129},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(c.signal) {
				t.Skip("this test was started with the signal ignored")
			}
			p := start(t, "run", tree)
			pids := p.pids()
			p.signal(c.signal)
			status, out, _ := p.end()
			if status != c.status || out != "" {
				t.Errorf("the status is %d, want %d; more output: %q", status, c.status, out)
			}
			wantGone(t, pids)
		})
	}
}

func TestASignalIsAnAbortInTheDocument(t *testing.T) {
	t.Parallel()
	path, up := fifo(t)
	p := start(t, "run", "--json", "printf begun; echo >"+path+"; exec sleep 600")
	awaitByte(t, up)
	p.signal(syscall.SIGTERM)
	status, out, _ := p.end()
	var document struct {
		ExitCode          *int
		Signal            string
		TimedOut, Aborted bool
		Stdout            struct{ Text string }
	}
	if err := json.Unmarshal([]byte(out), &document); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// SIGTERM, and not SIGKILL, says that it was over within the grace.
	if status != 143 || !document.Aborted || document.TimedOut || document.ExitCode != nil ||
		document.Signal != "SIGTERM" || document.Stdout.Text != "begun" {
		t.Errorf("status %d, %s", status, out)
	}
}

func TestSomeSignalsDoNotWaitForTheGrace(t *testing.T) {
	t.Parallel()
	const grace = 3 * time.Second
	for _, c := range []struct {
		name    string
		signals []syscall.Signal
		status  int
	}{
		{"a second Ctrl-C", []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, 130},
		{"SIGTERM after Ctrl-C", []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, 130},
		{"SIGQUIT", []syscall.Signal{syscall.SIGQUIT}, 131},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// On a machine that is very busy one attempt may take as long for
			// nothing. An implementation that waits for the grace always does.
			var took time.Duration
			for range 3 {
				p := start(t, "run", `trap "echo caught" TERM; echo $$; echo up; while :; do sleep 600 & wait $!; done`)
				pids := p.pids()
				first := time.Now()
				for i, sig := range c.signals {
					if i > 0 {
						if line := p.line(); line != "caught" {
							t.Fatalf("the command says %q", line)
						}
					}
					p.signal(sig)
				}
				status, _, stderr := p.end()
				took = time.Since(first)
				if status != c.status || strings.Contains(stderr, "goroutine") {
					t.Errorf("the status is %d, want %d; standard error: %s", status, c.status, stderr)
				}
				wantGone(t, pids)
				if took < grace {
					return
				}
			}
			t.Errorf("three times it took as long as the grace of %v; the last time %v", grace, took)
		})
	}
}

func TestWhatIgnoresSIGTERMDoesNotOutliveHardshell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		status       int
	}{
		{"a command", `trap "" TERM; echo $$; sleep 600 & echo $!; echo up; wait; wait`, 143},
		{"what left its session", `trap "" TERM; setsid bash -c 'echo $$; echo up; while :; do sleep 600; done' & exec sleep 600`, 143},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "run", c.script)
			pids := p.pids()
			p.signal(syscall.SIGTERM)
			status, _, stderr := p.end()
			if status != c.status || strings.Contains(stderr, "still") {
				t.Errorf("the status is %d, want %d; standard error: %s", status, c.status, stderr)
			}
			wantGone(t, pids)
		})
	}
}

func TestAnIgnoredSIGHUPStaysIgnored(t *testing.T) {
	t.Parallel()
	path, gate := fifo(t)
	p := begin(t, exec.Command("bash", "-c", `trap "" HUP; exec hardshell run "$1"`, "nohup",
		`echo up; read line <`+path+`; echo "$line"`))
	p.pids()
	p.signal(syscall.SIGHUP) // discarded at once
	fmt.Fprintln(gate, "went on")
	if status, out, _ := p.end(); status != 0 || out != "went on\n" {
		t.Errorf("status %d, output %q", status, out)
	}
}

func TestASignalAbortsACall(t *testing.T) {
	t.Parallel()
	path, up := fifo(t)
	arguments, err := json.Marshal(map[string]string{
		"command": "echo >" + path + "; exec sleep 600", "description": "Wait",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"as text", "Error: tool call aborted", []string{"call", "bash", string(arguments)}},
		{"as a document", `"error":{"code":"ABORTED","message":"tool call aborted"}`, []string{"call", "--json", "bash", string(arguments)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, c.args...)
			awaitByte(t, up)
			p.signal(syscall.SIGINT)
			if status, out, _ := p.end(); status != 130 || !strings.Contains(out, c.want) {
				t.Errorf("status %d, output %s", status, out)
			}
		})
	}
}

func TestASignalEndsTheBenchmark(t *testing.T) {
	t.Parallel()
	p := start(t, "bench", "--runs", "1000000", "--json")
	if line, err := p.stderr.ReadString('\n'); line != "measuring spawn\n" {
		t.Fatalf("%q, %v", line, err)
	}
	p.signal(syscall.SIGINT)
	if status, out, stderr := p.end(); status != 130 || out != "" || stderr != "" {
		t.Errorf("status %d, output %q, standard error %q", status, out, stderr)
	}
}
