//go:build linux

package host_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hardshell/internal/fault"
	"hardshell/sandbox"
	"hardshell/subprocess"
	"hardshell/subprocess/host"
)

func native(c *host.Config) { c.Command = []string{os.Args[0], nativeArgument} }

// confined returns a spec that the native sandbox of the host confines to a
// workspace, which it also returns.
func (f *fixture) confined(r *host.Runtime, script string) (spec subprocess.Spec, workspace string) {
	f.Helper()
	workspace, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	c, err := r.Sandbox().Confine(context.Background(), sandbox.Policy{
		Mode: sandbox.WorkspaceWrite, WorkspaceRoot: workspace, SessionID: session,
	})
	if errors.Is(err, fault.SandboxUnavailable) {
		f.Skipf("skipped: %v", err)
	}
	if err != nil {
		f.Fatal(err)
	}
	spec = f.spec(script)
	spec.Confinement, spec.Dir = c, workspace
	return spec, workspace
}

func TestNativeSandboxOfTheHost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.client(native)
	spec, workspace := f.confined(r, `echo inside >file; echo x >"$2/outside"; cat "$2"/run/*.key; true`)
	h := f.start(r, spec)
	f.await(h)
	if e := h.Exit(); e.Code != 0 {
		t.Errorf("Exit = %+v, stderr %q", e, h.Reader(subprocess.Stderr).Collected().Text)
	}
	if data, err := os.ReadFile(filepath.Join(workspace, "file")); string(data) != "inside\n" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(f.home.Root(), "outside")); err == nil {
		t.Error("a confined command writes outside of its workspace")
	}
	if out := h.Reader(subprocess.Stdout).Collected(); out.Bytes != 0 {
		t.Error("a confined command reads the key of its host")
	}
	// A second client's commands are in the same sandbox, as far as there is one.
	other := f.client(native)
	spec, _ = f.confined(other, `echo "$TMPDIR"`)
	h = f.start(other, spec)
	f.await(h)
	if text := h.Reader(subprocess.Stdout).Collected().Text; !strings.HasPrefix(text, "/") {
		t.Errorf("TMPDIR is %q", text)
	}
}

func TestKilledHostTakesItsSandboxAlong(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.client(native)
	pid := f.hostOf(r)
	spec, _ := f.confined(r, `(setsid sleep "$1" &); sleep "$1"; :`)
	h := f.start(r, spec)
	f.awaitAlive(2)
	syscall.Kill(pid, syscall.SIGKILL)
	f.await(h)
	if err := h.WaitTree(context.Background()); err != nil || len(f.alive()) != 0 {
		t.Errorf("WaitTree = %v; %v are alive", err, f.alive())
	}
	f.hostOf(r) // cleans up what the dead host has left
}
