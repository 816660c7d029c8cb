//go:build unix

package subprocesstest

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hardshell/internal/fault"
	"hardshell/subprocess"
)

// closeChecks are about the end of a runtime: quiet when Close returns.
func closeChecks() []check {
	return []check{
		{"closing a runtime that did nothing", closeUnused},
		{"closing ends what lives and leaves alone what has ended", closeMixed},
		{"closing waits for a process that its leader left behind", closeWaitsForLeftBehind},
		{"closing waits for the end of a drain", closeInDrain},
		{"closing lets handlers clean up", closeIsTermFirst},
		{"closing sweeps daemons of commands that are long over", closeSweepsDaemons},
		{"closing with a context that has ended kills at once", closeEndedContext},
		{"closing with a context that ends cuts the grace", closeContextEnds},
		{"closing twice at once waits twice", closeTwice},
		{"closing does not wait for the caller's ends of pipes", closeWithOpenPipes},
		{"closing does not wait for a source or a tee that blocks", closeWithBlockedStreams},
		{"a closed runtime spawns nothing", spawnAfterClose},
		{"spawns that race a close leave nothing alive", closeRacesSpawns},
		{"another runtime is not touched", closeIsPrivate},
	}
}

// isDone reports whether Done has come.
func isDone(h subprocess.Handle) bool {
	select {
	case <-h.Done():
		return true
	default:
		return false
	}
}

// closeQuietly closes the runtime and expects that all is quiet at once.
func (f *fixture) closeQuietly(handles ...subprocess.Handle) {
	f.Helper()
	f.close()
	f.expectGone()
	for _, h := range handles {
		if !isDone(h) {
			f.Errorf("Done of %d has not come when Close returns", h.PID())
		}
		f.awaitTree(h)
		if s := h.Survivors(); len(s) != 0 {
			f.Errorf("Survivors = %v", s)
		}
	}
}

func closeUnused(f *fixture) {
	f.close()
	f.close()
	f.expectNoSpill()
}

func closeMixed(f *fixture) {
	finished := f.run(f.bash("echo hi; exit 3"))
	exit := finished.Exit()
	sleeping := f.ready(`echo ready; sleep "$marker"`, brief)
	stubborn := f.ready(immune, brief)
	f.closeQuietly(finished, sleeping, stubborn)
	if got := finished.Exit(); got != exit {
		f.Errorf("the finished one's Exit went from %+v to %+v", exit, got)
	}
	f.expectStdout(finished, "hi\n")
	f.expectSignal(sleeping, "SIGTERM")
	f.expectSignal(stubborn, "SIGKILL")
	f.expectCause(sleeping, nil)
	f.expectStdout(stubborn, "ready\n")
}

func closeWaitsForLeftBehind(f *fixture) {
	spec := f.bash(`bash -c 'trap "" TERM; touch "$2/armed"; sleep "$1"; :' bash "$marker" "$dir" >/dev/null 2>&1 & await armed; exit 0`)
	spec.Grace = brief
	h := f.run(spec)
	f.expectCode(h, 0)
	if procfs() {
		f.awaitAlive(2)
	}
	began := time.Now()
	f.closeQuietly(h)
	f.expectAtLeast("Close", time.Since(began), brief)
	f.expectCode(h, 0)
}

func closeInDrain(f *fixture) {
	spec := f.bash(`(trap '' TERM; echo ready; sleep "$marker") & exit 3`)
	spec.Grace = brief
	h := f.start(spec)
	f.awaitText(h, "ready\n")
	f.closeQuietly(h)
	if e := h.Exit(); e.Code != 3 && e.Signal != "SIGTERM" {
		f.Errorf("Exit is %+v, want the leader's own or a SIGTERM", e)
	}
}

func closeIsTermFirst(f *fixture) {
	h := f.ready(`trap 'sleep 0.1; echo bye; exit 5' TERM; echo ready; while :; do sleep 0.02; done`, long)
	f.closeQuietly(h)
	f.expectCode(h, 5)
	f.expectStdout(h, "ready\nbye\n")
}

func closeSweepsDaemons(f *fixture) {
	f.needProcfs()
	var handles []subprocess.Handle
	for range 5 {
		spec := f.bash(`(setsid sleep "$marker" &) >/dev/null 2>&1; exit 0`)
		spec.Grace = brief
		handles = append(handles, f.run(spec))
	}
	f.awaitSleepers(5)
	for _, h := range handles {
		if s := h.Survivors(); s != nil {
			f.Errorf("Survivors = %v before Close, want nil", s)
		}
	}
	f.closeQuietly(handles...)
}

func closeEndedContext(f *fixture) {
	h := f.ready(`trap '' TERM; setsid sleep "$marker" & echo ready; sleep "$marker"`, long)
	left := f.run(f.bash(`(trap '' TERM; exec setsid sleep "$marker") >/dev/null 2>&1 & exit 0`))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := f.closing(f.Runtime, ctx); err != nil {
		f.Errorf("Close = %v, want no error: everything can be killed", err)
	}
	f.expectSignal(h, "SIGKILL")
	f.expectDead(h)
	f.expectDead(left)
}

func closeContextEnds(f *fixture) {
	h := f.ready(`trap 'echo term' TERM; echo ready; while :; do sleep 0.02; done`, long)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- f.Runtime.Close(ctx) }()
	f.awaitText(h, "ready\nterm\n")
	cancel()
	select {
	case err := <-result:
		if err != nil {
			f.Errorf("Close = %v, want no error", err)
		}
	case <-time.After(hang):
		f.Fatal("Close did not return")
	}
	f.expectSignal(h, "SIGKILL")
	f.expectDead(h)
}

func closeTwice(f *fixture) {
	h := f.ready(immune, brief)
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			if err := f.Runtime.Close(context.Background()); err != nil {
				f.Errorf("Close = %v", err)
			}
			if !isDone(h) || len(f.alive()) != 0 {
				f.Error("Close returns before the tree is gone")
			}
		})
	}
	callers.Wait()
}

func closeWithOpenPipes(f *fixture) {
	spec := f.bash(`cat; echo err >&2; sleep "$marker"`)
	spec.Stdin.Mode = subprocess.StdinPipe
	spec.Stdout = subprocess.Output{Mode: subprocess.OutputPipe}
	spec.Stderr = spec.Stdout
	h := f.start(spec)
	f.closeQuietly(h)
	// The caller's ends are still the caller's.
	for _, stream := range []subprocess.Stream{subprocess.Stdout, subprocess.Stderr} {
		if _, err := io.ReadAll(h.Output(stream)); err != nil {
			f.Errorf("reading %s to its end: %v", stream, err)
		}
		f.closeAll(h.Output(stream))
	}
	f.closeAll(h.Stdin())
}

func closeWithBlockedStreams(f *fixture) {
	r, w := io.Pipe()
	defer w.Close()
	tee := newGate()
	defer close(tee.opened)
	spec := f.bash(`head -c 8388608 /dev/zero; cat; sleep "$marker"`)
	spec.Stdin = subprocess.Stdin{Mode: subprocess.StdinData, Data: r}
	spec.Stdout.Tee = tee
	spec.Grace = brief
	h := f.start(spec)
	<-tee.reached
	f.closeQuietly(h)
}

func spawnAfterClose(f *fixture) {
	f.close()
	h, err := f.Runtime.Spawn(context.Background(), f.bash(`touch "$dir/ran"`))
	if err == nil || h != nil {
		f.Fatalf("Spawn = %v, %v after Close, want an error alone", h, err)
	}
	codes := []fault.Code{fault.InvalidArgument, fault.Aborted, fault.SpawnFailed}
	if code := fault.CodeOf(err); !slices.Contains(codes, code) {
		f.Errorf("the code is %q, want one of %q", code, codes)
	}
	f.expectGone()
	if f.exists("ran") {
		f.Error("the command ran")
	}
}

func closeRacesSpawns(f *fixture) {
	for rounds := 0; rounds < 8 && !f.Failed(); rounds++ {
		f.use(Options{SpillDir: f.SpillDir})
		r := f.Runtime
		var spawners sync.WaitGroup
		var mu sync.Mutex
		var handles []subprocess.Handle
		var spawned atomic.Int64
		for range 6 {
			spawners.Go(func() {
				for {
					spec := f.bash(`setsid sleep "$marker" & sleep "$marker"`)
					spec.Grace = brief
					h, err := r.Spawn(context.Background(), spec)
					if err != nil {
						if errors.Is(err, fault.WorkdirNotFound) {
							f.Errorf("Spawn = %v", err)
						}
						return
					}
					spawned.Add(1)
					mu.Lock()
					handles = append(handles, h)
					mu.Unlock()
				}
			})
		}
		f.waitFor("some spawns", func() bool { return spawned.Load() > 5 })
		if err := f.closing(r, context.Background()); err != nil {
			f.Errorf("Close = %v", err)
		}
		f.expectGone()
		spawners.Wait()
		f.expectGone()
		for _, h := range handles {
			if !isDone(h) {
				f.Errorf("Done of %d has not come", h.PID())
			}
		}
	}
}

func closeIsPrivate(f *fixture) {
	f.needProcfs()
	other := f.ready(`setsid sleep "$marker" & echo ready; wait`, long)
	f.awaitSleepers(1)
	f.use(Options{SpillDir: f.SpillDir})
	f.run(f.bash(`(setsid sleep "$marker" &) >/dev/null 2>&1`))
	f.close()
	f.expectRunning(other)
	if left := f.sleepers(); len(left) != 1 {
		f.Errorf("%d sleepers are left, want that of the other runtime: %s", len(left), describe(left))
	}
}
