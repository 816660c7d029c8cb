package shelltest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hardshell/shell"
)

// patience bounds every wait of the suite. It only ends what hangs.
const patience = 60 * time.Second

// slack is what a bound of the contract is given on a busy machine.
const slack = time.Second

// guard is a context that ends with the test, or when the test hangs.
func guard(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// await waits for a condition.
func await(t *testing.T, what string, met func() bool) {
	t.Helper()
	if !within(patience, met) {
		t.Fatalf("waited in vain for %s", what)
	}
}

// within reports whether a condition is met before a time has passed.
func within(bound time.Duration, met func() bool) bool {
	for deadline := time.Now().Add(bound); ; time.Sleep(5 * time.Millisecond) {
		if met() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

// settle waits until a process has settled.
func settle(t *testing.T, p shell.Process) shell.ProcessState {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(patience):
		t.Fatalf("the process has not settled: %+v", p.State())
	}
	return p.State()
}

// fastest runs a timed attempt until one takes less than bound: a busy machine
// delays some attempts, a defect delays them all.
func fastest(t *testing.T, bound time.Duration, attempt func() time.Duration) {
	t.Helper()
	const attempts = 6
	var best time.Duration
	for i := range attempts {
		took := attempt()
		if took < bound {
			return
		}
		if i == 0 || took < best {
			best = took
		}
	}
	t.Errorf("the fastest of %d attempts took %v, want less than %v", attempts, best, bound)
}

// until repeats a check whose timing a busy machine can spoil, until an attempt
// reports that it was not spoiled.
func until(t *testing.T, attempt func() (valid bool)) {
	t.Helper()
	const attempts = 8
	for range attempts {
		if attempt() {
			return
		}
	}
	t.Errorf("the machine was too busy in all of %d attempts", attempts)
}

var markers atomic.Int64

// marker returns a number of seconds, for sleep, that no other process of this
// machine has in its command line.
func marker() string {
	return fmt.Sprintf("901.%07d%06d", os.Getpid(), markers.Add(1))
}

// proc is a live process as its command line shows it.
type proc struct {
	pid  int
	argv []string
}

// marked lists the live processes with a marker in their command line. A
// process that is dead but not reaped has none.
func marked(t *testing.T, marker string) []proc {
	t.Helper()
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		return markedByPS(t, marker)
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []proc
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(line, []byte(marker)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		found = append(found, proc{pid, strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")})
	}
	return found
}

func markedByPS(t *testing.T, marker string) []proc {
	t.Helper()
	out, err := exec.Command("ps", "-axww", "-o", "pid=,state=,command=").Output()
	if err != nil {
		t.Fatalf("ps: %v", err)
	}
	var found []proc
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || strings.HasPrefix(fields[1], "Z") || !strings.Contains(line, marker) {
			continue
		}
		pid, err := strconv.Atoi(fields[0])
		if err != nil {
			continue
		}
		found = append(found, proc{pid, fields[2:]})
	}
	return found
}

// sleepers counts the live processes that are just "sleep MARKER".
func sleepers(t *testing.T, marker string) int {
	t.Helper()
	n := 0
	for _, p := range marked(t, marker) {
		if len(p.argv) == 2 && p.argv[1] == marker {
			n++
		}
	}
	return n
}

// awaitSleepers waits until so many processes are "sleep MARKER".
func awaitSleepers(t *testing.T, marker string, n int) {
	t.Helper()
	await(t, fmt.Sprintf("%d processes sleeping %s", n, marker), func() bool { return sleepers(t, marker) == n })
}

// noneLeft checks that no process with the marker is alive at this moment.
func noneLeft(t *testing.T, marker string) {
	t.Helper()
	if left := marked(t, marker); len(left) > 0 {
		t.Errorf("these processes are still alive: %v", left)
	}
}

// gone reports whether a process was reaped. Elsewhere than on Linux it cannot
// be told from one that is dead.
func gone(pid int) bool {
	if exists("/proc/self") {
		return !exists("/proc/" + strconv.Itoa(pid))
	}
	return exec.Command("ps", "-p", strconv.Itoa(pid)).Run() != nil
}

// gate is a shell fragment that waits until a file exists.
func gate(file string) string { return "until [ -e '" + file + "' ]; do sleep 0.01; done" }

// tap is a writer of which the content so far can be awaited.
type tap struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *tap) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *tap) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func (w *tap) await(t *testing.T, text string) {
	t.Helper()
	await(t, fmt.Sprintf("%q in the live output", text), func() bool { return strings.Contains(w.String(), text) })
}
