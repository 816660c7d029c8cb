//go:build unix

package cli_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hardshell/cli"
	"hardshell/internal/spawn"
)

var update = flag.Bool("update", false, "rewrite the expected texts of the scripts")

// TestMain puts this binary on PATH as hardshell, so that scripts and tests run
// real processes.
func TestMain(m *testing.M) {
	// The race detector would make each of them sleep for a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	testscript.Main(m, map[string]func(){"hardshell": func() {
		spawn.Harden()
		os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Streams{
			In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		}))
	}})
}

// TestScripts runs testdata/script. Beyond the commands of testscript there are
//
//	status N PROGRAM ARG…     run, and expect an exit status (128+N for signal N)
//	exactly stdout|stderr TEXT  expect a whole text; \n is a newline
//	stable                    replace what differs between runs in stdout
//	ended FILE                expect that the processes listed in FILE are gone
func TestScripts(t *testing.T) {
	t.Parallel()
	notice, err := os.ReadFile("testdata/notice.txt")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("LC_ALL", "C")
			return os.WriteFile(filepath.Join(env.WorkDir, "notice"), notice, 0o666)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":  checkStatus,
			"exactly": checkExactly,
			"stable":  makeStable,
			"ended":   checkEnded,
		},
	})
}

func checkStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	got := 0
	if exit != nil {
		got = shellStatus(exit.ProcessState)
	}
	if got != want {
		ts.Fatalf("the status is %d, want %d", got, want)
	}
}

// shellStatus is the exit status that a shell would report.
func shellStatus(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

func checkExactly(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: exactly stdout|stderr TEXT")
	}
	want := strings.ReplaceAll(args[1], `\n`, "\n")
	if got := ts.ReadFile(args[0]); got != want {
		ts.Fatalf("%s is %q, want %q", args[0], got, want)
	}
}

// unstable is what differs between two runs of the same command.
var unstable = []struct {
	pattern *regexp.Regexp
	stable  string
}{
	{regexp.MustCompile(`"durationMs":\d+`), `"durationMs":0`},
	{regexp.MustCompile(`/spill/[0-9A-Z]{26}/dsh-subprocess-[0-9]+-[0-9]+-[0-9a-f]{12}-(stdout|stderr)\.log`), `/spill/SESSION/$1.log`},
}

func makeStable(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: stable")
	}
	text := strings.ReplaceAll(ts.ReadFile("stdout"), ts.Getenv("WORK"), "WORK")
	for _, u := range unstable {
		text = u.pattern.ReplaceAllString(text, u.stable)
	}
	stderr := ts.ReadFile("stderr") // goes with the first write
	_, err := io.WriteString(ts.Stdout(), text)
	ts.Check(err)
	_, err = io.WriteString(ts.Stderr(), stderr)
	ts.Check(err)
}

func checkEnded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ended FILE")
	}
	pids := strings.Fields(ts.ReadFile(args[0]))
	if len(pids) == 0 {
		ts.Fatalf("%s lists no processes", args[0])
	}
	for _, word := range pids {
		pid, err := strconv.Atoi(word)
		ts.Check(err)
		if alive(pid) {
			ts.Fatalf("process %d is still there", pid)
		}
	}
}

// alive reports whether a process exists that is no zombie: one that has ended
// stays until its parent, which may be anybody, asks for its status.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || !procMounted()
	}
	_, after, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')'):]), " ")
	return !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}

func procMounted() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}
