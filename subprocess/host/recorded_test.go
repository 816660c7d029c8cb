//go:build linux

package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/record"
	"hardshell/internal/state"
	"hardshell/subprocess"
	"hardshell/subprocess/host"
)

const hang = 30 * time.Second

// records is a home with one session whose commands are recorded.
type records struct {
	*testing.T
	home state.Home
	made int
}

func newRecords(t *testing.T) *records {
	home, err := state.ResolveHome(filepath.Join(t.TempDir(), "home"))
	if err == nil {
		err = home.Ensure(home.Run(), home.Jobs("s"))
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &records{T: t, home: home}
	t.Cleanup(r.endAll)
	return r
}

// attach returns a runtime that is closed at the end of the test.
func (r *records) attach() *host.Runtime {
	runtime := host.New(host.Config{Home: r.home, SessionID: "s", Keep: true})
	r.Cleanup(func() { runtime.Close(context.Background()) })
	return runtime
}

// endAll ends what lives, and waits for the end of the host.
func (r *records) endAll() {
	runtime := host.New(host.Config{Home: r.home, SessionID: "s"}) // not kept: the last that detaches decides
	defer awaitFree(r.T, r.home)
	defer runtime.Close(context.Background())
	if free(r.T, r.home) {
		return
	}
	start(r.T, runtime)
}

// free reports whether no host lives.
func free(t *testing.T, home state.Home) bool {
	lock, ok, err := state.TryLock(hostwire.FilesOf(home.Run(), "s").Lock)
	if err != nil {
		t.Error(err)
	}
	if ok {
		lock.Release()
	}
	return ok
}

// start makes a record and starts its command.
func (r *records) start(runtime *host.Runtime, script string, change func(*record.Ask)) (*host.Recorded, subprocess.Handle) {
	r.Helper()
	r.made++
	path := filepath.Join(r.home.Jobs("s"), fmt.Sprintf("record-%d", r.made))
	if err := os.Mkdir(path, 0o700); err != nil {
		r.Fatal(err)
	}
	dir, err := record.Open(path)
	if err != nil {
		r.Fatal(err)
	}
	defer dir.Close()
	ask := record.NewAsk()
	ask.Label, ask.Grace = script, 300
	if change != nil {
		change(ask)
	}
	if err := dir.WriteAsk(ask); err != nil {
		r.Fatal(err)
	}
	h, err := runtime.Spawn(context.Background(), spec(path, script))
	if err != nil {
		r.Fatal(err)
	}
	w, err := runtime.Watch(path)
	if err != nil {
		r.Fatal(err)
	}
	return w, h
}

// settled waits for the end of a command.
func (r *records) settled(w *host.Recorded) *record.Status {
	r.Helper()
	select {
	case <-w.Done():
		return w.Status()
	case <-time.After(hang):
		r.Fatalf("%s did not settle within %v", w.Path(), hang)
		return nil
	}
}

func (r *records) await(what string, condition func() bool) {
	r.Helper()
	for deadline := time.Now().Add(hang); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.Fatalf("waited %v in vain until %s", hang, what)
		}
	}
}

func stdout(h subprocess.Handle) string { return h.Reader(subprocess.Stdout).Collected().Text }

func TestACommandIsRecorded(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	w, h := r.start(r.attach(), `printf 'out\n'; printf 'err\n' >&2; exit 3`, nil)
	s := r.settled(w)
	if s.Status != record.Completed || s.ExitCode == nil || *s.ExitCode != 3 || s.Stdout.Bytes != 4 || s.Stderr.Bytes != 4 {
		t.Errorf("the status is %+v", s)
	}
	if s.Usage == nil || s.Usage.MaxRSS == 0 {
		t.Errorf("the usage is %+v", s.Usage)
	}
	if exit := h.Exit(); exit.Code != 3 || exit.Cause != nil {
		t.Errorf("Exit is %+v", exit)
	}
	if out := stdout(h); out != "out\n" {
		t.Errorf("the stdout is %q", out)
	}
	if err := h.WaitTree(t.Context()); err != nil {
		t.Errorf("WaitTree = %v", err)
	}
	dir, err := record.Open(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if kept, ok, err := dir.ReadStatus(); err != nil || !ok || *kept.ExitCode != 3 {
		t.Errorf("status.json is %+v, %v, %v", kept, ok, err)
	}
}

func TestAReaderShowsTheTailOfALog(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	w, h := r.start(r.attach(), `for i in {1..100}; do echo line $i; done`, nil)
	r.settled(w)
	out := h.Reader(subprocess.Stdout).Collected()
	if !out.Truncated || out.Bytes != 792 || !strings.HasSuffix(out.Text, "line 100\n") || len(out.Text) != 100 {
		t.Errorf("Collected is %+v", out)
	}
	if whole, err := os.ReadFile(out.SpillPath); err != nil || len(whole) != 792 {
		t.Errorf("the whole is %d bytes of %q: %v", len(whole), out.SpillPath, err)
	}
	chunk := h.Reader(subprocess.Stdout).ReadFrom(783)
	if chunk.Text != "line 100\n" || chunk.Lossy || chunk.Next != 792 {
		t.Errorf("ReadFrom is %+v", chunk)
	}
}

func TestACommandOutlivesItsHarness(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	first := r.attach()
	w, _ := r.start(first, `sleep 600`, nil)
	if err := first.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	second := r.attach()
	again, err := second.Watch(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-again.Done():
		t.Fatalf("it has settled: %+v", again.Status())
	default:
	}
	if err := again.Stop("because", false); err != nil {
		t.Fatal(err)
	}
	s := r.settled(again)
	if s.Status != record.Killed || s.Signal != "SIGTERM" || s.Cause != record.CauseStopped || s.Reason != "because" {
		t.Errorf("the status is %+v", s)
	}
}

func TestTheLastHarnessDecides(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	keeper := r.attach()
	w, _ := r.start(keeper, `sleep 600`, nil)
	ender := host.New(host.Config{Home: r.home, SessionID: "s"})
	start(t, ender)
	keeper.Close(context.Background())
	ender.Close(context.Background())
	watcher := r.attach()
	again, err := watcher.Watch(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	if s := r.settled(again); s.Status != record.Killed {
		t.Errorf("the status is %+v", s)
	}
}

func TestAForegroundCommandEndsWithItsHarness(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	foreground := func(ask *record.Ask) { ask.Foreground = true }
	first, second := r.attach(), r.attach()
	start(t, second)
	ends, _ := r.start(first, `sleep 600`, foreground)
	goesOn, _ := r.start(first, `sleep 600`, foreground)
	moved := goesOn.Path() + "-moved"
	if err := os.Rename(goesOn.Path(), moved); err != nil {
		t.Fatal(err)
	}
	if err := goesOn.Promote(t.Context(), moved); err != nil {
		t.Fatal(err)
	}
	first.Close(context.Background())
	again, err := second.Watch(ends.Path())
	if err != nil {
		t.Fatal(err)
	}
	if s := r.settled(again); s.Status != record.Killed {
		t.Errorf("the status is %+v", s)
	}
	promoted, err := second.Watch(moved)
	if err != nil {
		t.Fatal(err)
	}
	if err := promoted.Stop("", false); err != nil {
		t.Errorf("the promoted one is gone: %v", err)
	}
	r.settled(promoted)
	if !record.Settled(moved) {
		t.Error("the end was not recorded where the record lies by now")
	}
}

func TestLimitsEndACommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cause, script string
		limit         subprocess.Limit
		change        func(*record.Ask)
	}{
		{record.CauseRuntime, `sleep 600`, subprocess.LimitRuntime, func(a *record.Ask) { a.Runtime = 100 }},
		{record.CauseSilence, `echo once; sleep 600`, subprocess.LimitSilence, func(a *record.Ask) { a.Silence = 150 }},
		{record.CauseOutput, `yes`, subprocess.LimitOutput, func(a *record.Ask) { a.OutputLimit = 1 << 20; a.MaxBytes = 1 << 20 }},
		{record.CauseMemory, `a=$(head -c 60000000 /dev/zero | tr '\0' x); sleep 600`, subprocess.LimitMemory, func(a *record.Ask) { a.Memory = 50 << 20 }},
	} {
		t.Run(c.cause, func(t *testing.T) {
			t.Parallel()
			r := newRecords(t)
			w, h := r.start(r.attach(), c.script, c.change)
			s := r.settled(w)
			if s.Status != record.Killed || s.Cause != c.cause {
				t.Errorf("the status is %+v", s)
			}
			if exit := h.Exit(); exit.Limit != c.limit {
				t.Errorf("Exit is %+v", exit)
			}
		})
	}
}

func TestOutputKeepsACommandFromBeingSilent(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	w, _ := r.start(r.attach(), `for i in {1..8}; do echo $i; sleep 0.2; done`, func(a *record.Ask) { a.Silence = 1500 })
	if s := r.settled(w); s.Status != record.Completed {
		t.Errorf("the status is %+v", s)
	}
}

func TestInputReachesACommand(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	interactive := func(a *record.Ask) { a.Interactive = true }
	runtime := r.attach()
	w, h := r.start(runtime, `read -r line; echo "got $line"; cat`, interactive)
	if err := w.Input(t.Context(), []byte("one\n"), false); err != nil {
		t.Fatal(err)
	}
	r.await("the line was read", func() bool { return stdout(h) == "got one\n" })
	if err := w.Input(t.Context(), []byte("two"), true); err != nil {
		t.Fatal(err)
	}
	r.settled(w)
	if out := stdout(h); out != "got one\ntwo" {
		t.Errorf("the stdout is %q", out)
	}
	if err := w.Input(t.Context(), []byte("late"), false); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("input after the end: %v", err)
	}

	deaf, _ := r.start(runtime, `sleep 600`, interactive)
	var full error
	for range 40 { // the pipe takes some of it, the host 1 MiB
		if full = deaf.Input(t.Context(), make([]byte, 64<<10), false); full != nil {
			break
		}
	}
	if !errors.Is(full, fault.InvalidArgument) {
		t.Errorf("input that nobody reads: %v", full)
	}
	without, _ := r.start(runtime, `sleep 600`, nil)
	if err := without.Input(t.Context(), []byte("x"), false); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("input for a command that takes none: %v", err)
	}
}

func TestTheDeathOfAHostIsTold(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	runtime := r.attach()
	marker := fmt.Sprintf("600.%07d99", os.Getpid())
	w, h := r.start(runtime, `trap '' TERM; setsid sleep `+marker+` & echo ready; sleep `+marker, nil)
	r.await("it is ready", func() bool { return stdout(h) == "ready\n" })
	syscall.Kill(parent(t, h.PID()), syscall.SIGKILL)
	s := r.settled(w)
	if s.Status != record.Failed || s.Cause != record.CauseLost || s.Detail != "the session host died" || s.Stdout.Bytes != 6 {
		t.Errorf("the status is %+v", s)
	}
	for _, pid := range running(marker) {
		t.Errorf("process %d is left", pid)
	}
	if !record.Settled(w.Path()) {
		t.Error("the end was not recorded")
	}
	// Another host takes over, and knows nothing of the old commands.
	start(t, runtime)
	again, err := r.attach().Watch(w.Path())
	if err != nil || again.Status().Status != record.Failed {
		t.Errorf("the next one sees %+v, %v", again, err)
	}
}

func TestARecordThatWasRemovedStillEnds(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	w, h := r.start(r.attach(), `echo ready; read -r _ < <(sleep 600)`, nil)
	r.await("it is ready", func() bool { return stdout(h) == "ready\n" })
	if err := os.RemoveAll(w.Path()); err != nil {
		t.Fatal(err)
	}
	if err := w.Stop("", false); err != nil {
		t.Fatal(err)
	}
	if s := r.settled(w); s.Status != record.Killed {
		t.Errorf("the status is %+v", s)
	}
	if out := h.Reader(subprocess.Stdout).Collected(); out.Text != "" {
		t.Errorf("Collected is %+v", out)
	}
}

func TestOrphansAreEnded(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	runtime := r.attach()
	runtime.SetOrphanAfter(50 * time.Millisecond)
	w, _ := r.start(runtime, `sleep 600`, nil)
	runtime.Close(context.Background())
	r.await("the end is recorded", func() bool { return record.Settled(w.Path()) })
	awaitFree(t, r.home)
}

func TestARecordOutsideOfTheSessionIsRefused(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	runtime := r.attach()
	path := filepath.Join(t.TempDir(), "record")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := record.Open(path)
	if err == nil {
		err = dir.WriteAsk(record.NewAsk())
		dir.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = runtime.Spawn(context.Background(), spec(path, "true"))
	if !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("Spawn = %v", err)
	}
}

// spec is a recorded bash.
func spec(path, script string) subprocess.Spec {
	return subprocess.Spec{
		Argv: []string{"bash", "-c", script}, Dir: "/",
		Stdin:  subprocess.Stdin{Mode: subprocess.StdinIgnore},
		Stdout: subprocess.Output{Mode: subprocess.OutputRecord, MaxBytes: 100},
		Stderr: subprocess.Output{Mode: subprocess.OutputRecord, MaxBytes: 100},
		Record: path, Grace: 300 * time.Millisecond,
	}
}

func TestARecordIsFollowedOnceWhoeverFindsIt(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	runtime := r.attach()
	for i := range 20 {
		path := filepath.Join(r.home.Jobs("s"), fmt.Sprintf("found-%d", i))
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		dir, err := record.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		files := hostwire.FilesOf(r.home.Run(), "s")
		if err := r.home.Ensure(files.Jobs); err != nil {
			t.Fatal(err)
		}
		lock, _, err := state.TryLock(files.Starting(path))
		if err == nil {
			err = dir.WriteAsk(record.NewAsk())
		}
		if err != nil {
			t.Fatal(err)
		}
		dir.Close()
		found := make(chan *host.Recorded, 1)
		go func() { // as a list of the jobs does
			w, err := runtime.Watch(path)
			if err != nil {
				t.Error(err)
			}
			found <- w
		}()
		h, err := runtime.Spawn(context.Background(), spec(path, "exit 3"))
		if err != nil {
			t.Fatal(err)
		}
		lock.Release()
		if s := r.settled(<-found); s.Status != record.Completed {
			t.Errorf("who found it hears of %+v", s)
		}
		<-h.Done()
		if exit := h.Exit(); exit.Code != 3 {
			t.Errorf("who started it hears of %+v", exit)
		}
	}
}

func TestCommandsComeAsOthersGo(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	runtime := r.attach()
	var starting sync.Mutex
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range 40 {
				starting.Lock()
				w, _ := r.start(runtime, "true", nil)
				starting.Unlock()
				if s := r.settled(w); s.Status != record.Completed {
					t.Errorf("the status is %+v", s)
				}
			}
		})
	}
	all.Wait()
}

func TestTheRecordOfADeadHostIsCompletedAtTheFirstLook(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	w, h := r.start(r.attach(), `echo ready; sleep 600`, nil)
	r.await("it is ready", func() bool { return stdout(h) == "ready\n" })
	syscall.Kill(parent(t, h.PID()), syscall.SIGKILL)
	r.settled(w)
	os.Remove(filepath.Join(w.Path(), "status.json")) // as if nobody had been there
	again, err := r.attach().Watch(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-again.Done():
	default:
		t.Error("it has not settled when the look returns")
	}
}

// parent is the parent of a process.
func parent(t *testing.T, pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "\nPPid:\t")
	ppid := 0
	if _, scanErr := fmt.Sscan(rest, &ppid); err != nil || scanErr != nil || ppid <= 1 {
		t.Fatalf("the parent of %d is not known: %v, %v", pid, err, scanErr)
	}
	return ppid
}

// running lists the processes with an argument.
func running(argument string) (pids []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(line), "\x00"+argument+"\x00") {
			continue
		}
		pid := 0
		fmt.Sscanf(path, "/proc/%d/cmdline", &pid)
		pids = append(pids, pid)
	}
	return pids
}

func TestAHostThatIsStoppedIsNamed(t *testing.T) {
	t.Parallel()
	r := newRecords(t)
	runtime := r.attach()
	_, h := r.start(runtime, `echo ready; sleep 600`, nil)
	r.await("it is ready", func() bool { return stdout(h) == "ready\n" })
	pid := parent(t, h.PID())
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGCONT)
	plain := subprocess.Spec{
		Argv: []string{"true"}, Dir: "/", Grace: time.Second, Stdin: subprocess.Stdin{Mode: subprocess.StdinIgnore},
		Stdout: subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 1}, Stderr: subprocess.Output{Mode: subprocess.OutputCollect, MaxBytes: 1},
	}
	// Who comes anew is told at once, and not when its patience is over.
	other := host.New(host.Config{Home: r.home, SessionID: "s", Keep: true})
	defer other.Close(context.Background())
	_, err := other.Spawn(t.Context(), plain)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("(process %d) is stopped", pid)) || !strings.Contains(err.Error(), "kill -CONT") {
		t.Errorf("a stopped host gives %v", err)
	}
	syscall.Kill(pid, syscall.SIGCONT)
	if _, err := other.Spawn(t.Context(), plain); err != nil {
		t.Errorf("a host that goes on gives %v", err)
	}
}
