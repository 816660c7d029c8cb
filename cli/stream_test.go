//go:build unix

package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

func TestOutputArrivesWhileTheCommandRuns(t *testing.T) {
	t.Parallel()
	path, gate := fifo(t)
	p := start(t, "run", "--workspace", filepath.Dir(path), "echo one; read <"+path+"; echo two >&2; read <"+path+"; printf three; read <"+path)
	if line := p.line(); line != "one" {
		t.Fatalf("the first line is %q", line)
	}
	fmt.Fprintln(gate)
	if line, err := p.stderr.ReadString('\n'); line != "two\n" {
		t.Fatalf("standard error is %q, %v", line, err)
	}
	fmt.Fprintln(gate)
	part := make([]byte, len("three"))
	if _, err := io.ReadFull(p.stdout, part); err != nil || string(part) != "three" {
		t.Fatalf("a part of a line is %q, %v", part, err)
	}
	fmt.Fprintln(gate)
	if status, out, stderr := p.end(); status != 0 || out != "" || stderr != "" {
		t.Errorf("status %d, then %q and %q", status, out, stderr)
	}
}

func TestStreamsStayApart(t *testing.T) {
	t.Parallel()
	p := start(t, "run", "seq 1 50000 & seq 50001 100000 >&2; wait")
	status, out, stderr := p.end()
	if status != 0 || out != seq(1, 50000) || stderr != seq(50001, 100000) {
		t.Errorf("status %d, %d and %d bytes, want %d and %d", status, len(out), len(stderr), len(seq(1, 50000)), len(seq(50001, 100000)))
	}
}

func TestASlowReaderLosesNothing(t *testing.T) {
	t.Parallel()
	path, over := fifo(t)
	for _, c := range []struct {
		name, script string
		last         int
	}{
		// Small enough for the pipes and buffers on the way.
		{"the command has ended by then", "seq 1 20000; echo >" + path, 20000},
		{"the command waits for it", "seq 1 200000; echo >" + path, 200000},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, "run", "--workspace", filepath.Dir(path), c.script)
			if line := p.line(); line != "1" {
				t.Fatalf("the first line is %q", line)
			}
			if c.last == 20000 {
				awaitByte(t, over)
			}
			outlastDrain(t)
			status, out, _ := p.end()
			if want := seq(2, c.last); status != 0 || out != want {
				t.Errorf("status %d, %d bytes, want %d", status, len(out), len(want))
			}
		})
	}
}

func TestAReaderThatNeverReadsDoesNotOutlastTheTimeout(t *testing.T) {
	t.Parallel()
	mark := newMark()
	p := start(t, "run", "--timeout", "5s", "echo up; exec yes "+mark)
	p.up()
	var stderr bytes.Buffer
	io.Copy(&stderr, p.stderr) // ends with hardshell
	p.cmd.Wait()
	if status := shellStatus(p.cmd.ProcessState); status != 124 || !strings.Contains(stderr.String(), "timed out after 5s") {
		t.Errorf("the status is %d, want 124; standard error: %s", status, stderr.String())
	}
	wantGone(t, mark)
}

// outlastDrain passes as much time as a run gives its streams after the end of
// the command: it is one that waits for a stream that is held open.
func outlastDrain(t *testing.T) {
	t.Helper()
	if status, out, _ := start(t, "run", "sleep 600 & echo ok").end(); status != 0 || out != "ok\n" {
		t.Fatalf("status %d, output %q", status, out)
	}
}

// seq is the output of seq(1).
func seq(first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}
