//go:build unix

package cli_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hardshell/sandbox"
)

// tree is a script of four processes, one of which left the session.
func tree(mark string) string {
	return "sleep " + mark + " & (setsid bash -c 'echo up; exec sleep " + mark + "' & exec sleep " + mark + ") & wait; wait"
}

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
			inModes(t, func(t *testing.T, mode string) {
				mark := newMark()
				p := start(t, "run", "--mode", mode, tree(mark))
				p.up()
				awaitMarked(t, mark, 4)
				p.signal(c.signal)
				status, out, _ := p.end()
				if status != c.status || out != "" {
					t.Errorf("the status is %d, want %d; more output: %q", status, c.status, out)
				}
				wantGone(t, mark)
			})
		})
	}
}

func TestASignalEndsTheShell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		status int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			mark := newMark()
			p := start(t, "-c", tree(mark))
			p.up()
			awaitMarked(t, mark, 4)
			p.signal(c.signal)
			if status, out, stderr := p.end(); status != c.status || out != "" || stderr != "" {
				t.Errorf("status %d, want %d; output %q, standard error %q", status, c.status, out, stderr)
			}
			wantGone(t, mark)
		})
	}
}

func TestASignalIsAnAbortInTheDocument(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, mode string) {
		path, up := fifo(t)
		p := start(t, "run", "--mode", mode, "--workspace", filepath.Dir(path), "--json", "printf begun; echo >"+path+"; exec sleep 600")
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
	}, sandbox.ReadOnly) // which does not let it write to the pipe
}

func TestASignalLeavesTheCommandItsGrace(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, mode string) {
		p := start(t, "run", "--mode", mode, `trap "echo caught; exit 7" TERM; echo up; sleep 600 & wait`)
		p.up()
		p.signal(syscall.SIGTERM)
		if status, out, stderr := p.end(); status != 143 || out != "caught\n" || stderr != "" {
			t.Errorf("status %d, output %q, standard error %q", status, out, stderr)
		}
	})
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
			inModes(t, func(t *testing.T, mode string) {
				// On a machine that is very busy one attempt may take as long for
				// nothing. An implementation that waits for the grace always does.
				var took time.Duration
				for range 3 {
					mark := newMark()
					p := start(t, "run", "--mode", mode, `trap "echo caught" TERM; echo up; while :; do sleep `+mark+` & wait $!; done`)
					p.up()
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
					wantGone(t, mark)
					if took < grace {
						return
					}
				}
				t.Errorf("three times it took as long as the grace of %v; the last time %v", grace, took)
			})
		})
	}
}

func TestWhatIgnoresSIGTERMDoesNotOutliveHardshell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		status       int
	}{
		{"a command", `trap "" TERM; sleep MARK & echo up; wait; wait`, 143},
		{"what left its session", `trap "" TERM; setsid bash -c 'echo up; while :; do sleep MARK; done' & exec sleep MARK`, 143},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inModes(t, func(t *testing.T, mode string) {
				mark := newMark()
				p := start(t, "run", "--mode", mode, strings.ReplaceAll(c.script, "MARK", mark))
				p.up()
				awaitMarked(t, mark, 2)
				p.signal(syscall.SIGTERM)
				status, _, stderr := p.end()
				if status != c.status || strings.Contains(stderr, "still") {
					t.Errorf("the status is %d, want %d; standard error: %s", status, c.status, stderr)
				}
				wantGone(t, mark)
			})
		})
	}
}

func TestAnIgnoredSIGHUPStaysIgnored(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, mode string) {
		path, gate := fifo(t)
		cmd := exec.Command("bash", "-c", `trap "" HUP; exec hardshell run --mode `+mode+` "$1"`, "nohup",
			`echo up; read line <`+path+`; echo "$line"`)
		cmd.Dir = filepath.Dir(path)
		p := begin(t, cmd)
		p.up()
		p.signal(syscall.SIGHUP) // discarded at once
		fmt.Fprintln(gate, "went on")
		if status, out, _ := p.end(); status != 0 || out != "went on\n" {
			t.Errorf("status %d, output %q", status, out)
		}
	})
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
		{"as text", "Error: tool call aborted", nil},
		{"as a document", `"error":{"code":"ABORTED","message":"tool call aborted"}`, []string{"--json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"call", "--workspace", filepath.Dir(path)}, c.args...)
			p := start(t, append(args, "bash", string(arguments))...)
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
