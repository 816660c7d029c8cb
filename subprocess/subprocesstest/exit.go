//go:build unix

package subprocesstest

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"hardshell/subprocess"
)

// exitChecks are about how the end of a leader is told.
func exitChecks() []check {
	return []check{
		{"every exit status is told as it is", exitStatuses},
		{"a death by signal is told by the signal's name", signalDeaths},
		{"a real-time signal counts from SIGRTMIN", realTimeDeaths},
		{"no death by signal looks like an exit", noSignalIsSuccess},
		{"a signal that a shell has seen is the shell's exit status", shellSeesSignal},
		{"before Done the exit is zero", zeroExitBeforeDone},
		{"Exited comes with the leader's end, and Done with the drain's", exitedBeforeDone},
		{"the duration ends with the leader, not with the drain", durationOfLeader},
		{"the end of the output is not the end of the command", earlyClose},
		{"what was collected stays readable", readableAfterwards},
		{"a handle may be used by many at once", manyUsers},
	}
}

func exitStatuses(f *fixture) {
	for script, code := range map[string]int{
		"exit 0": 0, "exit 1": 1, "exit 3": 3, "exit 124": 124, "exit 137": 137, "exit 255": 255,
		"exit 256": 0, "exit -1": 255, "if": 2, "no-such-program-anywhere": 127, "/": 126,
	} {
		h := f.run(f.bash(script))
		if e := h.Exit(); e.Code != code || e.Signal != "" || e.Cause != nil {
			f.Errorf("%q: Exit is %+v, want code %d alone", script, e, code)
		}
	}
}

// kills is a script in which the leader dies from a signal of its own, without
// a core file. It cannot die from SIGQUIT, which bash ignores.
func kills(signal any) string { return fmt.Sprintf("ulimit -c 0; kill -%v $$; sleep $marker", signal) }

func signalDeaths(f *fixture) {
	names := []string{"HUP", "INT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV",
		"USR2", "PIPE", "ALRM", "TERM", "XCPU", "XFSZ", "VTALRM", "PROF", "SYS"}
	if runtime.GOOS == "linux" {
		names = append(names, "STKFLT", "PWR")
	}
	for _, name := range names {
		h := f.run(f.bash(kills(name)))
		if e := h.Exit(); e.Code != -1 || e.Signal != "SIG"+name || e.Cause != nil {
			f.Errorf("kill -%s: Exit is %+v, want signal SIG%s and code -1", name, e, name)
		}
	}
}

func realTimeDeaths(f *fixture) {
	if runtime.GOOS != "linux" {
		f.Skipf("skipped: real-time signals are numbered by the C library of Linux here, and this is %s", runtime.GOOS)
	}
	for number, want := range map[int]string{
		34: "SIGRTMIN", 35: "SIGRTMIN+1", 36: "SIGRTMIN+2", 50: "SIGRTMIN+16", 64: "SIGRTMIN+30",
	} {
		h := f.run(f.bash(kills(number)))
		if e := h.Exit(); e.Code != -1 || e.Signal != want {
			f.Errorf("kill -%d: Exit is %+v, want signal %s and code -1", number, e, want)
		}
	}
}

func noSignalIsSuccess(f *fixture) {
	if runtime.GOOS != "linux" {
		f.Skipf("skipped: the numbers are those of Linux, and this is %s", runtime.GOOS)
	}
	// All but SIGQUIT and those that are ignored by default, stop or continue.
	seen := map[string]int{}
	for number := 1; number <= 64; number++ {
		switch number {
		case 3, 17, 18, 19, 20, 21, 22, 23, 28: // QUIT CHLD CONT STOP TSTP TTIN TTOU URG WINCH
			continue
		}
		h := f.run(f.bash(kills(number)))
		e := h.Exit()
		if e.Code != -1 || !strings.HasPrefix(e.Signal, "SIG") {
			f.Errorf("kill -%d: Exit is %+v, want code -1 and a signal", number, e)
		}
		if before, twice := seen[e.Signal]; twice {
			f.Errorf("the signals %d and %d are both told as %q", before, number, e.Signal)
		}
		seen[e.Signal] = number
	}
}

func shellSeesSignal(f *fixture) {
	f.expectCode(f.run(f.bash(`bash -c 'kill -TERM $$'; exit $?`)), 143)
}

func zeroExitBeforeDone(f *fixture) {
	h := f.start(f.bash("await go; exit 7"))
	if e := h.Exit(); e != (subprocess.Exit{}) {
		f.Errorf("Exit is %+v while the leader runs, want the zero Exit", e)
	}
	f.touch("go")
	f.await(h)
	f.expectCode(h, 7)
}

func exitedBeforeDone(f *fixture) {
	h := f.start(f.bash("echo ready; await go; exit 7"))
	f.awaitText(h, "ready\n")
	select {
	case <-h.Exited():
		f.Error("Exited has come while the leader runs")
	default:
	}
	f.touch("go")
	f.await(h)
	f.awaitExited(h)

	spec := f.bash(`sleep "$marker" & exit 7`)
	spec.Grace = long
	f.onceWithin(drainWindow/2, "Exited", func() time.Duration {
		began := time.Now()
		h = f.start(spec)
		f.awaitExited(h)
		took := time.Since(began)
		f.await(h)
		f.expectCode(h, 7)
		return took
	})
}

func durationOfLeader(f *fixture) {
	began := time.Now()
	spec := f.bash(`sleep "$marker" & sleep 0.2`)
	spec.Grace = long
	h := f.run(spec)
	whole := time.Since(began)
	f.expectAtLeast("the leader", h.Exit().Duration, 200*time.Millisecond)
	f.expectAtLeast("the drain after the leader", whole-h.Exit().Duration, drainWindow-20*time.Millisecond)
}

func earlyClose(f *fixture) {
	h := f.run(f.bash(`echo hi; exec 1>&- 2>&-; sleep 0.3; exit 5`))
	f.expectCode(h, 5)
	f.expectStdout(h, "hi\n")
	f.expectAtLeast("the leader", h.Exit().Duration, 300*time.Millisecond)
}

func readableAfterwards(f *fixture) {
	h := f.run(f.bash("echo out; echo err >&2; exit 3"))
	f.close()
	for range 2 {
		f.expectCode(h, 3)
		f.expectStdout(h, "out\n")
		f.expectStderr(h, "err\n")
		if c := h.Reader(subprocess.Stdout).ReadFrom(1); c != (subprocess.Chunk{Text: "ut\n", Next: 4}) {
			f.Errorf("ReadFrom(1) = %+v after Close", c)
		}
	}
}

func manyUsers(f *fixture) {
	spec := f.bash(`i=0; while :; do echo "line $((i++))"; done`)
	spec.Stdout = collectSpilling(1000, 100000)
	spec.Grace = brief
	h := f.start(spec)
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for offset, rounds := int64(0), 0; rounds < 500; rounds++ {
				offset = h.Reader(subprocess.Stdout).ReadFrom(offset).Next
				h.Reader(subprocess.Stderr).Collected()
				_, _, _, _ = h.PID(), h.Exit(), h.Survivors(), h.Output(subprocess.Stdout)
				if rounds == 100 {
					h.Terminate()
				}
				if rounds == 300 {
					h.Kill()
				}
			}
			<-h.Done()
		})
	}
	users.Wait()
	f.awaitTree(h)
	f.expectDead(h)
}
