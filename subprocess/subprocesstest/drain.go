//go:build unix

package subprocesstest

import (
	"strings"
	"time"

	"hardshell/subprocess"
)

// drainChecks are about streams that a background process still holds when the
// leader has ended.
func drainChecks() []check {
	return []check{
		{"Done waits for the drain window and no longer", drainWindowIsWaited},
		{"a short grace is the window", shortGraceIsTheWindow},
		{"without a holder there is no window", noHolderNoWindow},
		{"both streams share one window", oneWindowForBoth},
		{"only collected streams are drained", onlyCollectedAreDrained},
		{"what comes within the window is included", lateBytesIncluded},
		{"a flood is cut at the window", floodIsCut},
		{"nothing is added after Done", sealedAfterDone},
		{"a background writer is not killed by the end of the drain", backgroundWriterLives},
		{"what runs on is no survivor", backgroundIsNoSurvivor},
	}
}

// drained runs spec and returns how long Done came after the leader's end.
func (f *fixture) drained(spec subprocess.Spec) (subprocess.Handle, time.Duration) {
	f.Helper()
	began := time.Now()
	h := f.run(spec)
	return h, time.Since(began) - h.Exit().Duration
}

// onceWithin expects that a wait is short at least once: a machine may be slow
// for a while, but a wait that is built in is there every time.
func (f *fixture) onceWithin(limit time.Duration, what string, measure func() time.Duration) {
	f.Helper()
	var took []time.Duration
	for range 8 {
		d := measure()
		if d < limit {
			return
		}
		took = append(took, d)
	}
	f.Errorf("%s took %v, want less than %v at least once", what, took, limit)
}

func drainWindowIsWaited(f *fixture) {
	spec := f.bash(`sleep "$marker" & echo hi`)
	spec.Grace = long
	h, took := f.drained(spec)
	f.expectCode(h, 0)
	f.expectStdout(h, "hi\n")
	f.expectAtLeast("the drain", took, drainWindow-20*time.Millisecond)
	f.expectAlive(1)
}

func shortGraceIsTheWindow(f *fixture) {
	spec := f.bash(`sleep "$marker" & echo hi`)
	spec.Grace = 100 * time.Millisecond
	f.onceWithin(drainWindow-50*time.Millisecond, "the drain", func() time.Duration {
		h, took := f.drained(spec)
		f.expectCode(h, 0)
		f.expectStdout(h, "hi\n")
		f.expectAtLeast("the drain", took, spec.Grace-20*time.Millisecond)
		return took
	})
}

func noHolderNoWindow(f *fixture) {
	for _, script := range []string{`echo hi`, `sleep "$marker" >/dev/null 2>&1 & echo hi`} {
		spec := f.bash(script)
		spec.Grace = long
		f.onceWithin(drainWindow/2, "the drain", func() time.Duration {
			h, took := f.drained(spec)
			f.expectStdout(h, "hi\n")
			return took
		})
	}
}

func oneWindowForBoth(f *fixture) {
	spec := f.bash(`sleep "$marker" & echo hi`) // holds stdout and stderr
	spec.Grace = 300 * time.Millisecond
	f.onceWithin(2*spec.Grace-50*time.Millisecond, "the drain", func() time.Duration {
		_, took := f.drained(spec)
		return took
	})
}

func onlyCollectedAreDrained(f *fixture) {
	spec := f.bash(`sleep "$marker" & echo hi`)
	spec.Grace = long
	spec.Stdout = subprocess.Output{Mode: subprocess.OutputPipe}
	spec.Stderr = subprocess.Output{Mode: subprocess.OutputIgnore}
	f.onceWithin(drainWindow/2, "the drain", func() time.Duration {
		h, took := f.drained(spec)
		f.closeAll(h.Output(subprocess.Stdout))
		return took
	})
}

func lateBytesIncluded(f *fixture) {
	spec := f.bash(`(sleep 0.1; echo late) & echo hi`)
	spec.Grace = long
	f.onceWithin(drainWindow-50*time.Millisecond, "the drain", func() time.Duration {
		h, took := f.drained(spec)
		f.expectStdout(h, "hi\nlate\n")
		return took
	})
}

func floodIsCut(f *fixture) {
	spec := f.bash(`yes flood & sleep 0.05; exit 3`)
	spec.Grace = 100 * time.Millisecond
	spec.Stdout.MaxBytes = 600
	h := f.run(spec)
	f.expectCode(h, 3)
	got := collected(h)
	if !got.Truncated || got.Bytes < 600 || !strings.Contains(got.Text, "flood\nflood\n") {
		f.Errorf("collected %+v, want the end of the flood", got)
	}
	h.Kill() // the flood carries no marker: end it here
	f.awaitTree(h)
	if later := collected(h); later != got {
		f.Errorf("after Done the stream went from %d to %d bytes", got.Bytes, later.Bytes)
	}
}

func sealedAfterDone(f *fixture) {
	spec := f.bash(`(await go; echo late; echo late >&2; touch "$dir/late") & echo hi`)
	spec.Grace = brief
	h := f.run(spec)
	f.touch("go")
	f.waitFor("the late writer", func() bool { return f.exists("late") })
	f.awaitTree(h)
	f.expectStdout(h, "hi\n")
	f.expectStderr(h, "")
	if c := h.Reader(subprocess.Stdout).ReadFrom(3); c != (subprocess.Chunk{Next: 3}) {
		f.Errorf("ReadFrom(3) = %+v, want nothing more", c)
	}
}

func backgroundWriterLives(f *fixture) {
	// Far more than a pipe holds: somebody must read it.
	spec := f.bash(`(await go; head -c 1000000 /dev/zero; echo "rc=$?" >"$dir/out"
head -c 1000000 /dev/zero >&2; echo "rc=$?" >"$dir/err") & echo hi`)
	spec.Grace = brief
	h := f.run(spec)
	f.touch("go")
	f.awaitTree(h)
	for _, name := range []string{"out", "err"} {
		if got := f.read(name); got != "rc=0\n" {
			f.Errorf("the writer to std%s ended with %q, want rc=0", name, got)
		}
	}
	f.expectStdout(h, "hi\n")
}

func backgroundIsNoSurvivor(f *fixture) {
	h := f.run(f.bash(`sleep "$marker" >/dev/null 2>&1 & exit 0`))
	if s := h.Survivors(); s != nil {
		f.Errorf("Survivors = %v for a tree that nobody terminated, want nil", s)
	}
	f.expectAlive(1)
}
