//go:build linux

package compose_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hardshell/compose"
	sessionhost "hardshell/host"
	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/racecheck"
	"hardshell/internal/state"
	"hardshell/jobs"
	"hardshell/session"
	"hardshell/tool"
)

// TestMain makes this program the session host when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sessionhost.Argument {
		os.Exit(sessionhost.Main())
	}
	os.Exit(racecheck.Main(m))
}

const hang = 30 * time.Second

// durableParts are compositions of one session with a host.
type durableParts struct {
	*testing.T
	in   compose.Surroundings
	rows []compose.Row
}

func newDurable(t *testing.T, yieldMs float64) *durableParts {
	in := surroundings(t)
	in.Durable, in.Host = true, []string{"/proc/self/exe", hostwire.Argument}
	rows := compose.Default()
	for i, row := range rows {
		switch config := row.Config.(type) {
		case compose.ToolBashConfig:
			config.YieldMs = yieldMs
			rows[i].Config = config
		case compose.ShellConfig:
			config.GraceMs = 300
			rows[i].Config = config
		}
	}
	d := &durableParts{t, in, rows}
	t.Cleanup(d.awaitNoHost)
	return d
}

func (d *durableParts) open() *compose.Composition {
	d.Helper()
	c, err := compose.Build(context.Background(), d.rows, d.in)
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() {
		c.Jobs().End(context.Background(), c.Owner())
		d.shut(c)
	})
	return c
}

// shut is what a harness does at its end.
func (d *durableParts) shut(c *compose.Composition) {
	c.Jobs().Close(context.Background())
	c.Runtime().Close(context.Background())
}

func (d *durableParts) awaitNoHost() {
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	lock, err := state.Lock(ctx, hostwire.FilesOf(d.in.Home.Run(), d.in.SessionID).Lock)
	if err != nil {
		d.Errorf("the host lives on: %v", err)
		return
	}
	lock.Release()
}

// live is the handle of the session.
type live struct{ id, workspace string }

func (s live) ID() string        { return s.id }
func (s live) Workspace() string { return s.workspace }
func (s live) LogPath() string   { return "" }

func (d *durableParts) call(c *compose.Composition, name string, args map[string]any) (text string, result tool.Result) {
	d.Helper()
	if name == "bash" {
		args["description"] = "a test"
	}
	data, err := json.Marshal(args)
	if err != nil {
		d.Fatal(err)
	}
	result = c.Pipeline.Execute(d.Context(), tool.Call{Tool: name, Args: data, Session: live{d.in.SessionID, d.in.Workspace}})
	return result.Content[0].Text, result
}

// records lists what lies in the directory of the session's jobs.
func (d *durableParts) records() (names []string) {
	entries, _ := os.ReadDir(d.in.Home.Jobs(d.in.SessionID))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestALongCallGoesOnAsAJob(t *testing.T) {
	t.Parallel()
	d := newDurable(t, 300)
	c := d.open()
	gate := filepath.Join(d.in.Workspace, "go")
	text, _ := d.call(c, "bash", map[string]any{"command": `echo first; until [ -e go ]; do sleep 0.02; done; echo second; exit 4`})
	if want := "first\n[still running after 300ms; continues as background job bash-1]"; text != want {
		t.Fatalf("the text is %q, want %q", text, want)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	text, _ = d.call(c, "job_output", map[string]any{"job_id": "bash-1", "wait": true})
	if want := "second\n[status: completed, exit code: 4]"; text != want {
		t.Errorf("the job's text is %q, want %q", text, want)
	}
	text, _ = d.call(c, "job_output", map[string]any{"job_id": "bash-1", "stream": "stdout"})
	if !strings.HasPrefix(text, "first\nsecond\n") {
		t.Errorf("from the beginning it is %q", text)
	}
}

func TestAJobKeepsTheDeadlineOfItsCall(t *testing.T) {
	t.Parallel()
	d := newDurable(t, 200)
	c := d.open()
	d.call(c, "bash", map[string]any{"command": "sleep 600", "timeoutMs": 600})
	text, _ := d.call(c, "job_output", map[string]any{"job_id": "bash-1", "wait": true})
	if text != "(no new output)\n[status: killed, timed out]" {
		t.Errorf("the text is %q", text)
	}
}

func TestAShortCallLeavesNothing(t *testing.T) {
	t.Parallel()
	d := newDurable(t, 20_000)
	c := d.open()
	text, result := d.call(c, "bash", map[string]any{"command": "echo out; echo err >&2; exit 3"})
	if text != "out\n[stderr]\nerr\n[exit code: 3]" {
		t.Errorf("the text is %q", text)
	}
	structured, err := json.Marshal(result.Structured)
	if err != nil || !strings.Contains(string(structured), `"sandbox":{"mode":"workspace-write"`) {
		t.Errorf("the value is %s, %v", structured, err)
	}
	if names := d.records(); len(names) != 0 {
		t.Errorf("it has left %v", names)
	}
	text, _ = d.call(c, "bash", map[string]any{"command": "sleep 600", "timeoutMs": 200})
	if text != "(no output)\n[timed out after 200ms]\n[killed by signal: SIGTERM]" {
		t.Errorf("the text of a timeout is %q", text)
	}
}

func TestAPromotableCallThatIsAbortedIsDead(t *testing.T) {
	t.Parallel()
	d := newDurable(t, 20_000)
	c := d.open()
	ctx, cancel := context.WithCancel(t.Context())
	started := filepath.Join(d.in.Workspace, "started")
	go func() {
		for {
			if _, err := os.Stat(started); err == nil {
				cancel()
				return
			}
			time.Sleep(2 * time.Millisecond)
		}
	}()
	result := c.Pipeline.Execute(ctx, tool.Call{
		Tool: "bash", Session: live{d.in.SessionID, d.in.Workspace},
		Args: json.RawMessage(`{"command":": > started; sleep 600","description":"x"}`),
	})
	if result.Error == nil || result.Error.Code != fault.Aborted {
		t.Errorf("the result is %+v", result)
	}
	if names := d.records(); len(names) != 0 {
		t.Errorf("it has left %v", names)
	}
}

func TestALongOutputOfAPromotableCallCanBeRead(t *testing.T) {
	t.Parallel()
	d := newDurable(t, 20_000)
	c := d.open()
	text, _ := d.call(c, "bash", map[string]any{"command": "seq 1 100000"})
	_, path, ok := strings.Cut(text, "[output truncated; full output: ")
	path = strings.TrimSuffix(path, "]")
	if !ok {
		t.Fatalf("the text ends with %q", text[max(0, len(text)-200):])
	}
	inside, _ := d.call(c, "bash", map[string]any{"command": "head -n 2 " + path})
	if inside != "1\n2\n" {
		t.Errorf("a command of the session reads %q", inside)
	}
}

func TestTheEndOfAJobIsToldToTheNextHarness(t *testing.T) {
	t.Parallel()
	d := newDurable(t, 0)
	first := d.open()
	d.call(first, "bash", map[string]any{"command": "until [ -e go ]; do sleep 0.02; done; exit 5", "run_in_background": true})
	d.shut(first)
	if err := os.WriteFile(filepath.Join(d.in.Workspace, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var told []jobs.Notice
	for deadline := time.Now().Add(hang); len(told) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody tells of the end")
		}
		next := d.open()
		d.call(next, "job_list", map[string]any{})
		told = next.Notices()
		d.shut(next)
	}
	const want = "background job bash-1 (bash: until [ -e go ]; do sleep 0.02; done; exit 5) finished [status: completed, exit code: 5]. Read its output with job_output."
	if len(told) != 1 || told[0].Text != want || told[0].Seq != 2 {
		t.Errorf("the notices are %+v", told)
	}
	// Who died before it was told has told nobody.
	untold := d.open()
	d.call(untold, "job_list", map[string]any{})
	if again := untold.Notices(); len(again) != 1 || again[0] != told[0] {
		t.Errorf("it is not told again: %+v", again)
	}
	untold.Told(told)
	d.shut(untold)
	last := d.open()
	d.call(last, "job_list", map[string]any{})
	if again := last.Notices(); len(again) != 0 {
		t.Errorf("it is told again: %+v", again)
	}
	var types []string
	for event, err := range session.NewLog(d.in.Home, d.in.SessionID).Events() {
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, fmt.Sprint(event.Seq, event.Type))
	}
	if fmt.Sprint(types) != "[1job/started 2job/finished]" {
		t.Errorf("the log has %v", types)
	}
}

func TestJobsOfACallThatEndsAreRefused(t *testing.T) {
	t.Parallel()
	in := surroundings(t)
	in.OneShot = true
	c, err := compose.Build(context.Background(), compose.Default(), in)
	if err != nil {
		t.Fatal(err)
	}
	d := &durableParts{t, in, nil}
	text, _ := d.call(c, "bash", map[string]any{"command": "sleep 600", "run_in_background": true})
	if !strings.Contains(text, "pass --session to keep jobs") {
		t.Errorf("the text is %q", text)
	}
}
