//go:build unix

package subprocesstest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"
)

// escapeChecks are about processes that leave the group, the session or the
// family of their leader. None of that gets them out of a termination.
func escapeChecks() []check {
	var checks []check
	for _, e := range escapes {
		checks = append(checks,
			check{e.name + " does not escape the end of a command", e.duringRun},
			check{e.name + " does not escape a close after its command", e.afterRun})
	}
	return append(checks,
		check{"forking ever more sessions ends", broadBomb},
		check{"forking from session to session ends", chainBomb},
	)
}

const unshare = "unshare --user --map-root-user --pid --fork"

// escape is a script that leaves sleepers behind in some way.
type escape struct {
	name     string
	script   string
	sleepers int
	program  string // what it needs beside the shell, "" for nothing
	root     bool   // works for root only
}

var escapes = []escape{
	{name: "a session of its own", sleepers: 1, program: "setsid",
		script: `setsid sleep "$marker" &`},
	{name: "a session of its own, forked", sleepers: 1, program: "setsid",
		script: `setsid --fork sleep "$marker"`},
	{name: "job control", sleepers: 1,
		script: `set -m; sleep "$marker" &`},
	{name: "an interactive shell", sleepers: 1,
		script: `bash --norc -ic 'sleep "$1" & disown' bash "$marker" </dev/null 2>/dev/null`},
	{name: "the timeout program", sleepers: 1, program: "timeout",
		script: `timeout "$marker" sleep "$marker" &`},
	{name: "the timeout program in front", sleepers: 1, program: "timeout",
		script: `(timeout "$marker" sleep "$marker"; echo done) &`},
	{name: "a double fork", sleepers: 1,
		script: `( (sleep "$marker") & ) &`},
	{name: "nohup", sleepers: 1, program: "nohup",
		script: `nohup sleep "$marker" >/dev/null 2>&1 &`},
	{name: "an empty environment", sleepers: 1, program: "setsid",
		script: `env -i "$(type -P setsid)" "$(type -P sleep)" "$marker" &`},
	{name: "a daemon", sleepers: 2, program: "setsid",
		script: `(cd /; exec env -i PATH="$PATH" setsid bash -c 'exec 0<&- 1>&- 2>&-
(sleep "$1" & setsid sleep "$1" &) & exit' bash "$marker") </dev/null >/dev/null 2>&1 &`},
	{name: "a daemon that ignores signals", sleepers: 1, program: "setsid",
		script: `setsid bash -c 'trap "" TERM HUP INT; (sleep "$1"; :) & exit' bash "$marker" >/dev/null 2>&1`},
	{name: "another user", sleepers: 1, program: "setpriv", root: true,
		script: `setpriv --reuid 65534 --regid 65534 --clear-groups setsid sleep "$marker" &`},
	{name: "a pid namespace of its own", sleepers: 1, program: "unshare",
		script: `setsid ` + unshare + ` sleep "$marker" &`},
}

func (e escape) possible(f *fixture) {
	f.needProcfs()
	if e.root && os.Geteuid() != 0 {
		f.Skip("skipped: only root may do that")
	}
	if e.program != "" {
		if _, err := exec.LookPath(e.program); err != nil {
			f.Skipf("skipped: %v", err)
		}
	}
	if e.program == "unshare" && exec.Command("sh", "-c", unshare+" true").Run() != nil {
		f.Skip("skipped: no pid namespace can be made here")
	}
}

// duringRun ends the command while its leader waits.
func (e escape) duringRun(f *fixture) {
	e.possible(f)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spec := f.bash(e.script + "\nwhile :; do sleep 0.05; done")
	spec.Grace = brief
	h := f.startIn(ctx, spec)
	f.awaitSleepers(e.sleepers)
	cancel()
	f.await(h)
	f.expectCause(h, context.Canceled)
	f.expectDead(h)
}

// afterRun lets the command end well and closes the runtime.
func (e escape) afterRun(f *fixture) {
	e.possible(f)
	spec := f.bash("exec >/dev/null 2>&1\n" + e.script + "\nawait go; exit 3")
	spec.Grace = brief
	h := f.start(spec)
	f.awaitSleepers(e.sleepers)
	f.touch("go")
	f.await(h)
	f.expectCode(h, 3)
	if left := f.sleepers(); len(left) != e.sleepers {
		f.Errorf("%d sleepers run on after their command, want %d", len(left), e.sleepers)
	}
	f.close()
	f.expectGone()
}

// broadBomb forks sessions as fast as it can; it stops by itself at a number
// that a machine bears.
func broadBomb(f *fixture) {
	f.needProcfs()
	spec := f.bash(`trap '' TERM; n=0; while [ $((n++)) -lt 400 ]; do setsid sleep "$marker" & done; echo ready; wait`)
	spec.Grace = brief
	h := f.start(spec)
	f.waitFor("some sleepers", func() bool { return len(f.sleepers()) > 20 })
	h.Terminate()
	f.await(h)
	f.expectDead(h)
}

// chainBomb is one process at a time that forks the next into a session of its
// own and ends: a target that moves. Each adds a byte to a file, and the chain
// ends by itself when a minute or two have passed.
func chainBomb(f *fixture) {
	f.needProcfs()
	spec := f.bash(`trap '' TERM; printf . >>"$dir/links"
if [ "$3" -gt 0 ]; then setsid bash -c "$4" bash "$1" "$2" $(($3 - 1)) "$4" & fi
[ "$3" -lt 20000 ] || while :; do sleep 0.1; done`)
	spec.Argv = append(spec.Argv, "20000", spec.Argv[2])
	spec.Stdout.MaxBytes = 100
	spec.Grace = brief
	h := f.start(spec)
	links := func() int { return len(strings.TrimSpace(f.read("links"))) }
	f.waitFor("some links of the chain", func() bool { return f.exists("links") && links() > 20 })
	h.Terminate()
	f.await(h)
	at := links()
	f.expectDead(h)
	// The next link would come within milliseconds.
	time.Sleep(100 * time.Millisecond)
	if now := links(); now != at {
		f.Errorf("after Done the chain went on from link %d to %d", at, now)
	}
	f.expectDead(h)
}
