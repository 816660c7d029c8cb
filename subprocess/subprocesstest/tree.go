//go:build unix

package subprocesstest

import (
	"context"
	"errors"
	"slices"
	"time"
)

// treeChecks are about the processes that a leader has started.
func treeChecks() []check {
	return []check{
		{"the whole group goes with its leader", wholeGroup},
		{"SIGTERM reaches every process of the tree", termReachesAll},
		{"a tree that ignores SIGTERM dies when the grace is over", immuneTree},
		{"after a termination Done waits for the tree, not for the leader", doneWaitsForTree},
		{"what is born during the grace dies with the rest", bornInGrace},
		{"a broad tree", broadTree},
		{"a deep tree", deepTree},
		{"WaitTree ends with its context", waitTreeBound},
		{"WaitTree waits for what runs on", waitTreeBackground},
		{"WaitTree of a tree without a background is over with the leader", waitTreePlain},
		{"the dead that nobody reaps do not count", unreaped},
		{"trees do not touch each other", treesAreApart},
	}
}

func wholeGroup(f *fixture) {
	f.needProcfs()
	h := f.ready(`sleep "$marker" & (sleep "$marker"; :) & echo ready; wait`, long)
	f.awaitSleepers(2)
	h.Terminate()
	f.await(h)
	f.expectSignal(h, "SIGTERM")
	f.expectDead(h)
}

func termReachesAll(f *fixture) {
	f.needProcfs()
	h := f.ready(`child() {
  trap 'echo term >"$dir/$1"; exit' TERM; touch "$dir/armed-$1"; while :; do sleep 0.02; done
}
export -f child await; export dir marker
child group & setsid bash -c 'child session' bash "$marker" & (setsid bash -c 'child orphan' bash "$marker" &)
set -m; child job & set +m
for n in group session orphan job; do await armed-$n; done; echo ready; wait`, long)
	h.Terminate()
	f.await(h)
	f.expectDead(h)
	for _, name := range []string{"group", "session", "orphan", "job"} {
		if !f.exists(name) {
			f.Errorf("the %s child saw no SIGTERM", name)
		}
	}
}

func immuneTree(f *fixture) {
	f.needProcfs()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	spec := f.bash(`trap '' TERM; (trap '' TERM; sleep "$marker") & echo ready; sleep "$marker"`)
	spec.Grace = brief
	h := f.startIn(ctx, spec)
	f.awaitText(h, "ready\n")
	began := time.Now()
	cancel(context.DeadlineExceeded)
	f.await(h)
	f.expectAtLeast("the end", time.Since(began), brief)
	f.expectSignal(h, "SIGKILL")
	f.expectCause(h, context.DeadlineExceeded)
	f.expectDead(h)
}

func doneWaitsForTree(f *fixture) {
	f.needProcfs()
	h := f.ready(`(trap '' TERM; exec >/dev/null 2>&1; touch "$dir/armed"; sleep "$marker") & await armed; echo ready; sleep "$marker"`, brief)
	began := time.Now()
	h.Terminate()
	f.await(h)
	f.expectDead(h)
	f.expectSignal(h, "SIGTERM")
	f.expectAtLeast("the end", time.Since(began), brief)
}

func bornInGrace(f *fixture) {
	f.needProcfs()
	h := f.ready(`trap 'setsid bash -c "trap \"\" TERM; sleep $marker" bash "$marker" & (sleep "$marker" &)' TERM
echo ready; while :; do sleep 0.02; done`, brief)
	h.Terminate()
	f.await(h)
	f.expectSignal(h, "SIGKILL")
	f.expectDead(h)
}

func broadTree(f *fixture) {
	f.needProcfs()
	h := f.ready(`for i in {1..60}; do sleep "$marker" & setsid sleep "$marker" & done; echo ready; wait`, long)
	f.awaitSleepers(120)
	h.Kill()
	f.await(h)
	f.expectDead(h)
}

func deepTree(f *fixture) {
	f.needProcfs()
	spec := f.bash(`if [ "$3" -gt 0 ]; then bash -c "$4" bash "$1" "$2" $(($3 - 1)) "$4"; else echo ready; sleep "$marker"; fi; :`)
	spec.Argv = append(spec.Argv, "30", spec.Argv[2])
	spec.Grace = brief
	h := f.start(spec)
	f.awaitText(h, "ready\n")
	f.awaitAlive(32)
	h.Terminate()
	f.await(h)
	f.expectDead(h)
}

func waitTreeBound(f *fixture) {
	h := f.ready(`echo ready; sleep "$marker"`, brief)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := h.WaitTree(ctx); !errors.Is(err, context.DeadlineExceeded) {
		f.Errorf("WaitTree of a living tree = %v, want the context's error", err)
	}
	f.expectRunning(h)
	h.Kill()
	f.awaitTree(h)
	f.await(h)
}

func waitTreeBackground(f *fixture) {
	h := f.run(f.bash(`(await go) >/dev/null 2>&1 & exit 0`))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := h.WaitTree(ctx); !errors.Is(err, context.DeadlineExceeded) {
		f.Errorf("WaitTree while the background runs = %v, want the context's error", err)
	}
	f.touch("go")
	f.awaitTree(h)
	if procfs() {
		f.expectGone()
	}
}

func waitTreePlain(f *fixture) {
	h := f.start(f.bash("exit 3"))
	f.awaitTree(h)
	f.await(h)
	f.expectCode(h, 3)
}

// An orphan that has ended stays a zombie of the group until the machine's
// first process reaps it, which some never do.
func unreaped(f *fixture) {
	h := f.run(f.bash(`(sleep 0.05 & sleep 0.05 &) >/dev/null 2>&1; exit 0`))
	f.awaitTree(h)
	h = f.ready(`(sleep "$marker" & sleep "$marker" &) >/dev/null 2>&1; echo ready; exec sleep "$marker"`, long)
	h.Terminate()
	f.await(h)
	f.awaitTree(h)
	f.expectDead(h)
}

func treesAreApart(f *fixture) {
	f.needProcfs()
	first := f.ready(`setsid sleep "$marker" & echo ready; wait`, long)
	second := f.ready(`setsid sleep "$marker" & echo ready; wait`, long)
	f.awaitSleepers(2)
	first.Kill()
	f.await(first)
	f.awaitTree(first)
	f.expectRunning(second)
	if left := f.sleepers(); len(left) != 1 {
		f.Errorf("%d sleepers are left, want that of the other tree: %s", len(left), describe(left))
	}
	if !slices.Contains(commandLine(second.PID()), f.Marker) {
		f.Error("the other leader is gone")
	}
	second.Kill()
	f.await(second)
	f.expectDead(second)
}
