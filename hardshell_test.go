//go:build unix

package hardshell_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hardshell"
	"hardshell/internal/fault"
	"hardshell/internal/realpath"
	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/shellenv"
	"hardshell/subprocess"
	"hardshell/tool"
)

// open opens a harness in a home of its own, and closes it with the test.
func open(t *testing.T, o hardshell.Options) *hardshell.Harness {
	t.Helper()
	if o.Home == "" {
		o.Home = filepath.Join(t.TempDir(), "home")
	}
	h, err := hardshell.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return h
}

// run runs a script that must exit 0, and returns its standard output.
func run(t *testing.T, h *hardshell.Harness, command string) string {
	t.Helper()
	result, err := h.Run(t.Context(), shell.Request{Command: command})
	if err != nil {
		t.Fatal(err)
	}
	if result.Status() != 0 {
		t.Fatalf("%s: status %d, standard error %q", command, result.Status(), result.Stderr.Text)
	}
	return result.Stdout.Text
}

// physical is a temporary directory without links in its path.
func physical(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// outsideTemp is a directory of which a sandbox has no private version.
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

func TestOpenRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		ctx     context.Context
		options hardshell.Options
		want    fault.Code
		says    string
	}{
		{"a session's name that leads elsewhere", t.Context(), hardshell.Options{Session: "../x"}, fault.InvalidArgument, "must begin with a letter or digit"},
		{"a home that is no path", t.Context(), hardshell.Options{Home: "a\x00b"}, fault.InvalidArgument, "NUL"},
		{"a workspace that is missing", t.Context(), hardshell.Options{Workspace: filepath.Join(dir, "missing")}, fault.WorkdirNotFound, "create it or name another"},
		{"a workspace that is a file", t.Context(), hardshell.Options{Workspace: file}, fault.WorkdirNotDirectory, "name a directory"},
		{"a workspace below a file", t.Context(), hardshell.Options{Workspace: file + "/x"}, fault.WorkdirNotDirectory, "name a directory"},
		{"a workspace that is no path", t.Context(), hardshell.Options{Workspace: "a\x00b"}, fault.WorkdirNotFound, "name another"},
		{"a context that has ended", ended, hardshell.Options{}, fault.Aborted, "aborted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.options.Home == "" {
				c.options.Home = filepath.Join(dir, "home")
			}
			h, err := hardshell.Open(c.ctx, c.options)
			if h != nil || hardshell.CodeOf(err) != c.want || !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("Open gives %v, %v (code %q), want %q and %q", h, err, hardshell.CodeOf(err), c.want, c.says)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "home")); err == nil {
		t.Error("a refusal made a home")
	}
}

func TestTheHomeIsPrivate(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "deep", "home")
	h := open(t, hardshell.Options{Home: home})
	run(t, h, "echo >$TMPDIR/file")
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(home)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the home is %v, %v", info, err)
	}
	err = filepath.WalkDir(home, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			t.Errorf("a command of a throw-away session that left nothing behind left %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOnlyTheSandboxNeedsTheHome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	h, err := hardshell.Open(t.Context(), hardshell.Options{Home: file + "/home", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(t.Context())
	unconfined := shell.Request{Command: "echo ok", SandboxPolicy: &sandbox.Policy{Mode: sandbox.DangerFullAccess, WorkspaceRoot: dir}}
	if result, err := h.Run(t.Context(), unconfined); err != nil || result.Stdout.Text != "ok\n" {
		t.Errorf("without a home an unconfined command gives %+v, %v", result, err)
	}
	if _, err := h.Run(t.Context(), shell.Request{Command: "true"}); hardshell.CodeOf(err) != "SANDBOX_UNAVAILABLE" || !strings.Contains(err.Error(), "Choose another directory with --home or $DSH_HOME") {
		t.Errorf("without a home a confined command gives %v", err)
	}
	if got := strings.Count(log.String(), "the home cannot be created"); got != 1 {
		t.Errorf("the log tells %d times of the home: %s", got, log.String())
	}

	shared := filepath.Join(dir, "shared")
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	log.Reset()
	h = open(t, hardshell.Options{Home: shared, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if got := run(t, h, "echo ok"); got != "ok\n" || !strings.Contains(log.String(), "run chmod go-w on it") {
		t.Errorf("in a home that everybody writes to the command says %q; the log: %s", got, log.String())
	}
}

func TestTheWorkspaceIsPhysical(t *testing.T) {
	dir := physical(t)
	if err := os.MkdirAll(filepath.Join(dir, "real", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real/sub", filepath.Join(dir, "lnk")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for workspace, want := range map[string]string{
		"":              dir,
		".":             dir,
		"real":          dir + "/real",
		"real/":         dir + "/real",
		"lnk":           dir + "/real/sub",
		"lnk/..":        dir + "/real",
		dir + "/lnk/..": dir + "/real",
		"/":             "/",
	} {
		h := open(t, hardshell.Options{Workspace: workspace})
		if got := h.Session().Workspace(); got != want {
			t.Errorf("the workspace %q is %q, want %q", workspace, got, want)
		}
		if got := run(t, h, `pwd; echo "$PWD"`); got != want+"\n"+want+"\n" {
			t.Errorf("in the workspace %q a command is in %q, want %q", workspace, got, want)
		}
	}
	// The private temp has nothing beside the workspace.
	h := open(t, hardshell.Options{Workspace: "real", Mode: sandbox.DangerFullAccess})
	for workdir, want := range map[string]string{"sub": "/real/sub", "../lnk": "/real/sub", "../lnk/..": "/real"} {
		result, err := h.Run(t.Context(), shell.Request{Command: "pwd; pwd -P", Workdir: workdir})
		if err != nil || !strings.HasSuffix(result.Stdout.Text, "\n"+dir+want+"\n") {
			t.Errorf("a command in %q is in %+v, %v, want %s", workdir, result, err, dir+want)
		}
	}
	// In a directory that was reached through a link, too.
	t.Chdir(filepath.Join(dir, "lnk"))
	t.Setenv("PWD", filepath.Join(dir, "lnk"))
	if got := open(t, hardshell.Options{}).Session().Workspace(); got != dir+"/real/sub" {
		t.Errorf("the current directory is %q", got)
	}
}

func TestACommandKnowsItsSession(t *testing.T) {
	t.Setenv("DSH_STALE", "1")
	t.Setenv("DSH_SHELL", "ambient")
	home := filepath.Join(physical(t), "home")
	h := open(t, hardshell.Options{Home: home, Session: "my.session-1"})
	const facts = "printenv | grep ^DSH_ | sort"
	want := "DSH_HOME=" + home + "\nDSH_SESSION_ID=my.session-1\nDSH_SESSION_JSONL=" +
		home + "/sessions/my.session-1/log.jsonl\nDSH_SHELL=1\n"

	if got := run(t, h, facts); got != want {
		t.Errorf("Run: the facts are\n%swant\n%s", got, want)
	}
	process, err := h.Start(t.Context(), shell.Request{Command: facts})
	if err != nil {
		t.Fatal(err)
	}
	<-process.Done()
	if got := process.ReadOutput().Delta; got != want {
		t.Errorf("Start: the facts are\n%swant\n%s", got, want)
	}
	if got := call(t, h, facts); got != want {
		t.Errorf("Call: the facts are\n%swant\n%s", got, want)
	}
	if s := h.Session(); s.ID() != "my.session-1" || s.LogPath() != home+"/sessions/my.session-1/log.jsonl" {
		t.Errorf("the session is %q, %q", s.ID(), s.LogPath())
	}
	if _, err := os.Stat(h.Session().LogPath()); err == nil {
		t.Error("commands that are not worth an event made a log")
	}
}

func call(t *testing.T, h *hardshell.Harness, command string) string {
	t.Helper()
	args, err := json.Marshal(map[string]string{"command": command, "description": "Test"})
	if err != nil {
		t.Fatal(err)
	}
	result := h.Call(t.Context(), "bash", args)
	text, ok := result.SoleText()
	if !ok || result.IsError {
		t.Fatalf("the call gives %+v", result)
	}
	return text
}

func TestAThrowAwaySessionIsNobodyElses(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 10 {
		id := open(t, hardshell.Options{}).Session().ID()
		if len(id) != 26 || seen[id] {
			t.Errorf("the session is %q after %v", id, seen)
		}
		seen[id] = true
	}
}

func TestWhatOthersContributeIsAFact(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := open(t, hardshell.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, c := range []shellenv.Contributor{
		{Name: "colour", Keys: map[string]string{"DSH_COLOUR": "A colour."}, Resolve: func(shellenv.Execution) (map[string]string, error) {
			return map[string]string{"DSH_COLOUR": "green"}, nil
		}},
		{Name: "broken", Keys: map[string]string{"DSH_BROKEN": "Nothing."}, Resolve: func(shellenv.Execution) (map[string]string, error) {
			return nil, errors.New("out of order")
		}},
	} {
		if _, err := h.Environment().Register(c); err != nil {
			t.Fatal(err)
		}
	}
	const facts = "echo $DSH_COLOUR $DSH_SHELL ${DSH_BROKEN-unset}"
	if got := run(t, h, facts); got != "green 1 unset\n" {
		t.Errorf("Run: %q", got)
	}
	if got := call(t, h, facts); got != "green 1 unset\n" {
		t.Errorf("Call: %q", got)
	}
	if got := strings.Count(log.String(), `\"broken\" failed`); got != 2 {
		t.Errorf("the log tells %d times, want 2: %s", got, log.String())
	}

	given, err := subprocess.NewDshEnvironment(map[string]string{"DSH_OWN": "mine", "DSH_SHELL": "other"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := h.Run(t.Context(), shell.Request{Command: "echo $DSH_OWN $DSH_SHELL $DSH_COLOUR", DshEnv: given})
	if err != nil || result.Stdout.Text != "mine 1 green\n" {
		t.Errorf("with the facts of a caller: %+v, %v", result, err)
	}
}

func TestAPolicyIsNeverRunMoreOpenThanItSays(t *testing.T) {
	t.Parallel()
	base := outsideTemp(t)
	workspace, outside := filepath.Join(base, "workspace"), filepath.Join(base, "outside")
	for _, dir := range []string{workspace, outside} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h := open(t, hardshell.Options{Workspace: workspace})
	for _, c := range []struct {
		mode            sandbox.Mode
		inside, outside bool
	}{
		{sandbox.ReadOnly, false, false},
		{sandbox.WorkspaceWrite, true, false},
		{sandbox.DangerFullAccess, true, true},
	} {
		t.Run(string(c.mode), func(t *testing.T) {
			policy := h.Policy()
			policy.Mode = c.mode
			name := string(c.mode)
			result, err := h.Run(t.Context(), shell.Request{
				Command: "echo >'" + workspace + "/" + name + "'; echo >'" + outside + "/" + name + "'", SandboxPolicy: &policy,
			})
			if err != nil {
				t.Fatal(err)
			}
			if result.Sandbox == nil || result.Sandbox.Mode != c.mode || result.Sandbox.Denied != !c.outside {
				t.Errorf("the facts are %+v", result.Sandbox)
			}
			for dir, want := range map[string]bool{workspace: c.inside, outside: c.outside} {
				if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
					t.Errorf("in %s the file is %v", dir, err)
				}
			}
		})
	}
	t.Run("a mode that is none", func(t *testing.T) {
		policy := h.Policy()
		policy.Mode = "unheard-of"
		request := shell.Request{Command: "touch '" + workspace + "/made'", SandboxPolicy: &policy}
		if _, err := h.Run(t.Context(), request); hardshell.CodeOf(err) != "INVALID_ARGUMENT" {
			t.Errorf("Run: %v", err)
		}
		if _, err := h.Start(t.Context(), request); hardshell.CodeOf(err) != "INVALID_ARGUMENT" {
			t.Errorf("Start: %v", err)
		}
		if _, err := os.Stat(workspace + "/made"); err == nil {
			t.Error("the command ran")
		}
	})
}

func TestRunSaysWhatHappened(t *testing.T) {
	t.Parallel()
	dir := physical(t)
	h := open(t, hardshell.Options{Workspace: dir})
	for _, c := range []struct {
		name    string
		request shell.Request
		status  int
		stdout  string
		timeout time.Duration
	}{
		{"an exit status", shell.Request{Command: "echo hi; exit 3"}, 3, "hi\n", 120 * time.Second},
		{"a program", shell.Request{Argv: []string{"printf", "%s", "$HOME"}}, 0, "$HOME", 120 * time.Second},
		{"a signal", shell.Request{Command: "kill -KILL $$"}, 137, "", 120 * time.Second},
		{"a capped timeout", shell.Request{Command: "true", Timeout: time.Hour}, 0, "", 600 * time.Second},
		{"a person's timeout", shell.Request{Command: "true", Timeout: time.Hour, TimeoutUncapped: true}, 0, "", time.Hour},
		{"another directory", shell.Request{Command: "pwd", Workdir: "/"}, 0, "/\n", 120 * time.Second},
		{"a policy that does not", shell.Request{Command: "true", SandboxPolicy: &sandbox.Policy{Mode: sandbox.DangerFullAccess, WorkspaceRoot: dir}}, 0, "", 120 * time.Second},
		{"input", shell.Request{Command: "cat", Stdin: strings.NewReader("in")}, 0, "in", 120 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			result, err := h.Run(t.Context(), c.request)
			if err != nil {
				t.Fatal(err)
			}
			if result.Status() != c.status || result.Stdout.Text != c.stdout || result.Timeout != c.timeout || result.TimedOut || result.Aborted {
				t.Errorf("%+v", result)
			}
		})
	}
	for _, c := range []struct {
		name    string
		request shell.Request
		want    fault.Code
	}{
		{"two commands", shell.Request{Command: "true", Argv: []string{"true"}}, fault.InvalidArgument},
		{"an empty program", shell.Request{Argv: []string{}}, fault.InvalidArgument},
		{"a negative timeout", shell.Request{Command: "true", Timeout: -1}, fault.InvalidArgument},
		{"a missing directory", shell.Request{Command: "true", Workdir: "/nonexistent-place"}, fault.WorkdirNotFound},
		{"a policy without a workspace", shell.Request{Command: "true", SandboxPolicy: &sandbox.Policy{Mode: sandbox.ReadOnly}}, fault.InvalidArgument},
		{"a workspace that is gone", shell.Request{Command: "true", SandboxPolicy: &sandbox.Policy{Mode: sandbox.ReadOnly, WorkspaceRoot: dir + "/gone"}}, fault.SandboxUnavailable},
		{"a missing program", shell.Request{Argv: []string{"no-such-program"}}, fault.SpawnFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			result, err := h.Run(t.Context(), c.request)
			if result != nil || !errors.Is(err, c.want) {
				t.Errorf("%+v, %v, want %s", result, err, c.want)
			}
		})
	}
}

func TestCallGoesThroughThePipeline(t *testing.T) {
	t.Parallel()
	h := open(t, hardshell.Options{Session: "s1"})
	if result := h.Call(t.Context(), "nothing", nil); !result.IsError || result.Error.Code != fault.UnknownTool {
		t.Errorf("an unknown tool gives %+v", result)
	}
	if _, ok := h.Tools().Tool("bash"); !ok {
		t.Error("there is no tool bash")
	}
	var session string
	remove := h.Pipeline().OnPre(func(_ context.Context, call tool.Call, _ tool.Next[tool.Decision]) (tool.Decision, error) {
		session = call.Session.ID()
		return tool.Decision{Action: tool.Deny, Reason: "not today"}, nil
	})
	result := h.Call(t.Context(), "bash", json.RawMessage(`{"command":"echo hi","description":"d"}`))
	if text, _ := result.SoleText(); !result.IsError || result.Error.Code != tool.Denied || text != "Error: not today" || session != "s1" {
		t.Errorf("a denied call of session %q gives %+v", session, result)
	}
	remove()
	if got := call(t, h, "echo hi"); got != "hi\n" {
		t.Errorf("an allowed one gives %q", got)
	}
}

// closed reports whether a command was refused because the harness has closed:
// by its runtime, or by what confines.
func closed(err error) bool {
	return errors.Is(err, fault.SpawnFailed) || errors.Is(err, fault.SandboxUnavailable)
}

func TestCloseEndsEverythingAndStaysQuiet(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := open(t, hardshell.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	var processes []shell.Process
	for range 3 {
		process, err := h.Start(t.Context(), shell.Request{Command: "sleep 600"})
		if err != nil {
			t.Fatal(err)
		}
		processes = append(processes, process)
	}
	var closes sync.WaitGroup
	for range 3 {
		closes.Go(func() {
			if err := h.Close(t.Context()); err != nil {
				t.Error(err)
			}
			for _, process := range processes {
				select {
				case <-process.Done():
				default:
					t.Error("Close returned before a process had settled")
				}
			}
		})
	}
	closes.Wait()
	for _, process := range processes {
		if state := process.State(); state.Status != shell.Killed || state.Signal != "SIGTERM" {
			t.Errorf("a process is %+v", state)
		}
	}
	if err := h.Close(t.Context()); err != nil {
		t.Errorf("a later Close gives %v", err)
	}
	if _, err := h.Run(t.Context(), shell.Request{Command: "true"}); !closed(err) {
		t.Errorf("Run after Close gives %v", err)
	}
	if _, err := h.Start(t.Context(), shell.Request{Command: "true"}); !closed(err) {
		t.Errorf("Start after Close gives %v", err)
	}
	if log.Len() != 0 {
		t.Errorf("the log has %s", log.String())
	}
}

func TestCloseDoesNotWaitForTheGraceWhenItsContextHasEnded(t *testing.T) {
	t.Parallel()
	for _, mode := range sandbox.Modes() {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			h := open(t, hardshell.Options{Workspace: t.TempDir(), Mode: mode})
			up, said := io.Pipe()
			ran := make(chan *shell.Result, 1)
			go func() {
				result, err := h.Run(t.Context(), shell.Request{
					Command: `trap "" TERM; echo up; while :; do sleep 600; done`, Stdout: said, NoSpill: true,
				})
				if err != nil {
					t.Error(err)
				}
				said.CloseWithError(err)
				ran <- result
			}()
			if _, err := io.ReadFull(up, make([]byte, len("up\n"))); err != nil {
				t.Fatal(err)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if err := h.Close(ended); err != nil {
				t.Fatal(err)
			}
			if result := <-ran; result == nil || result.Signal != "SIGKILL" {
				t.Errorf("it ended as %+v", result)
			}
		})
	}
}

func TestCloseWhileCommandsBegin(t *testing.T) {
	t.Parallel()
	h := open(t, hardshell.Options{})
	var runs sync.WaitGroup
	begun := make(chan struct{}, 8)
	for range cap(begun) {
		runs.Go(func() {
			begun <- struct{}{}
			result, err := h.Run(t.Context(), shell.Request{Command: "sleep 600"})
			switch {
			case err == nil && result.Signal == "":
				t.Errorf("a command outlived Close: %+v", result)
			case err != nil && !closed(err):
				t.Error(err)
			}
		})
	}
	for range cap(begun) {
		<-begun
	}
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
	runs.Wait()
}

func TestOnlyAHarnessThatSpilledSweeps(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	day := 24 * time.Hour
	files := map[string]time.Duration{"old": 8 * day, "recent": 6 * day}
	for name, age := range files {
		path := filepath.Join(home, "spill", name, "a.log")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(home, "spill", name, "a.log"))
		return err == nil
	}

	h := open(t, hardshell.Options{Home: home})
	run(t, h, "echo little")
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !there("old") {
		t.Error("a harness that left no file swept")
	}

	h = open(t, hardshell.Options{Home: home})
	result, err := h.Run(t.Context(), shell.Request{Command: "seq 1 20000"})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if there("old") || !there("recent") {
		t.Errorf("after a harness that spilled, the old file is there: %t, the recent one: %t", there("old"), there("recent"))
	}
	if info, err := os.Stat(result.Stdout.SpillPath); err != nil || info.Size() != result.Stdout.Bytes {
		t.Errorf("its own file %q is %v, %v", result.Stdout.SpillPath, info, err)
	}
}

func TestTheCompositionBelongsToItsCaller(t *testing.T) {
	t.Parallel()
	rows := hardshell.DefaultComposition()
	rows[0].Plugin = "changed"
	if hardshell.DefaultComposition()[0].Plugin == "changed" {
		t.Error("a change of the rows reaches the next caller")
	}
}
