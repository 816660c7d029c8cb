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
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hardshell/cli"
	"hardshell/host"
	"hardshell/internal/realpath"
	"hardshell/internal/spawn"
)

var update = flag.Bool("update", false, "rewrite the expected texts of the scripts")

// TestMain puts this binary on PATH as hardshell and, as the shell, hsh, so that scripts and tests run
// real processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == host.Argument {
		os.Exit(host.Main())
	}
	// The race detector would make each of them sleep for a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	as := func(face func(context.Context, []string, cli.Streams) int) func() {
		return func() {
			spawn.Harden()
			os.Exit(face(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		}
	}
	testscript.Main(m, map[string]func(){"hardshell": as(cli.Main), "hsh": as(cli.Shell), "refuse": refuse})
}

// TestScripts runs testdata/script. Beyond the commands of testscript there are
//
//	status N PROGRAM ARG…     run, and expect an exit status (128+N for signal N)
//	exactly stdout|stderr TEXT  expect a whole text; \n is a newline
//	stable                    replace what differs between runs in stdout
//	ended                     expect that no process has $MARK in its arguments
//
// MARK is a number of seconds, about ten minutes, of each script's own.
func TestScripts(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux confines")
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		WorkdirRoot:   outsideTemp(t),
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("LC_ALL", "C")
			env.Setenv("MARK", newMark())
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":  checkStatus,
			"exactly": checkExactly,
			"stable":  makeStable,
			"ended": func(ts *testscript.TestScript, neg bool, args []string) {
				if pids := marked(t, ts.Getenv("MARK")); len(pids) > 0 {
					ts.Fatalf("these processes are still there: %v", pids)
				}
			},
		},
	})
}

// outsideTemp is a directory of which a sandbox has no private version, so that
// what is written beside a workspace in it is refused and not lost.
func outsideTemp(t *testing.T) string {
	t.Helper()
	own, _ := os.UserHomeDir()
	wd, _ := os.Getwd()
	for _, parent := range []string{own, wd, "/var/lib"} {
		parent, err := filepath.EvalSymlinks(parent)
		if err != nil || realpath.Within(parent, "/tmp") || realpath.Within(parent, "/var/tmp") || realpath.Within(parent, "/dev/shm") {
			continue
		}
		if dir, err := os.MkdirTemp(parent, "hardshell-test-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	t.Skip("needs a directory to write to outside of the temp")
	return ""
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
	{regexp.MustCompile(`"(startedAt|finishedAt)":\d+`), `"$1":0`},
	{regexp.MustCompile(`"usage":\{[^}]*\},`), ""},
	{regexp.MustCompile(`"enforcement":"(?:full|partial)","runnerFailed":false,"backend":"native","tier":"[a-z-]+","network":"(open|none)","effects":\{[^}]*\}`), `"network":"$1"`},
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
