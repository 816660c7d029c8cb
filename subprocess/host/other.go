//go:build !unix

package host

import (
	"context"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/record"
	"hardshell/sandbox"
	"hardshell/subprocess"
)

// Runtime refuses every spawn: this platform has no process groups and signals.
type Runtime struct{}

var _ subprocess.Runtime = (*Runtime)(nil)

// New returns a runtime that refuses every spawn.
func New(Config) *Runtime { return &Runtime{} }

// Sandbox returns a provider that refuses every policy.
func (r *Runtime) Sandbox() sandbox.Provider { return provider{} }

// Spilled reports false.
func (r *Runtime) Spilled() bool { return false }

// Spawn refuses with SPAWN_FAILED.
func (r *Runtime) Spawn(context.Context, subprocess.Spec) (subprocess.Handle, error) {
	return nil, errPlatform
}

// ResolveExecutable refuses with SPAWN_FAILED.
func (r *Runtime) ResolveExecutable(context.Context, string, map[string]string) (string, error) {
	return "", errPlatform
}

// SetOrphanAfter does nothing.
func (r *Runtime) SetOrphanAfter(time.Duration) {}

// Recorded is a command of which a record is kept: there are none here.
type Recorded struct{}

// Watch refuses with SPAWN_FAILED.
func (r *Runtime) Watch(string) (*Recorded, error) { return nil, errPlatform }

// Done never ends.
func (*Recorded) Done() <-chan struct{} { return nil }

// Status is nil.
func (*Recorded) Status() *record.Status { return nil }

// Stop refuses.
func (*Recorded) Stop(string, bool) error { return errPlatform }

// Input refuses.
func (*Recorded) Input(context.Context, []byte, bool) error { return errPlatform }

// Promote refuses.
func (*Recorded) Promote(context.Context, string) error { return errPlatform }

// Close does nothing.
func (r *Runtime) Close(context.Context) error { return nil }

var errPlatform = fault.New(fault.SpawnFailed, "hardshell runs commands on Linux and macOS only: on Windows, use it inside WSL 2")

type provider struct{}

func (provider) Confine(_ context.Context, policy sandbox.Policy) (sandbox.Confinement, error) {
	return nil, sandbox.Unavailable(policy.Mode, "")
}

func (provider) Close() error { return nil }
