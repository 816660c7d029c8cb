package shelltest

import (
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/shell"
	"hardshell/subprocess"
)

// settings checks an executor whose settings change while it serves.
func (s suite) settings(t *testing.T) {
	t.Run("the next command has the new ones", func(t *testing.T) {
		t.Parallel()
		r := s.reconfigurable(t, Options{Timeout: 2 * time.Second, MaxOutputBytes: 100})
		elsewhere := tempDir(t)
		r.mustReconfigure(t, Options{
			Timeout: 5 * time.Second, MaxTimeout: 7 * time.Second, MaxOutputBytes: 10, MaxSpillBytes: 50,
			Grace: time.Second, Workdir: elsewhere,
		})
		spec := r.mustResolve(t, shell.Request{})
		if spec.Timeout != 5*time.Second || spec.StdoutMaxBytes != 10 || spec.Workdir != elsewhere {
			t.Errorf("timeout %v, budget %d, workdir %q are not the new ones", spec.Timeout, spec.StdoutMaxBytes, spec.Workdir)
		}
		if got := r.mustResolve(t, shell.Request{Timeout: time.Hour}).Timeout; got != 7*time.Second {
			t.Errorf("the cap is %v, want the new one", got)
		}
		res := r.sh(t, "pwd >&2; printf '%060d' 0")
		if len(res.Stderr.Text) > 10 || res.Stdout.Text != strings.Repeat("0", 10) || res.Stdout.SpillPath != "" {
			t.Errorf("output is collected by other limits: %+v, %+v", res.Stdout, res.Stderr)
		}
	})
	t.Run("a command that runs keeps its own", func(t *testing.T) {
		t.Parallel()
		r := s.reconfigurable(t, Options{MaxOutputBytes: 100})
		p := r.bg(t, gate("go")+"; printf '%060d' 0")
		r.mustReconfigure(t, Options{MaxOutputBytes: 10, Workdir: "/", Grace: time.Second})
		touch(t, r.path("go"))
		wantState(t, settle(t, p), shell.Completed, 0, "")
		if read := p.ReadOutput(); read.Delta != strings.Repeat("0", 60) || read.Lossy {
			t.Errorf("read %+v, want all 60 bytes", read)
		}
	})
	t.Run("invalid ones are refused by name and change nothing", func(t *testing.T) {
		t.Parallel()
		r := s.reconfigurable(t, Options{Timeout: 2 * time.Second})
		for field, o := range map[string]Options{
			"timeoutMs":      {Timeout: -1},
			"maxTimeoutMs":   {MaxTimeout: -1},
			"maxOutputBytes": {MaxOutputBytes: -1},
			"maxSpillBytes":  {MaxSpillBytes: -1},
			"graceMs":        {Grace: -1},
			"graceMs must be no greater than 2147483647": {Grace: subprocess.MaxGrace + 1},
		} {
			wantFault(t, r.reconfigure(o), fault.InvalidArgument, field)
		}
		if got := r.mustResolve(t, shell.Request{}).Timeout; got != 2*time.Second {
			t.Errorf("the timeout is %v, want the old one", got)
		}
		wantExit(t, r.sh(t, "exit 3"), 3)
	})
}

func (s suite) reconfigurable(t *testing.T, o Options) *rig {
	t.Helper()
	r := s.rig(t, o)
	if r.reconfigure == nil {
		t.Skip("this executor's settings do not change")
	}
	return r
}

func (r *rig) mustReconfigure(t *testing.T, o Options) {
	t.Helper()
	if err := r.reconfigure(o); err != nil {
		t.Fatalf("valid settings are refused: %v", err)
	}
}
