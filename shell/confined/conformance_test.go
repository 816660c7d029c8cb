//go:build linux

package confined_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hardshell/sandbox"
	"hardshell/sandbox/native"
	"hardshell/sandbox/sandboxtest"
	"hardshell/shell/bash"
	"hardshell/shell/confined"
	"hardshell/shell/shelltest"
	"hardshell/subprocess/local"
)

// standing is a policy for all calls.
type standing sandbox.Policy

func (s standing) Default() sandbox.Policy { return sandbox.Policy(s) }

// TestConformance runs the suite of the seam: limits, signals, timeouts and output
// are the same in every mode and tier.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it takes a minute")
	}
	for _, c := range []struct {
		name string
		mode sandbox.Mode
		tier sandbox.Tier
	}{
		{"danger-full-access", sandbox.DangerFullAccess, sandbox.TierLandlock},
		{"workspace-write in Landlock", sandbox.WorkspaceWrite, sandbox.TierLandlock},
		{"workspace-write in namespaces", sandbox.WorkspaceWrite, sandbox.TierNamespaces},
	} {
		t.Run(c.name, func(t *testing.T) {
			needTier(t, c.mode, c.tier)
			shelltest.Run(t, func(t *testing.T, o shelltest.Options) shelltest.Fixture {
				return fixture(t, o, c.tier, c.mode)
			})
		})
	}
}

// needTier skips a test that needs a tier which this host does not have.
func needTier(t *testing.T, mode sandbox.Mode, tier sandbox.Tier) {
	t.Helper()
	if mode == sandbox.DangerFullAccess {
		return
	}
	provider, err := native.New(native.Config{Home: filepath.Join(t.TempDir(), "home"), Tiers: []sandbox.Tier{tier}})
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close()
	_, err = provider.Confine(t.Context(), sandbox.Policy{Mode: mode, WorkspaceRoot: os.TempDir()})
	sandboxtest.Need(t, tier, err)
}

// fixture is a confined executor. All temporary directories are its workspace:
// the suite's files are there.
func fixture(t *testing.T, o shelltest.Options, tier sandbox.Tier, mode sandbox.Mode) shelltest.Fixture {
	provider, err := native.New(native.Config{Home: filepath.Join(t.TempDir(), "home"), Tiers: []sandbox.Tier{tier}})
	if err != nil {
		t.Fatal(err)
	}
	runtime := local.New(local.Config{SpillDir: o.SpillDir, Ambient: o.Ambient})
	policy := sandbox.Policy{Mode: mode, WorkspaceRoot: os.TempDir(), Sockets: sandbox.Sockets{Host: true}}
	executor, err := confined.New(runtime, provider, standing(policy), config(o))
	if err != nil {
		t.Fatal(err)
	}
	return shelltest.Fixture{
		Executor: executor, Runtime: runtime,
		Reconfigure: func(o shelltest.Options) error { return executor.Configure(config(o)) },
		Close: func(ctx context.Context) error {
			return errors.Join(runtime.Close(ctx), provider.Close())
		},
	}
}

// config is the default configuration with what a check asks for.
func config(o shelltest.Options) bash.Config {
	c := bash.DefaultConfig()
	c.Workdir = o.Workdir
	override(&c.Timeout, o.Timeout)
	override(&c.MaxTimeout, o.MaxTimeout)
	override(&c.MaxOutputBytes, o.MaxOutputBytes)
	override(&c.MaxSpillBytes, o.MaxSpillBytes)
	override(&c.Grace, o.Grace)
	return c
}

func override[T comparable](field *T, value T) {
	var zero T
	if value != zero {
		*field = value
	}
}
