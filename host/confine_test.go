//go:build linux

package host_test

import (
	"context"
	"errors"
	"testing"

	"hardshell/internal/fault"
	"hardshell/sandbox"
	"hardshell/subprocess"
)

func TestConfinedCommandsAreConfinedByTheHost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.client()
	ctx := context.Background()
	policy := sandbox.Policy{Mode: sandbox.ReadOnly, WorkspaceRoot: "/w", Hide: []string{"/secret"}}
	c, err := r.Sandbox().Confine(ctx, policy)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.Sandbox().Confine(ctx, policy); err != nil || again != c {
		t.Errorf("Confine again = %v, %v; want the same", again, err)
	}
	if report := c.Report(); report.Mode != sandbox.ReadOnly || report.Backend != "fake" || c.Confines() != "fake" {
		t.Errorf("the report is %+v of %s", report, c.Confines())
	}
	if c.Denied(sandbox.Outcome{Stderr: "fine"}) || !c.Denied(sandbox.Outcome{Stderr: "denied"}) {
		t.Error("the outcome is not judged by the host's sandbox")
	}
	for confinement, want := range map[subprocess.Confinement]string{c: "read-only\n", nil: "none\n"} {
		spec := f.spec(`echo "${CONFINED-none}"`)
		spec.Confinement = confinement
		h := f.start(r, spec)
		f.await(h)
		if got := h.Reader(subprocess.Stdout).Collected().Text; got != want {
			t.Errorf("the command is confined by %q, want %q", got, want)
		}
	}
}

func TestWhatCannotBeConfinedIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.client()
	ctx := context.Background()
	for name, tt := range map[string]struct {
		policy sandbox.Policy
		want   fault.Code
	}{
		"the host's sandbox refuses": {sandbox.Policy{Mode: sandbox.ReadOnly, WorkspaceRoot: "/refused"}, fault.SandboxUnavailable},
		"an unknown mode":            {sandbox.Policy{Mode: "open", WorkspaceRoot: "/w"}, fault.InvalidArgument},
		"a path that cannot cross":   {sandbox.Policy{Mode: sandbox.ReadOnly, WorkspaceRoot: "/w", Hide: []string{"/a\xff"}}, fault.SandboxUnavailable},
	} {
		if c, err := r.Sandbox().Confine(ctx, tt.policy); c != nil || !errors.Is(err, tt.want) {
			t.Errorf("%s: Confine = %v, %v; want %s", name, c, err, tt.want)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.Sandbox().Confine(ended, sandbox.Policy{Mode: sandbox.ReadOnly, WorkspaceRoot: "/w"}); !errors.Is(err, fault.Aborted) {
		t.Errorf("Confine = %v, want ABORTED", err)
	}
	spec := f.spec("echo ran")
	spec.Confinement = fakeConfinement{}
	if h, err := r.Spawn(ctx, spec); h != nil || !errors.Is(err, fault.SandboxUnavailable) {
		t.Errorf("Spawn with a foreign confinement = %v, %v; want SANDBOX_UNAVAILABLE", h, err)
	}
}
