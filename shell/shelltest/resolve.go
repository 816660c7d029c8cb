package shelltest

import (
	"bytes"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/subprocess"
)

const (
	ms = time.Millisecond

	// The numbers of the contract.
	defaultTimeout        = 120 * time.Second
	defaultMaxTimeout     = 600 * time.Second
	defaultMaxOutputBytes = 64000
)

func (s suite) resolve(t *testing.T) {
	t.Run("fills the documented defaults", func(t *testing.T) {
		t.Parallel()
		r := s.bareRig(t, Options{})
		spec := r.mustResolve(t, shell.Request{Command: "true"})
		if spec.Timeout != defaultTimeout || spec.StdoutMaxBytes != defaultMaxOutputBytes {
			t.Errorf("timeout %v, budget %d; want %v, %d", spec.Timeout, spec.StdoutMaxBytes, defaultTimeout, defaultMaxOutputBytes)
		}
		if got := r.mustResolve(t, shell.Request{Timeout: time.Hour}).Timeout; got != defaultMaxTimeout {
			t.Errorf("an hour resolves to %v, want the cap of %v", got, defaultMaxTimeout)
		}
	})
	t.Run("timeout", s.resolveTimeout)
	t.Run("refuses values out of range", s.resolveRefusals)
	t.Run("budget", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{MaxOutputBytes: 500})
		for request, want := range map[int64]int64{0: 500, 9: 9, 501: 501, 1 << 40: 1 << 40} {
			if got := r.mustResolve(t, shell.Request{StdoutMaxBytes: request}).StdoutMaxBytes; got != want {
				t.Errorf("budget %d resolves to %d, want %d", request, got, want)
			}
		}
	})
	t.Run("workdir is the request's, then the executor's, then the harness's", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		if got := r.mustResolve(t, shell.Request{}).Workdir; got != r.dir {
			t.Errorf("no workdir resolves to %q, want the executor's %q", got, r.dir)
		}
		// A relative one is left to the kernel, which starts at the harness's.
		for _, dir := range []string{"/", "sub/dir", "lnk/..", "/nonexistent-place"} {
			if got := r.mustResolve(t, shell.Request{Workdir: dir}).Workdir; got != dir {
				t.Errorf("workdir %q resolves to %q, want it as it is", dir, got)
			}
		}
		cwd, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.bareRig(t, Options{}).mustResolve(t, shell.Request{}).Workdir; got != cwd {
			t.Errorf("with no workdir at all it resolves to %q, want the harness's %q", got, cwd)
		}
	})
	t.Run("carries the rest as it is", s.resolveCarries)
	t.Run("leaves what is absent absent", func(t *testing.T) {
		t.Parallel()
		spec := s.rig(t, Options{}).mustResolve(t, shell.Request{Command: "true"})
		if spec.Stdin != nil || spec.Env != nil || spec.Argv != nil || spec.Stdout != nil || spec.Stderr != nil || len(spec.DshEnv.Names()) != 0 {
			t.Errorf("the spec has more than the request: %+v", spec)
		}
	})
	t.Run("looks at nothing", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{Workdir: "/nonexistent-place"})
		for _, req := range []shell.Request{
			{}, {Command: ""}, {Command: "if"}, {Command: "a\x00b"},
			{Workdir: "/etc/passwd"}, {Env: map[string]string{"PATH": ""}},
		} {
			if _, err := r.Resolve(req); err != nil {
				t.Errorf("Resolve(%q in %q): %v", req.Command, req.Workdir, err)
			}
		}
	})
	t.Run("fills a policy exactly when the executor confines", func(t *testing.T) {
		t.Parallel()
		r := s.rig(t, Options{})
		spec := r.mustResolve(t, shell.Request{Command: "true"})
		mode, confines := r.SandboxMode()
		switch {
		case !confines && mode != "":
			t.Errorf("an executor that does not confine has the mode %q", mode)
		case !confines && spec.SandboxPolicy != nil:
			t.Errorf("the policy is %+v, want none", spec.SandboxPolicy)
		case confines && (spec.SandboxPolicy == nil || spec.SandboxPolicy.Mode != mode):
			t.Errorf("the policy is %+v, want one of mode %q", spec.SandboxPolicy, mode)
		}
		policy := &sandbox.Policy{Mode: sandbox.WorkspaceWrite, WorkspaceRoot: r.dir}
		spec = r.mustResolve(t, shell.Request{SandboxPolicy: policy})
		if spec.SandboxPolicy == nil || !reflect.DeepEqual(spec.SandboxPolicy, policy) {
			t.Errorf("the request's policy became %+v", spec.SandboxPolicy)
		}
	})
}

func (s suite) resolveTimeout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		config, max time.Duration
		request     time.Duration
		uncapped    bool
		want        time.Duration
	}{
		{"none is the default", 1000 * ms, 2000 * ms, 0, false, 1000 * ms},
		{"one below the cap stays", 1000 * ms, 2000 * ms, 1999 * ms, false, 1999 * ms},
		{"one at the cap stays", 1000 * ms, 2000 * ms, 2000 * ms, false, 2000 * ms},
		{"one above the cap is capped", 1000 * ms, 2000 * ms, 99999 * ms, false, 2000 * ms},
		{"a default above the cap is capped", 5000 * ms, 2000 * ms, 0, false, 2000 * ms},
		{"a fraction of a millisecond stays", 1000 * ms, 2000 * ms, 1, false, 1},
		{"none at all is capped", 1000 * ms, 2000 * ms, shell.NoTimeout, false, 2000 * ms},
		{"a person's own is not capped", 1000 * ms, 2000 * ms, 99999 * ms, true, 99999 * ms},
		{"a person may have none", 1000 * ms, 2000 * ms, shell.NoTimeout, true, shell.NoTimeout},
		{"a person who says nothing has the default", 1000 * ms, 2000 * ms, 0, true, 1000 * ms},
		{"a month is no limit", 1000 * ms, 30 * 24 * time.Hour, 29 * 24 * time.Hour, false, 29 * 24 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.rig(t, Options{Timeout: c.config, MaxTimeout: c.max})
			got := r.mustResolve(t, shell.Request{Timeout: c.request, TimeoutUncapped: c.uncapped}).Timeout
			if got != c.want {
				t.Errorf("resolves to %v, want %v", got, c.want)
			}
		})
	}
}

func (s suite) resolveRefusals(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	for _, c := range []struct {
		name, text string
		req        shell.Request
	}{
		{"a negative timeout", "request.timeoutMs must be a positive finite number", shell.Request{Timeout: -1}},
		{"a person's negative timeout", "request.timeoutMs must be a positive finite number", shell.Request{Timeout: -time.Second, TimeoutUncapped: true}},
		{"a command beside an argv", "", shell.Request{Command: "true", Argv: []string{"true"}}},
		{"a negative budget", "request.stdoutMaxBytes must be a positive finite number", shell.Request{StdoutMaxBytes: -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := r.Resolve(c.req)
			wantFault(t, err, fault.InvalidArgument, c.text)
		})
	}
}

func (s suite) resolveCarries(t *testing.T) {
	t.Parallel()
	r := s.rig(t, Options{})
	stdin, stdout, stderr := strings.NewReader("p\n"), new(bytes.Buffer), new(bytes.Buffer)
	env := map[string]string{"A": "x", "DSH_C": "c"}
	req := shell.Request{
		Argv:  []string{"a", "", "-b c"},
		Stdin: stdin, Env: env, DshEnv: managed(t, map[string]string{"DSH_B": "y"}),
		Stdout: stdout, Stderr: stderr,
	}
	spec := r.mustResolve(t, req)
	if spec.Command != "" || !slices.Equal(spec.Argv, []string{"a", "", "-b c"}) {
		t.Errorf("command %q, argv %q", spec.Command, spec.Argv)
	}
	if command := r.mustResolve(t, shell.Request{Command: " if\n"}).Command; command != " if\n" {
		t.Errorf("the command is %q", command)
	}
	if spec.Stdin != stdin || spec.Stdout != stdout || spec.Stderr != stderr {
		t.Error("a stream is not the request's")
	}
	if !maps.Equal(spec.Env, env) || len(env) != 2 {
		t.Errorf("env is %v and the request's %v", spec.Env, env)
	}
	if value, ok := spec.DshEnv.Get("DSH_B"); value != "y" || !ok {
		t.Errorf("DSH_B is %q, %v", value, ok)
	}
}

func (r *rig) mustResolve(t *testing.T, req shell.Request) shell.Spec {
	t.Helper()
	spec, err := r.Resolve(req)
	if err != nil {
		t.Fatalf("Resolve: %v", err)
	}
	return spec
}

func managed(t *testing.T, vars map[string]string) shell.DshEnvironment {
	t.Helper()
	env, err := subprocess.NewDshEnvironment(vars)
	if err != nil {
		t.Fatal(err)
	}
	return env
}
