//go:build unix

package hardshell_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hardshell"
	"hardshell/compose"
	"hardshell/sandbox"
	"hardshell/shell"
)

// Policy is what a caller changes a copy of and gives back in a request.
func TestAPolicyOfACompositionThatConfinesNeverOpensUp(t *testing.T) {
	h := open(t, hardshell.Options{})
	var row compose.Row
	for _, r := range h.Rows() {
		if r.ID == "sandbox-policy" {
			row = r
		}
	}
	off := row
	off.Disabled = true
	_ = h.Reload(t.Context(), off) // or any reload of it, of subprocess or settings-file: the same, for a moment
	policy := h.Policy()
	if err := h.Reload(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	if policy.Mode == sandbox.DangerFullAccess {
		result, err := h.Run(t.Context(), shell.Request{Command: "true", SandboxPolicy: &policy})
		t.Errorf("the policy asked for during a reload is %s; the run under it: %+v, %v", policy.Mode, result.Sandbox, err)
	}
}

func TestARunDuringAReloadIsRefusedAndDoesNotPanic(t *testing.T) {
	h := open(t, hardshell.Options{})
	for _, r := range h.Rows() {
		if r.ID == "sandbox" {
			r.Config = compose.SandboxConfig{Backend: "hope"}
			if err := h.Reload(t.Context(), r); err == nil {
				t.Fatal("the row is good")
			}
		}
	}
	defer func() {
		if recover() != nil {
			t.Error("Run panics while the row of the shell is not at work")
		}
	}()
	if _, err := h.Run(t.Context(), shell.Request{Command: "true"}); err == nil {
		t.Error("it ran")
	}
}

// Close promises to end every command, and to cut the grace short when ctx ends.
func TestCloseEndsCommandsAlsoWhenAReloadIsUnderWay(t *testing.T) {
	t.Parallel()
	workspace := t.TempDir()
	h, err := hardshell.Open(t.Context(), hardshell.Options{Home: filepath.Join(t.TempDir(), "home"), Workspace: workspace})
	if err != nil {
		t.Fatal(err)
	}
	process, err := h.Start(context.Background(), shell.Request{Command: "sleep 600"})
	if err != nil {
		t.Fatal(err)
	}
	// A job that takes its grace holds the reload of its registry up.
	h.Call(t.Context(), "bash", json.RawMessage(`{"command":"trap '' TERM; touch up; while :; do sleep 0.1; done","description":"x","run_in_background":true}`))
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(workspace, "up")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the job does not start")
		}
	}
	var jobs compose.Row
	for _, r := range h.Rows() {
		if r.ID == "jobs" {
			jobs = r
		}
	}
	reloaded := make(chan error, 1)
	go func() { reloaded <- h.Reload(context.Background(), jobs) }()
	for h.Jobs() != nil {
		time.Sleep(time.Millisecond)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	first := h.Close(over)
	<-reloaded
	select {
	case <-process.Done():
	case <-time.After(30 * time.Second):
		t.Errorf("Close returned %v, and the command runs on", first)
	}
}

// A home that others can write to is warned of; what stands in it must not lift the
// confinement.
func TestAHomeThatCannotBeTrustedDecidesNothing(t *testing.T) {
	for name, text := range map[string]string{
		"settings.yaml": "sandbox: {mode: danger-full-access}\n",
		"compose.yaml":  "- {id: sandbox-policy, config: {mode: danger-full-access}}\n",
	} {
		home := filepath.Join(t.TempDir(), "home")
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(home, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		h, err := hardshell.Open(t.Context(), hardshell.Options{Home: home, OneShot: true})
		if err != nil {
			continue
		}
		result, err := h.Run(t.Context(), shell.Request{Command: "true"})
		if err == nil && result.Sandbox.Mode == sandbox.DangerFullAccess {
			t.Errorf("%s of a home with mode 0777 lets commands run unconfined", name)
		}
		h.Close(context.Background())
	}
}

// A person who keeps the settings in a repository cannot work there with an agent.
func TestSettingsThatACommandCouldChangeAreRefused(t *testing.T) {
	for _, name := range []string{"in the workspace", "in a writable root"} {
		home, dir := filepath.Join(physical(t), "home"), physical(t)
		document := filepath.Join(dir, "hardshell.yaml")
		if err := os.WriteFile(document, []byte("sandbox: {mode: workspace-write}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(document, filepath.Join(home, "settings.yaml")); err != nil {
			t.Fatal(err)
		}
		o := hardshell.Options{Home: home, Workspace: dir}
		if name == "in a writable root" {
			o.Workspace = physical(t)
			o.WritableRoots = []string{dir}
		}
		h, err := hardshell.Open(t.Context(), o)
		if err == nil {
			h.Close(context.Background())
		}
		if hardshell.CodeOf(err) != hardshell.ErrInvalidArgument || !strings.Contains(err.Error(), document) {
			t.Errorf("settings %s: %v", name, err)
		}
		// Elsewhere they are obeyed.
		o.Workspace, o.WritableRoots = physical(t), nil
		if h, err = hardshell.Open(t.Context(), o); err != nil {
			t.Fatalf("settings %s, and a workspace elsewhere: %v", name, err)
		}
		h.Close(context.Background())
	}
}

// Links of directories lead to the settings as links of files do, and so does one
// that a home is reached by; and where they lead can change while a harness runs.
func TestWhatLeadsToTheSettingsIsGuarded(t *testing.T) {
	make := func(t *testing.T) (home, workspace, safe string) {
		home, workspace, safe = filepath.Join(physical(t), "home"), physical(t), physical(t)
		for _, dir := range []string{workspace, safe} {
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(safe, "c.yaml"), []byte("sandbox: {mode: workspace-write}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return home, workspace, safe
	}
	link := func(t *testing.T, to, at string) {
		t.Helper()
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(t *testing.T, o hardshell.Options) {
		t.Helper()
		h, err := hardshell.Open(t.Context(), o)
		if err == nil {
			h.Close(context.Background())
		}
		if hardshell.CodeOf(err) != hardshell.ErrInvalidArgument || !strings.Contains(err.Error(), "a command could change the settings") {
			t.Errorf("it gives %v", err)
		}
	}
	t.Run("a directory link in the workspace", func(t *testing.T) {
		home, workspace, safe := make(t)
		link(t, safe, filepath.Join(workspace, "ld"))
		link(t, filepath.Join(workspace, "ld", "c.yaml"), filepath.Join(home, "settings.yaml"))
		refused(t, hardshell.Options{Home: home, Workspace: workspace})
	})
	t.Run("a cache of commands in the home", func(t *testing.T) {
		home, workspace, _ := make(t)
		if err := os.MkdirAll(filepath.Join(home, "cache", "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		link(t, filepath.Join(home, "cache", "x", "c.yaml"), filepath.Join(home, "settings.yaml"))
		refused(t, hardshell.Options{Home: home, Workspace: workspace})
	})
	t.Run("a home behind a link in the workspace", func(t *testing.T) {
		home, workspace, _ := make(t)
		link(t, home, filepath.Join(workspace, "hl"))
		refused(t, hardshell.Options{Home: filepath.Join(workspace, "hl"), Workspace: workspace})
	})
	t.Run("a home in the workspace", func(t *testing.T) {
		_, workspace, _ := make(t)
		open(t, hardshell.Options{Home: filepath.Join(workspace, "home"), Workspace: workspace})
	})
	t.Run("a link that is led elsewhere", func(t *testing.T) {
		home, workspace, _ := make(t)
		h := open(t, hardshell.Options{Home: home, Workspace: workspace})
		if mode := h.Policy().Mode; mode != sandbox.WorkspaceWrite {
			t.Fatalf("the mode is %s", mode)
		}
		if err := os.WriteFile(filepath.Join(workspace, "s.yaml"), []byte("sandbox: {mode: danger-full-access}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		link(t, filepath.Join(workspace, "s.yaml"), filepath.Join(home, "settings.yaml"))
		if mode := h.Policy().Mode; mode != sandbox.ReadOnly {
			t.Errorf("settings in the workspace give %s", mode)
		}
	})
}
