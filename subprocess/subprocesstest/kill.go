//go:build unix

package subprocesstest

import (
	"path/filepath"
	"sync"
	"time"

	"hardshell/subprocess"
)

// killChecks are about the signals that end a tree.
func killChecks() []check {
	return []check{
		{"a termination is a SIGTERM first", terminateIsTerm},
		{"Terminate returns at once", terminateReturns},
		{"what a handler of SIGTERM decides is the exit", handlerDecides},
		{"a handler has the grace to clean up with programs of its own", handlerCleansUp},
		{"what ignores SIGTERM dies by SIGKILL when the grace is over", immuneIsKilled},
		{"terminating again does not lengthen the grace", terminateTwice},
		{"Kill does not wait for the grace", killAtOnce},
		{"Kill gives no handler a chance", killIsKill},
		{"Kill cuts a grace that has begun", killAfterTerminate},
		{"a stopped leader dies when the grace is over", stoppedLeader},
		{"a stopped child dies when the grace is over", stoppedChild},
		{"ending what has just started", endAtBirth},
		{"ending what has ended changes nothing", endAfterEnd},
		{"ending during the drain keeps the leader's exit", terminateInDrain},
		{"ending after Done ends what ran on", terminateBackground},
		{"after Done an immune process also gets the grace and no more", terminateImmuneBackground},
		{"many may end a tree at once", manyTerminators},
		{"nothing is signalled once the tree was seen gone", pidReuse},
		{"a process that cannot be killed is named", frozenChild},
		{"a leader that cannot be killed is named, and holds nothing back", frozenLeader},
	}
}

// immune is a script that shrugs off SIGTERM, and says when it does.
const immune = `trap '' TERM; echo ready; sleep "$marker"`

// ready starts a script and waits until it says so.
func (f *fixture) ready(script string, grace time.Duration) subprocess.Handle {
	f.Helper()
	spec := f.bash(script)
	spec.Grace = grace
	h := f.start(spec)
	f.awaitText(h, "ready\n")
	return h
}

func terminateIsTerm(f *fixture) {
	h := f.ready(`echo ready; sleep "$marker"`, long)
	h.Terminate()
	f.await(h)
	f.expectSignal(h, "SIGTERM")
	f.expectCause(h, nil)
	f.expectDead(h)
}

func terminateReturns(f *fixture) {
	h := f.ready(immune, long)
	h.Terminate()
	f.expectRunning(h)
	if procfs() {
		f.awaitAlive(1)
	}
	h.Kill()
	f.await(h)
}

func handlerDecides(f *fixture) {
	h := f.ready(`trap "exit 0" TERM; echo ready; while :; do sleep 0.02; done`, long)
	h.Terminate()
	f.await(h)
	f.expectCode(h, 0)
	h = f.ready(`trap "exit 9" TERM; echo ready; while :; do sleep 0.02; done`, long)
	h.Terminate()
	f.await(h)
	f.expectCode(h, 9)
	f.expectDead(h)
}

func handlerCleansUp(f *fixture) {
	h := f.ready(`trap 'sleep 0.3 && echo rested; exit 3' TERM; echo ready; while :; do sleep 0.02; done`, long)
	h.Terminate()
	f.await(h)
	f.expectCode(h, 3)
	f.expectStdout(h, "ready\nrested\n")
}

func immuneIsKilled(f *fixture) {
	h := f.ready(immune, brief)
	began := time.Now()
	h.Terminate()
	f.await(h)
	f.expectAtLeast("the end", time.Since(began), brief)
	f.expectSignal(h, "SIGKILL")
	f.expectDead(h)
}

// If each call began the grace anew, it would never be over.
func terminateTwice(f *fixture) {
	h := f.ready(immune, brief)
	tick := time.NewTicker(brief / 10)
	defer tick.Stop()
	deadline := time.After(hang)
	for done := false; !done; {
		h.Terminate()
		select {
		case <-h.Done():
			done = true
		case <-deadline:
			f.Fatal("the tree lives on while Terminate is called again and again")
		case <-tick.C:
		}
	}
	f.expectSignal(h, "SIGKILL")
	f.expectDead(h)
}

func killAtOnce(f *fixture) {
	h := f.ready(immune, long)
	h.Kill()
	f.await(h)
	f.expectSignal(h, "SIGKILL")
	f.expectDead(h)
}

func killIsKill(f *fixture) {
	h := f.ready(`echo ready; sleep "$marker"`, long)
	h.Kill()
	f.await(h)
	f.expectSignal(h, "SIGKILL")

	h = f.ready(`trap 'touch "$dir/handled"; exit 3' TERM; echo ready; while :; do sleep 0.02; done`, long)
	h.Kill()
	f.await(h)
	f.expectSignal(h, "SIGKILL")
	if f.exists("handled") {
		f.Error("the leader has handled a SIGTERM")
	}
	f.expectDead(h)
}

func killAfterTerminate(f *fixture) {
	h := f.ready(immune, long)
	h.Terminate()
	f.expectRunning(h)
	h.Kill()
	f.await(h)
	f.expectSignal(h, "SIGKILL")
	f.expectDead(h)
}

func (f *fixture) awaitState(pid int, state string) {
	f.Helper()
	f.waitFor("process state "+state, func() bool {
		fields, ok := stat(pid)
		return ok && fields[0] == state
	})
}

func stoppedLeader(f *fixture) {
	f.needProcfs()
	spec := f.bash(`kill -STOP $$; sleep "$marker"`)
	spec.Grace = brief
	h := f.start(spec)
	f.awaitState(h.PID(), "T")
	f.expectRunning(h)
	began := time.Now()
	h.Terminate()
	f.await(h)
	f.expectAtLeast("the end", time.Since(began), brief)
	f.expectSignal(h, "SIGKILL")
	f.expectDead(h)
}

func stoppedChild(f *fixture) {
	f.needProcfs()
	h := f.ready(`bash -c 'kill -STOP $$; sleep "$1"' bash "$marker" >/dev/null 2>&1 & echo $! >"$dir/pid"; echo ready; wait`, brief)
	f.awaitState(f.pidIn("pid"), "T")
	h.Terminate()
	f.await(h)
	f.expectSignal(h, "SIGTERM")
	f.expectDead(h)
}

func endAtBirth(f *fixture) {
	for i := range 40 {
		spec := f.bash(`sleep "$marker" & setsid sleep "$marker" & wait`)
		spec.Grace = long
		h := f.start(spec)
		if i%2 == 0 {
			h.Kill()
		} else {
			h.Terminate()
		}
		f.await(h)
		if s := h.Exit().Signal; s != "SIGKILL" && s != "SIGTERM" {
			f.Errorf("Exit is %+v, want a death by signal", h.Exit())
		}
		f.expectDead(h)
	}
}

func endAfterEnd(f *fixture) {
	h := f.run(f.bash("echo hi; exit 3"))
	before := h.Exit()
	for range 2 {
		h.Terminate()
		h.Kill()
	}
	f.awaitTree(h)
	if after := h.Exit(); after != before {
		f.Errorf("Exit went from %+v to %+v", before, after)
	}
	f.expectStdout(h, "hi\n")
	if s := h.Survivors(); len(s) != 0 {
		f.Errorf("Survivors = %v", s)
	}
}

func terminateInDrain(f *fixture) {
	spec := f.bash(`(trap '' TERM; sleep "$marker") & echo hi; exit 3`)
	spec.Grace = brief
	h := f.start(spec)
	f.awaitText(h, "hi\n")
	f.awaitExited(h)
	h.Terminate()
	f.await(h)
	f.awaitTree(h)
	f.expectCode(h, 3)
	f.expectCause(h, nil)
	f.expectDead(h)
}

func terminateBackground(f *fixture) {
	spec := f.bash(`sleep "$marker" >/dev/null 2>&1 & setsid sleep "$marker" >/dev/null 2>&1 & exit 3`)
	spec.Grace = long
	h := f.run(spec)
	if procfs() {
		f.awaitSleepers(2)
	}
	h.Terminate()
	f.awaitTree(h)
	f.expectCode(h, 3)
	f.expectDead(h)
}

func terminateImmuneBackground(f *fixture) {
	spec := f.bash(`(trap '' TERM; touch "$dir/armed"; sleep "$marker") >/dev/null 2>&1 & await armed; exit 3`)
	spec.Grace = brief
	h := f.run(spec)
	began := time.Now()
	h.Terminate()
	f.awaitTree(h)
	f.expectAtLeast("the end", time.Since(began), brief)
	f.expectCode(h, 3)
	f.expectDead(h)
}

func manyTerminators(f *fixture) {
	for range 10 {
		h := f.ready(immune, brief)
		var callers sync.WaitGroup
		for i := range 8 {
			callers.Go(func() {
				h.Terminate()
				if i == 7 {
					h.Kill()
				}
				<-h.Done()
			})
		}
		callers.Wait()
		f.expectSignal(h, "SIGKILL")
		f.expectDead(h)
	}
}

// awaitSleepers waits until n processes sleep for the marker's time: what a
// script has begun in the background is then what it will be.
func (f *fixture) awaitSleepers(n int) {
	f.Helper()
	f.waitFor("sleepers", func() bool { return len(f.sleepers()) == n })
}

// sleepers lists the processes that are sleep(1) with the marker.
func (f *fixture) sleepers() []int {
	var found []int
	for _, pid := range f.alive() {
		args := commandLine(pid)
		if len(args) > 1 && filepath.Base(args[0]) == "sleep" && args[1] == f.Marker {
			found = append(found, pid)
		}
	}
	return found
}
