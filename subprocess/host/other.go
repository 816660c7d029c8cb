//go:build !unix

package host

import (
	"context"

	"hardshell/internal/fault"
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

// Close does nothing.
func (r *Runtime) Close(context.Context) error { return nil }

var errPlatform = fault.New(fault.SpawnFailed, "hardshell runs commands on Linux and macOS only: on Windows, use it inside WSL 2")

type provider struct{}

func (provider) Confine(_ context.Context, policy sandbox.Policy) (sandbox.Confinement, error) {
	return nil, sandbox.Unavailable(policy.Mode, "")
}

func (provider) Close() error { return nil }
