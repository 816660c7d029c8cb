//go:build unix

package subprocesstest

import (
	"context"
	"errors"
	"sync"
	"time"

	"hardshell/internal/fault"
)

// contextChecks are about the context of a spawn.
func contextChecks() []check {
	return []check{
		{"its end terminates the tree, and its cause is the exit's", contextTerminates},
		{"its deadline is such an end", contextDeadline},
		{"a handler's exit keeps the cause", contextHandlerExit},
		{"an end while the grace runs is still a cause", contextDuringGrace},
		{"without an end there is no cause", contextWithoutEnd},
		{"an end during the drain sets nothing and kills nothing", contextInDrain},
		{"an end during the drain ends the drain", contextEndsDrain},
		{"an end after Done changes nothing", contextAfterDone},
		{"an end during the spawn leaves nothing behind", contextDuringSpawn},
		{"one context ends many trees", contextOfMany},
	}
}

func contextTerminates(f *fixture) {
	reason := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	spec := f.bash(`sleep "$marker" & echo ready; wait`)
	spec.Grace = long
	h := f.startIn(ctx, spec)
	f.awaitText(h, "ready\n")
	cancel(reason)
	f.await(h)
	f.expectSignal(h, "SIGTERM")
	f.expectCause(h, reason)
	f.expectDead(h)
}

func contextDeadline(f *fixture) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	spec := f.bash(`sleep "$marker"`)
	spec.Grace = long
	h := f.startIn(ctx, spec)
	f.await(h)
	f.expectSignal(h, "SIGTERM")
	f.expectCause(h, context.DeadlineExceeded)
	f.expectDead(h)
}

func contextHandlerExit(f *fixture) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spec := f.bash(`trap "exit 0" TERM; echo ready; while :; do sleep 0.02; done`)
	spec.Grace = long
	h := f.startIn(ctx, spec)
	f.awaitText(h, "ready\n")
	cancel()
	f.await(h)
	f.expectCode(h, 0)
	f.expectCause(h, context.Canceled)
}

func contextDuringGrace(f *fixture) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spec := f.bash(`trap 'echo term; await go; exit 4' TERM; echo ready; while :; do sleep 0.02; done`)
	spec.Grace = long
	h := f.startIn(ctx, spec)
	f.awaitText(h, "ready\n")
	h.Terminate()
	f.awaitText(h, "ready\nterm\n")
	cancel()
	f.touch("go")
	f.await(h)
	f.expectCode(h, 4)
	f.expectCause(h, context.Canceled)
}

func contextWithoutEnd(f *fixture) {
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	spec := f.bash(`kill -TERM $$`)
	h := f.startIn(ctx, spec)
	f.await(h)
	f.expectSignal(h, "SIGTERM")
	f.expectCause(h, nil)
}

func contextInDrain(f *fixture) {
	const rounds = 20
	spec := f.bash(`sleep "$marker" & exit 3`)
	spec.Grace = long
	for range rounds {
		ctx, cancel := context.WithCancel(context.Background())
		h := f.startIn(ctx, spec)
		f.awaitExited(h)
		cancel()
		f.await(h)
		f.expectCode(h, 3)
		f.expectCause(h, nil)
		if s := h.Survivors(); s != nil {
			f.Errorf("Survivors = %v, want nil: nothing was terminated", s)
		}
	}
	f.run(f.program("true"))
	f.expectAlive(rounds)
}

func contextEndsDrain(f *fixture) {
	spec := f.bash(`sleep "$marker" & exit 3`)
	spec.Grace = long
	f.onceWithin(drainWindow/2, "a drain that was cut", func() time.Duration {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		h := f.startIn(ctx, spec)
		f.awaitExited(h)
		began := time.Now()
		cancel()
		f.await(h)
		return time.Since(began)
	})
}

func contextAfterDone(f *fixture) {
	f.needProcfs()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h := f.startIn(ctx, f.bash(`sleep "$marker" >/dev/null 2>&1 & exit 3`))
	f.await(h)
	before := h.Exit()
	cancel()
	f.run(f.program("true"))
	if after := h.Exit(); after != before || after.Cause != nil {
		f.Errorf("Exit went from %+v to %+v", before, after)
	}
	f.expectAlive(1)
}

func contextDuringSpawn(f *fixture) {
	spec := f.bash(`sleep "$marker"`)
	spec.Grace = long
	for i := range 60 {
		ctx, cancel := context.WithCancel(context.Background())
		var canceller sync.WaitGroup
		canceller.Go(func() {
			time.Sleep(time.Duration(i) * 50 * time.Microsecond)
			cancel()
		})
		h, err := f.Runtime.Spawn(ctx, spec)
		canceller.Wait()
		if err != nil {
			if !errors.Is(err, fault.Aborted) || !errors.Is(err, context.Canceled) {
				f.Errorf("Spawn = %v, want an ABORTED error of the context", err)
			}
		} else {
			f.await(h)
			f.expectCause(h, context.Canceled)
			f.expectExit(h, -1, "SIGTERM")
		}
		f.expectGone()
	}
}

func contextOfMany(f *fixture) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spec := f.bash(`setsid sleep "$marker" & echo ready; wait`)
	spec.Grace = long
	var all []func()
	for range 12 {
		h := f.startIn(ctx, spec)
		f.awaitText(h, "ready\n")
		all = append(all, func() {
			f.await(h)
			f.expectSignal(h, "SIGTERM")
			f.expectCause(h, context.Canceled)
		})
	}
	cancel()
	for _, expect := range all {
		expect()
	}
	f.expectGone()
}
