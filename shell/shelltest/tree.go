package shelltest

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"hardshell/shell"
)

// family is a script that puts its processes in some way out of reach. In it
// SLEEP is a process that only one check has, GO waits until there are as many
// as there should be, and READY tells that the rest is done.
type family struct {
	name, script string
	// sleepers is how many SLEEP there are when the script is at rest.
	sleepers int
	// needs is a program that not every system has.
	needs string
}

var families = []family{
	{"a child in the foreground", "SLEEP; echo after", 1, ""},
	{"a child in the background", "SLEEP & wait", 1, ""},
	{"many children", "for i in 1 2 3 4 5 6 7 8 9 10; do SLEEP & done; wait", 10, ""},
	{"a pipeline", "SLEEP | SLEEP | cat", 2, ""},
	{"shells in shells", "bash -c 'bash -c \"bash -c \\\"SLEEP; :\\\"; :\"; :'; :", 1, ""},
	{"a child with job control", "set -m; SLEEP & echo hi; wait", 1, ""},
	{"a child with a time limit", "timeout 901 SLEEP; echo done", 1, "timeout"},
	{"a child that does not hang up", "nohup SLEEP >/dev/null 2>&1 & wait", 1, ""},
	{"an orphan", "(SLEEP &); (SLEEP >/dev/null 2>&1 &); SLEEP", 3, ""},
	{"a child in a session of its own", "setsid SLEEP & wait", 1, "setsid"},
	{"a daemon", "setsid -f SLEEP >/dev/null 2>&1 </dev/null; SLEEP", 2, "setsid"},
	{"a daemon without an environment", "env -i \"$(command -v setsid)\" -f SLEEP >/dev/null 2>&1; SLEEP", 2, "setsid"},
	{"a child that ignores SIGTERM", "(trap '' TERM; exec SLEEP) & wait", 1, ""},
	{"a daemon that ignores SIGTERM", "(trap '' TERM; exec setsid SLEEP >/dev/null 2>&1) & wait", 1, "setsid"},
	{"everyone ignores SIGTERM", "trap '' TERM; SLEEP & SLEEP", 2, ""},
	{"a parent that does not reap", "(true & exec SLEEP) & wait", 1, ""},
	{"a child that is stopped", "SLEEP & GO; kill -STOP $!; READY; wait", 1, ""},
	{"everyone is stopped", "SLEEP & GO; kill -STOP $!; READY; kill -STOP $$", 1, ""},
}

// tree checks that whatever a command has started ends with it, by each of the
// verbs that end a command.
func (s suite) tree(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			if f.needs != "" {
				if _, err := exec.LookPath(f.needs); err != nil {
					t.Skip(err)
				}
			}
			t.Parallel()
			t.Run("is gone when an aborted run returns", func(t *testing.T) { s.treeAborted(t, f) })
			t.Run("is gone when a killed process is done", func(t *testing.T) { s.treeKilled(t, f) })
			t.Run("is gone when the runtime is closed", func(t *testing.T) { s.treeClosed(t, f) })
		})
	}
	t.Run("a timeout leaves no helper without the pipes", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		until(t, func() bool {
			id := marker()
			res := r.run(t, shell.Request{
				Command: `(trap "" TERM; echo armed; exec >/dev/null 2>&1; sleep ` + id + `)& sleep 30`,
				Timeout: 200 * ms,
			})
			noneLeft(t, id)
			wantCut(t, res, timedOut)
			return res.Stdout.Text == "armed\n"
		})
	})
	t.Run("the grace is not cut short", func(t *testing.T) {
		t.Parallel()
		// The trap needs a part of it only.
		r := s.rig(t, Options{Grace: 2 * time.Second})
		id := marker()
		res := r.runAborted(t, shell.Request{
			Command: `trap 'sleep 0.5; echo cleaned; exit 0' TERM; echo armed; while :; do sleep 0.01; done; : ` + id,
		})
		wantExit(t, res, 0)
		wantCut(t, res, aborted)
		wantStdout(t, res, "armed\ncleaned\n")
		noneLeft(t, id)
	})
	t.Run("a tree that ends at once is not waited for", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Grace: 20 * time.Second})
		fastest(t, 100*ms+slack, func() time.Duration {
			start := time.Now()
			res := r.run(t, shell.Request{Command: "sleep " + marker() + " & sleep " + marker(), Timeout: 100 * ms})
			wantCut(t, res, timedOut)
			return time.Since(start)
		})
	})
}

func (f family) command(id string) string {
	return strings.NewReplacer("SLEEP", "sleep "+id, "GO", gate("go"), "READY", ": >ready").Replace(f.script)
}

// awaitRest waits until the script is at rest.
func (f family) awaitRest(t *testing.T, r *rig, id string) {
	t.Helper()
	awaitSleepers(t, id, f.sleepers)
	touch(t, r.path("go"))
	if strings.Contains(f.script, "READY") {
		await(t, "the script to be ready", func() bool { return exists(r.path("ready")) })
	}
}

func (s suite) treeAborted(t *testing.T, f family) {
	r, id := s.rig(t, Options{}), marker()
	ctx, cancel := context.WithCancel(guard(t))
	defer cancel()
	result := r.background(t, ctx, shell.Request{Command: f.command(id)})
	f.awaitRest(t, r, id)
	cancel()
	res := result()
	noneLeft(t, id)
	wantCut(t, res, aborted)
}

func (s suite) treeKilled(t *testing.T, f family) {
	r, id := s.rig(t, Options{}), marker()
	p := r.bg(t, f.command(id))
	f.awaitRest(t, r, id)
	if !p.Kill() {
		t.Error("Kill is false for a process that runs")
	}
	state := settle(t, p)
	noneLeft(t, id)
	if state.Status != shell.Killed || state.Survivors != nil {
		t.Errorf("state %+v", state)
	}
}

func (s suite) treeClosed(t *testing.T, f family) {
	r, id := s.rig(t, Options{}), marker()
	p := r.bg(t, f.command(id))
	f.awaitRest(t, r, id)
	if err := r.runtime.Close(guard(t)); err != nil {
		t.Errorf("closing: %v", err)
	}
	noneLeft(t, id)
	if state := settle(t, p); state.Status != shell.Killed || state.Survivors != nil {
		t.Errorf("state %+v", state)
	}
}
