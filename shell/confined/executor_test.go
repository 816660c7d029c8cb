//go:build linux

package confined_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/spawn"
	"hardshell/sandbox"
	"hardshell/sandbox/native"
	"hardshell/shell"
	"hardshell/shell/bash"
	"hardshell/shell/confined"
	"hardshell/subprocess/local"
)

// spy is a provider that confines nothing, remembers what it was asked, and
// fails when told to.
type spy struct {
	mu       sync.Mutex
	policies []sandbox.Policy
	fail     error // of Confine
	failing  error // of the spawn
}

func (s *spy) Confine(_ context.Context, policy sandbox.Policy) (sandbox.Confinement, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policies = append(s.policies, policy)
	if s.fail != nil {
		return nil, s.fail
	}
	return &pretence{mode: policy.Mode, fail: s.failing}, nil
}

func (s *spy) Close() error { return nil }

func (s *spy) asked() []sandbox.Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.policies
}

// pretence is a confinement that confines nothing. What its commands print on
// standard error is what it says of them.
type pretence struct {
	mode sandbox.Mode
	fail error
}

func (p *pretence) Confines() string { return "nothing" }

func (p *pretence) Report() sandbox.Report {
	return sandbox.Report{Mode: p.mode, Backend: "pretence", Tier: sandbox.TierLandlock, Network: sandbox.NetworkOpen}
}

func (p *pretence) Denied(o sandbox.Outcome) bool { return strings.Contains(o.Stderr, "DENIED") }

func (p *pretence) Start(attr *spawn.Attr) (*spawn.Child, error) {
	if p.fail != nil {
		return nil, p.fail
	}
	return spawn.Start(attr)
}

// open returns an executor over provider whose standing mode is mode.
func open(t *testing.T, provider sandbox.Provider, mode sandbox.Mode) *confined.Executor {
	t.Helper()
	runtime := local.New(local.Config{SpillDir: t.TempDir()})
	t.Cleanup(func() { runtime.Close(context.Background()) })
	config := bash.DefaultConfig()
	config.Workdir = "/" // this package's own directory may be in /tmp
	executor, err := confined.New(runtime, provider, standing{Mode: mode, WorkspaceRoot: "/"}, config)
	if err != nil {
		t.Fatal(err)
	}
	return executor
}

func resolve(t *testing.T, e shell.Executor, r shell.Request) shell.Spec {
	t.Helper()
	spec, err := e.Resolve(r)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestEveryCallIsConfinedByItsPolicy(t *testing.T) {
	t.Parallel()
	s := &spy{}
	e := open(t, s, sandbox.ReadOnly)
	own := &sandbox.Policy{Mode: sandbox.WorkspaceWrite, WorkspaceRoot: "/w", SessionID: "s"}
	for _, policy := range []*sandbox.Policy{nil, own, nil} {
		if _, err := e.Run(t.Context(), resolve(t, e, shell.Request{Command: "true", SandboxPolicy: policy})); err != nil {
			t.Fatal(err)
		}
	}
	var modes []string
	for _, p := range s.asked() {
		modes = append(modes, string(p.Mode)+" "+p.WorkspaceRoot+" "+p.SessionID)
	}
	if got, want := strings.Join(modes, ", "), "read-only / , workspace-write /w s, read-only / "; got != want {
		t.Errorf("the provider was asked for %s, want %s", got, want)
	}
	if mode, confines := e.SandboxMode(); mode != sandbox.ReadOnly || !confines {
		t.Errorf("the executor's mode is %q, %v", mode, confines)
	}
}

func TestFullAccessNeverAsksTheProvider(t *testing.T) {
	t.Parallel()
	s := &spy{fail: sandbox.Unavailable(sandbox.ReadOnly, "no host")}
	e := open(t, s, sandbox.DangerFullAccess)
	result, err := e.Run(t.Context(), resolve(t, e, shell.Request{Command: "echo DENIED >&2; exit 1"}))
	if err != nil || len(s.asked()) != 0 {
		t.Fatalf("%v, asked %v", err, s.asked())
	}
	if *result.Sandbox != (sandbox.Info{Mode: sandbox.DangerFullAccess}) {
		t.Errorf("the facts are %+v", result.Sandbox)
	}
	process, err := e.Start(t.Context(), resolve(t, e, shell.Request{Command: "true"}))
	if err != nil {
		t.Fatal(err)
	}
	<-process.Done()
	if info := process.State().Sandbox; info == nil || *info != (sandbox.Info{Mode: sandbox.DangerFullAccess}) {
		t.Errorf("the facts of the process are %+v", info)
	}
}

func TestWhatIsUnavailableIsRefusedBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*spy{
		"no sandbox":                 {fail: sandbox.Unavailable(sandbox.ReadOnly, "no host")},
		"the sandbox fails to start": {failing: sandbox.Unavailable(sandbox.ReadOnly, "setns: EPERM")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := open(t, s, sandbox.ReadOnly)
			ran := filepath.Join(t.TempDir(), "ran")
			spec := resolve(t, e, shell.Request{Argv: []string{"touch", ran}})
			result, err := e.Run(t.Context(), spec)
			if result != nil || fault.CodeOf(err) != fault.SandboxUnavailable {
				t.Errorf("Run gives %v, %v", result, err)
			}
			process, err := e.Start(t.Context(), spec)
			if process != nil || fault.CodeOf(err) != fault.SandboxUnavailable {
				t.Errorf("Start gives %v, %v", process, err)
			}
			if matches, _ := filepath.Glob(ran); len(matches) > 0 {
				t.Error("the command ran")
			}
		})
	}
}

func TestAnAbortStaysOneWithoutASandbox(t *testing.T) {
	t.Parallel()
	s := &spy{fail: sandbox.Unavailable(sandbox.ReadOnly, "no host")}
	e := open(t, s, sandbox.ReadOnly)
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := e.Run(ctx, resolve(t, e, shell.Request{Command: "true"})); fault.CodeOf(err) != fault.Aborted || !errors.Is(err, reason) {
		t.Errorf("Run gives %v", err)
	}
}

func TestDenialIsOfTheWholeOfStandardError(t *testing.T) {
	t.Parallel()
	e := open(t, &spy{}, sandbox.ReadOnly)
	for _, c := range []struct {
		command string
		denied  bool
	}{
		{"echo DENIED >&2; exit 1", true},
		{"echo DENIED >&2", false},
		{"echo DENIED >&2; kill -9 $$", false},
		{"exit 1", false},
		{"echo DENIED; exit 1", false},
		{"echo DENIED >&2; head -c 200000 /dev/zero | tr '\\0' x >&2; exit 1", true},
	} {
		result, err := e.Run(t.Context(), resolve(t, e, shell.Request{Command: c.command}))
		if err != nil {
			t.Fatal(err)
		}
		if result.Sandbox == nil || result.Sandbox.Denied != c.denied || result.Sandbox.Backend != "pretence" {
			t.Errorf("%s: the facts are %+v", c.command, result.Sandbox)
		}
	}
}

func TestTheFactsOfAProcessAreThereWhenItIsDone(t *testing.T) {
	t.Parallel()
	e := open(t, &spy{}, sandbox.ReadOnly)
	for range 20 {
		process, err := e.Start(t.Context(), resolve(t, e, shell.Request{Command: "echo DENIED >&2; exit 1"}))
		if err != nil {
			t.Fatal(err)
		}
		<-process.Done()
		if info := process.State().Sandbox; info == nil || !info.Denied || info.Mode != sandbox.ReadOnly {
			t.Fatalf("the facts are %+v", info)
		}
		process.ReadOutput() // a read takes nothing from what was judged
	}
}

func TestOverlappingProcessesKeepTheirOwnFacts(t *testing.T) {
	t.Parallel()
	e := open(t, &spy{}, sandbox.ReadOnly)
	dir := t.TempDir()
	gate := func(name string) string { return filepath.Join(dir, name) }
	start := func(mode sandbox.Mode, name, then string) shell.Process {
		process, err := e.Start(t.Context(), resolve(t, e, shell.Request{
			Command:       "until [ -e '" + gate(name) + "' ]; do sleep 0.01; done; " + then,
			SandboxPolicy: &sandbox.Policy{Mode: mode, WorkspaceRoot: "/"},
		}))
		if err != nil {
			t.Fatal(err)
		}
		return process
	}
	first := start(sandbox.ReadOnly, "first", "echo DENIED >&2; exit 1")
	second := start(sandbox.WorkspaceWrite, "second", "true")
	for _, c := range []struct {
		process shell.Process
		gate    string
		mode    sandbox.Mode
		denied  bool
	}{{second, "second", sandbox.WorkspaceWrite, false}, {first, "first", sandbox.ReadOnly, true}} {
		if _, err := e.Run(t.Context(), resolve(t, e, shell.Request{Argv: []string{"touch", gate(c.gate)}})); err != nil {
			t.Fatal(err)
		}
		<-c.process.Done()
		if info := c.process.State().Sandbox; info == nil || info.Mode != c.mode || info.Denied != c.denied {
			t.Errorf("%s: the facts are %+v", c.gate, info)
		}
	}
}

func TestWhatIsNoPolicyIsRefused(t *testing.T) {
	t.Parallel()
	e := open(t, &spy{}, sandbox.ReadOnly)
	for _, policy := range []sandbox.Policy{{Mode: "all", WorkspaceRoot: "/"}, {Mode: sandbox.ReadOnly, WorkspaceRoot: "here"}, {}} {
		if _, err := e.Resolve(shell.Request{Command: "true", SandboxPolicy: &policy}); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%+v gives %v", policy, err)
		}
	}
	if _, err := e.Run(t.Context(), shell.Spec{Command: "true", Timeout: time.Second, StdoutMaxBytes: 1}); fault.CodeOf(err) != fault.SandboxUnavailable {
		t.Errorf("a spec without a policy gives %v", err)
	}
}

// Real commands, really confined.

func TestCommandsAreReallyConfined(t *testing.T) {
	t.Parallel()
	for _, tier := range native.Tiers() {
		t.Run(string(tier), func(t *testing.T) {
			t.Parallel()
			needTier(t, sandbox.ReadOnly, tier)
			provider, err := native.New(native.Config{Home: filepath.Join(t.TempDir(), "home"), Tiers: []sandbox.Tier{tier}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { provider.Close() })
			e := open(t, provider, sandbox.ReadOnly)
			outside := t.TempDir()
			// A file that bash reads before the command acts inside, too.
			result, err := e.Run(t.Context(), resolve(t, e, shell.Request{
				Command: "echo out > '/usr/hardshell-test'; echo \"in $?\"",
				Env:     map[string]string{"BASH_ENV": "/dev/fd/0"},
				Stdin:   strings.NewReader("touch '" + outside + "/pwned'\n"),
			}))
			if err != nil {
				t.Fatal(err)
			}
			if result.Stdout.Text != "in 1\n" {
				t.Errorf("the command printed %q, %q", result.Stdout.Text, result.Stderr.Text)
			}
			if matches, _ := filepath.Glob(outside + "/*"); len(matches) > 0 {
				t.Errorf("outside there is %v", matches)
			}
			for command, want := range map[string]string{"kill -9 $$": "SIGKILL", "kill -TERM $$": "SIGTERM"} {
				result, err := e.Run(t.Context(), resolve(t, e, shell.Request{Command: command}))
				if err != nil || result.Signal != want || result.ExitCode != nil || result.Sandbox.Denied {
					t.Errorf("%s gives %+v, %v", command, result, err)
				}
			}
			result, err = e.Run(t.Context(), resolve(t, e, shell.Request{Command: "no-such-command"}))
			if err != nil || *result.ExitCode != 127 || result.Sandbox.Tier != tier {
				t.Errorf("a missing command gives %+v, %v", result, err)
			}
		})
	}
}
