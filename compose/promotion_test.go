//go:build linux

package compose_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/session"
	"hardshell/tool"
)

func TestTheLongOutputOfACallThatGoesOnCanBeRead(t *testing.T) {
	t.Parallel()
	d := newDurable(t, 500)
	c := d.open()
	text, _ := d.call(c, "bash", map[string]any{"command": "seq 1 100000; exec sleep 600"})
	_, rest, ok := strings.Cut(text, "[output truncated; full output: ")
	path, _, _ := strings.Cut(rest, "]")
	if !ok || filepath.Base(filepath.Dir(path)) != "bash-1" {
		t.Fatalf("the text ends with %q", text[max(0, len(text)-200):])
	}
	if data, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(data), "1\n2\n") {
		t.Errorf("the file that it names: %v", err)
	}
}

func TestACharacterThatIsHalfWrittenWhenACallGoesOnIsReadWhole(t *testing.T) {
	t.Parallel()
	d := newDurable(t, 500)
	c := d.open()
	text, _ := d.call(c, "bash", map[string]any{"command": `printf 'a\303'; until [ -e go ]; do sleep 0.02; done; printf '\251b'`})
	if want := "a\n[still running after 500ms; continues as background job bash-1]"; text != want {
		t.Errorf("the text is %q, want %q", text, want)
	}
	if err := os.WriteFile(filepath.Join(d.in.Workspace, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	text, _ = d.call(c, "job_output", map[string]any{"job_id": "bash-1", "wait": true})
	if want := "éb\n[status: completed, exit code: 0]"; text != want {
		t.Errorf("the job's text is %q, want %q", text, want)
	}
}

func TestNoLineIsLostWhenACallGoesOn(t *testing.T) {
	t.Parallel()
	for range 3 {
		d := newDurable(t, 150)
		c := d.open()
		text, _ := d.call(c, "bash", map[string]any{"command": `for ((i=0;;i++)); do printf '%05d\n' $i; for ((j=0;j<30;j++)); do :; done; [ -e go ] && break; done`})
		if err := os.WriteFile(filepath.Join(d.in.Workspace, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		rest, _ := d.call(c, "job_output", map[string]any{"job_id": "bash-1", "wait": true})
		shown, _, ok := strings.Cut(text, "[still running")
		if !ok || strings.Contains(text+rest, "truncated") || strings.Contains(text+rest, "dropped") {
			t.Fatalf("the texts are %q and %q", text, rest)
		}
		before := strings.Fields(shown)
		after := strings.Fields(rest[:strings.Index(rest, "[status")])
		log, _ := filepath.Glob(filepath.Join(d.in.Home.Jobs(d.in.SessionID), "bash-1", "log-stdout-*"))
		data, err := os.ReadFile(log[0])
		if err != nil {
			t.Fatal(err)
		}
		// A line may have been half written as the call went on.
		got := strings.Join(before, "") + strings.Join(after, "")
		if want := strings.Join(strings.Fields(string(data)), ""); got != want {
			t.Errorf("%d digits of %d were shown", len(got), len(want))
		}
	}
}

// finished are the jobs of which the session's log has the end, and how often.
func (d *durableParts) finished() map[string]int {
	d.Helper()
	ends := map[string]int{}
	for event, err := range session.NewLog(d.in.Home, d.in.SessionID).Events() {
		if err != nil {
			d.Fatal(err)
		}
		if event.Type == session.JobFinished {
			ends[event.Job.ID]++
		}
	}
	return ends
}

func TestAnEndIsLoggedWhoeverLearnsOfItFirst(t *testing.T) {
	t.Parallel()
	d := newDurable(t, 0)
	first := d.open()
	d.call(first, "bash", map[string]any{"command": "exit 5", "run_in_background": true})
	d.call(first, "bash", map[string]any{"command": "exec sleep 600", "run_in_background": true})
	if _, _, err := first.Jobs().Kill("bash-2", "", first.Owner()); err != nil { // and dies
		t.Fatal(err)
	}
	d.shut(first)
	for _, id := range []string{"bash-1", "bash-2"} {
		path := filepath.Join(d.in.Home.Jobs(d.in.SessionID), id, "status.json")
		for deadline := time.Now().Add(hang); ; time.Sleep(2 * time.Millisecond) {
			if _, err := os.Stat(path); err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s does not end", id)
			}
		}
	}
	for range 2 {
		next := d.open()
		d.call(next, "job_output", map[string]any{"job_id": "bash-1"})
		d.shut(next)
		if ends := d.finished(); ends["bash-1"] != 1 || ends["bash-2"] != 1 {
			t.Errorf("the log has the ends %v", ends)
		}
	}
}

func TestAStartThatIsAbortedStartsNothing(t *testing.T) {
	t.Parallel()
	d := newDurable(t, 0)
	c := d.open()
	ctx, cancel := context.WithCancel(t.Context())
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for {
			if found, _ := filepath.Glob(filepath.Join(d.in.Home.Jobs(d.in.SessionID), "bash-*", "job.json")); len(found) > 0 || t.Context().Err() != nil {
				cancel()
				return
			}
		}
	}()
	result := c.Pipeline.Execute(ctx, tool.Call{
		Tool: "bash", Session: live{d.in.SessionID, d.in.Workspace},
		Args: json.RawMessage(`{"command":"exec sleep 600","description":"x","run_in_background":true}`),
	})
	<-stop
	list := c.Jobs().List(c.Owner())
	switch {
	case result.IsError && result.Error.Code != fault.Aborted:
		t.Errorf("the result is %+v", result)
	case result.IsError && len(list) != 0:
		t.Errorf("it was aborted, and there are %+v", list)
	case !result.IsError && (len(list) != 1 || list[0].Status.Terminal()):
		t.Errorf("it was started in time, and there are %+v", list)
	}
	if _, err := c.Jobs().Get("bash-1", c.Owner()); result.IsError && !errors.Is(err, fault.UnknownJob) {
		t.Errorf("the job: %v", err)
	}
	t.Logf("aborted: %v", result.IsError)
}
