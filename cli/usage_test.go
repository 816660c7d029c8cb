//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hardshell/bench"
)

// invoke runs one invocation in this process, in a home of its own.
func invoke(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	args = append([]string{"--home", filepath.Join(t.TempDir(), "home")}, args...)
	status = Main(t.Context(), args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return status, out.String(), errs.String()
}

const (
	seeHelp    = "\nSee 'hardshell --help'"
	seeRunHelp = "\nSee 'hardshell run --help'"
)

func TestAMistakeIsToldWithWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no such command", []string{"nothing"}, `unknown command "nothing" for "hardshell"` + seeHelp},
		{"nearly a command", []string{"rnu"}, "unknown command \"rnu\" for \"hardshell\"\n\nDid you mean this?\n\trun\n" + seeHelp},
		{"no such part of a command", []string{"compose", "nothing"}, `unknown command "nothing" for "hardshell compose"` + seeHelp},
		{"an argument too many", []string{"version", "extra"}, `unknown command "extra" for "hardshell version"` + seeHelp},
		{"no such flag", []string{"--nothing"}, "unknown flag: --nothing" + seeHelp},
		{"no such flag of a command", []string{"run", "--nothing", "true"}, "unknown flag: --nothing" + seeRunHelp},
		{"a flag without its value", []string{"run", "--timeout"}, "flag needs an argument: --timeout" + seeRunHelp},
		{"no command to run", []string{"run"}, "run needs a command: hardshell run 'echo hello'"},
		{"nothing after the dashes", []string{"run", "--"}, "run needs a command: hardshell run 'echo hello'"},
		{"no output at all", []string{"run", "--max-output", "0", "true"}, "--max-output must be a positive number of bytes"},
		{"less than no output", []string{"run", "--max-output=-1", "true"}, "--max-output must be a positive number of bytes"},
		{"a size with a unit", []string{"run", "--max-output", "1k", "true"}, `invalid argument "1k" for "--max-output" flag: strconv.ParseInt: parsing "1k": invalid syntax` + seeRunHelp},
		{"a variable without a value", []string{"run", "--env", "NAME", "true"}, "--env takes NAME=VALUE"},
		{"a variable without a name", []string{"run", "--env", "=value", "true"}, "--env takes NAME=VALUE"},
		{"an empty variable", []string{"run", "--env", "", "true"}, "--env takes NAME=VALUE"},
		{"no such mode", []string{"run", "--mode", "none", "true"}, `unknown sandbox mode "none": use read-only, workspace-write or danger-full-access`},
		{"an empty mode", []string{"run", "--mode", "", "true"}, `unknown sandbox mode "": use read-only, workspace-write or danger-full-access`},
		{"no such network", []string{"run", "--network", "some", "true"}, `unknown network "some": use open or none`},
		{"an empty network", []string{"run", "--network", "", "true"}, `unknown network "": use open or none`},
		{"an empty directory to write to", []string{"run", "--write", "", "true"}, "--write takes a directory"},
		{"a directory to write to where nothing is", []string{"run", "--write", "/tmp", "--mode", "read-only", "true"}, "--write DIR lets a command change DIR, and in read-only mode it may change nothing: use --mode workspace-write, or leave --write out"},
		{"a timeout without a number", []string{"run", "--timeout", "soon", "true"}, `--timeout "soon" is no positive duration: use 90s, 5m, bare milliseconds, or none`},
		{"no tool to call", []string{"call"}, "call needs a tool and its arguments: hardshell call TOOL [JSON]"},
		{"too much to call", []string{"call", "bash", "{}", "{}"}, "call needs a tool and its arguments: hardshell call TOOL [JSON]"},
		{"no such log level", []string{"--log-level", "loud", "tools"}, `--log-level "loud" is none of debug, info, warn, error`},
		{"no shell to complete for", []string{"completion"}, "completion needs one shell: bash, zsh or fish"},
		{"an unknown shell to complete for", []string{"completion", "tcsh"}, `completion for "tcsh" is not known: use bash, zsh or fish`},
		{"jobs of no session", []string{"jobs", "list"}, "jobs belong to a session: name it with --session ID, or use --all for all sessions"},
		{"a job of no session", []string{"jobs", "output", "bash-1"}, "jobs belong to a session: name it with --session ID (hardshell sessions list shows them)"},
		{"no job", []string{"jobs", "output", "--session", "s"}, "output needs the id of one job: hardshell jobs output bash-1 --session s"},
		{"two jobs to wait for", []string{"jobs", "wait", "--session", "s", "a-1", "a-2"}, "wait needs the id of one job: hardshell jobs wait bash-1 --session s"},
		{"no job to kill", []string{"jobs", "kill", "--session", "s"}, "kill needs the ids of jobs: hardshell jobs kill bash-1 --session s"},
		{"an offset before the first byte", []string{"jobs", "output", "--session", "s", "bash-1", "--from=-1"}, "--from is the offset of a byte: 0 is the first"},
		{"no such stream", []string{"jobs", "output", "--session", "s", "bash-1", "--stream", "stdin"}, `--stream "stdin" is none: use stdout or stderr`},
		{"a wait of no time", []string{"jobs", "wait", "--session", "s", "bash-1", "--timeout", "0"}, `--timeout "0" is no positive duration: use 90s, 5m, bare milliseconds, or none`},
		{"watching a file", []string{"jobs", "list", "--session", "s", "--watch"}, "--watch draws on a terminal, and standard output is none: leave it out, or repeat jobs list --json"},
		{"no such job command", []string{"jobs", "nothing"}, `unknown command "nothing" for "hardshell jobs"` + seeHelp},
		{"no session to end", []string{"sessions", "end"}, "end needs the id of one session: hardshell sessions end s"},
		{"a session that is not there", []string{"sessions", "end", "nothing"}, "there is no session nothing: see hardshell sessions list"},
		{"no runs", []string{"bench", "--runs", "0"}, "--runs and --megabytes must be positive"},
		{"no megabytes", []string{"bench", "--megabytes", "-1"}, "--runs and --megabytes must be positive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, out, errs := invoke(t, c.args...)
			if want := "hardshell: " + c.want + "\n"; status != 2 || out != "" || errs != want {
				t.Errorf("status %d, output %q, standard error %q; want %q", status, out, errs, want)
			}
		})
	}
}

func TestAMistakeWithJSONIsADocument(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		args    []string
		message string
	}{
		{"no command to run", []string{"run", "--json"}, `run needs a command: hardshell run 'echo hello'`},
		{"a mistake after it", []string{"run", "--json", "--nothing", "true"}, `unknown flag: --nothing\nSee 'hardshell run --help'`},
		{"a mistake before it", []string{"run", "--nothing", "--json", "true"}, `unknown flag: --nothing\nSee 'hardshell run --help'`},
		{"an argument too many", []string{"compose", "check", "--json", "extra"}, `unknown command \"extra\" for \"hardshell compose check\"\nSee 'hardshell --help'`},
		{"a bad session", []string{"--session", "../x", "tools", "--json"}, `\"../x\" is no session id: it must begin with a letter or digit and have at most 64 letters, digits, dots, underscores and hyphens (^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$)`},
		{"two ways to list", []string{"jobs", "list", "--session", "s", "--json", "--watch"}, "--watch and --json exclude each other: choose one"},
		{"a bad session to end", []string{"sessions", "end", "--json", "a/b"}, `\"a/b\" is no session id: it must begin with a letter or digit and have at most 64 letters, digits, dots, underscores and hyphens (^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$)`},
		{"two ways to print", []string{"run", "--json", "--text", "true"}, "--json and --text exclude each other: choose one"},
		{"JSON before a command", []string{"--json", "jobs", "list"}, "jobs belong to a session: name it with --session ID, or use --all for all sessions"},
		{"JSON before a part of a command", []string{"jobs", "--json", "list"}, "jobs belong to a session: name it with --session ID, or use --all for all sessions"},
		{"JSON of a command that has none", []string{"--json", "completion", "bash"}, `hardshell completion prints no JSON: leave --json out\nSee 'hardshell completion --help'`},
		{"JSON of commands that are not named", []string{"--json", "jobs"}, `hardshell jobs prints no JSON: leave --json out\nSee 'hardshell jobs --help'`},
		{"a bad number of runs", []string{"bench", "--json", "--runs", "0"}, "--runs and --megabytes must be positive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, out, errs := invoke(t, c.args...)
			want := `{"error":{"code":"INVALID_ARGUMENT","message":"` + c.message + `"}}` + "\n"
			if status != 2 || out != want || errs != "" {
				t.Errorf("status %d, output %q, standard error %q; want %q", status, out, errs, want)
			}
		})
	}
	t.Run("but not when it belongs to the command", func(t *testing.T) {
		if status, out, errs := invoke(t, "run", "--nothing", "--", "echo", "--json"); status != 2 || out != "" || errs == "" {
			t.Errorf("status %d, output %q, standard error %q", status, out, errs)
		}
	})
}

func TestADirectoryThatIsNoneIsNamed(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		flags         []string
		code, message string
	}{
		{"a missing workdir", []string{"--workspace", dir, "--workdir", "missing"}, "WORKDIR_NOT_FOUND", `the workdir "` + dir + `/missing" does not exist (ENOENT): create it or choose another`},
		{"an absolute one", []string{"--workdir", dir + "/missing"}, "WORKDIR_NOT_FOUND", `the workdir "` + dir + `/missing" does not exist (ENOENT): create it or choose another`},
		{"a file", []string{"--workspace", dir, "--workdir", "file"}, "WORKDIR_NOT_DIRECTORY", `the workdir "` + dir + `/file" is not a directory (ENOTDIR): choose a directory`},
		{"a missing workspace", []string{"--workspace", dir + "/missing"}, "WORKDIR_NOT_FOUND", `the workspace "` + dir + `/missing" does not exist (ENOENT): create it or name another`},
		{"a file as workspace", []string{"--workspace", dir + "/file"}, "WORKDIR_NOT_DIRECTORY", `the workspace "` + dir + `/file" is not a directory (ENOTDIR): name a directory`},
		{"a workspace below a file", []string{"--workspace", dir + "/file/x"}, "WORKDIR_NOT_DIRECTORY", `the workspace "` + dir + `/file/x" is not a directory (ENOTDIR): name a directory`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := append([]string{"run"}, c.flags...)
			status, out, errs := invoke(t, append(run, "true")...)
			if status != 125 || out != "" || errs != "hardshell: "+c.message+"\n" {
				t.Errorf("status %d, output %q, standard error %q; want %q", status, out, errs, c.message)
			}
			status, out, _ = invoke(t, append(run, "--json", "true")...)
			want := `{"error":{"code":"` + c.code + `","message":` + strconv.Quote(c.message) + "}}\n"
			if status != 125 || out != want {
				t.Errorf("status %d, output %q; want %q", status, out, want)
			}
		})
	}
}

func TestATimeoutThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for _, timeout := range []string{
		"0", "0s", "-1", "-5s", "", " ", "1.5", "1e3", "NaN", "Inf", "None", "NONE", "5 m", "5 minutes", "0x10", "٣",
		"99999999999999999999", "9223372036854", "9223372036855", "9999999h", "1ps", "0.1ns",
	} {
		t.Run(timeout, func(t *testing.T) {
			ran := filepath.Join(t.TempDir(), "ran")
			status, out, errs := invoke(t, "run", "--timeout", timeout, "--", "touch", ran)
			if status != 2 || out != "" || !strings.HasSuffix(errs, "is no positive duration: use 90s, 5m, bare milliseconds, or none\n") {
				t.Errorf("status %d, output %q, standard error %q", status, out, errs)
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("the command was run")
			}
		})
	}
}

func TestASessionIsCheckedOnEveryFace(t *testing.T) {
	t.Parallel()
	for _, session := range []string{"../x", ".x", "-x", "a/b", "a b", "é", "a\n", strings.Repeat("a", 65)} {
		for _, args := range [][]string{
			{"run", "touch ran"}, {"call", "bash", `{"command":"touch ran","description":"d"}`}, {"tools"}, {"compose", "check"},
			{"jobs", "list"}, {"jobs", "output", "bash-1"}, {"jobs", "kill", "bash-1"}, {"jobs", "wait", "bash-1"}, {"jobs", "prune"},
		} {
			status, out, errs := invoke(t, append([]string{"--session=" + session}, args...)...)
			if status != 2 || out != "" || !strings.Contains(errs, "is no session id: it must begin with a letter or digit") {
				t.Errorf("%s with %q: status %d, output %q, standard error %q", args[0], session, status, out, errs)
			}
		}
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Error("a command was run")
	}
}

func TestAMistakeDoesNotTellAValue(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-value"
	for _, args := range [][]string{
		{"run", "--env", "API_KEY=" + secret, "--timeout", "0", "true"},
		{"run", "--env", "API_KEY=" + secret, "--nothing", "true"},
		{"run", "--env", "API_KEY=" + secret, "--write", "missing", "true"},
		{"run", "--env", "API_KEY=" + secret, "--workspace", "missing", "true"},
		{"run", "--env", "API_KEY=" + secret},
		{"run", "--env", secret, "true"},
		{"run", "--env", "=" + secret, "true"},
		{"run", "--json", "--env", "=" + secret, "true"},
		{"--session", "a b", "run", "--env", "API_KEY=" + secret, "true"},
	} {
		status, out, errs := invoke(t, append([]string{"--log-level", "debug"}, args...)...)
		if status != 2 && status != 125 {
			t.Errorf("%q: status %d", args, status)
		}
		if strings.Contains(out+errs, secret) {
			t.Errorf("%q: it tells the value: %q, %q", args, out, errs)
		}
	}
}

func TestPairsAreATableWithTheRatioFirst(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	a := &app{streams: Streams{Out: &out}}
	err := a.printPairs([]bench.Pair{
		{Name: "spawn", Ratio: 1.066, A: bench.Side{Name: "run bash -c true", Median: 4266 * time.Microsecond}, B: bench.Side{Name: "bare", Median: 4 * time.Millisecond}},
		{Name: "cold", Ratio: 12, A: bench.Side{Name: "hardshell", Median: 12 * time.Second}, B: bench.Side{Name: "bash", Median: time.Second}},
	})
	const want = "" +
		"RATIO  WHAT              TIME    AGAINST  TIME\n" +
		"1.07   run bash -c true  4.27ms  bare     4ms\n" +
		"12.00  hardshell         12s     bash     1s\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}
