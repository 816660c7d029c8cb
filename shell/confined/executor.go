package confined

import (
	"context"

	"hardshell/internal/fault"
	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/shell/bash"
	"hardshell/subprocess"
)

// Policies says what confines a call that names no policy of its own.
type Policies interface {
	Default() sandbox.Policy
}

// Executor runs commands with bash, confined. It owns no process and no sandbox:
// those belong to its runtime and its provider.
type Executor struct {
	*bash.Executor
	runtime  subprocess.Runtime
	provider sandbox.Provider
	policies Policies
}

var _ shell.Executor = (*Executor)(nil)

// New returns an executor over a runtime that can spawn under the confinements
// of provider. A limit out of range is an INVALID_ARGUMENT error that names the
// field.
func New(runtime subprocess.Runtime, provider sandbox.Provider, policies Policies, config bash.Config) (*Executor, error) {
	plain, err := bash.New(runtime, config)
	if err != nil {
		return nil, err
	}
	return &Executor{Executor: plain, runtime: runtime, provider: provider, policies: policies}, nil
}

// SandboxMode implements shell.Executor: the mode of a call that names none.
func (e *Executor) SandboxMode() (sandbox.Mode, bool) { return e.policies.Default().Mode, true }

// Resolve implements shell.Executor. It fills in the policy, too, so that whoever
// calls the executor is confined.
func (e *Executor) Resolve(r shell.Request) (shell.Spec, error) {
	if r.SandboxPolicy == nil {
		policy := e.policies.Default()
		r.SandboxPolicy = &policy
	}
	if err := r.SandboxPolicy.Validate(); err != nil {
		return shell.Spec{}, err
	}
	return e.Executor.Resolve(r)
}

// Run implements shell.Executor.
func (e *Executor) Run(ctx context.Context, spec shell.Spec) (*shell.Result, error) {
	through, err := e.through(&spec)
	if err != nil {
		return nil, err
	}
	return through.Run(ctx, spec)
}

// Start implements shell.Executor.
func (e *Executor) Start(ctx context.Context, spec shell.Spec) (shell.Process, error) {
	through, err := e.through(&spec)
	if err != nil {
		return nil, err
	}
	return through.Start(ctx, spec)
}

// through is the executor of one call.
func (e *Executor) through(spec *shell.Spec) (*bash.Executor, error) {
	policy := spec.SandboxPolicy
	switch {
	case policy == nil:
		return nil, fault.New(fault.SandboxUnavailable, "a command without a policy is not run: resolve its request first")
	case policy.Mode == sandbox.DangerFullAccess:
		return e.Executor.Through(e.runtime, func(*shell.Spec, subprocess.Handle) *sandbox.Info {
			return &sandbox.Info{Mode: policy.Mode}
		}), nil
	default:
		call := &call{Runtime: e.runtime, provider: e.provider, policy: *policy}
		return e.Executor.Through(call, call.stamp), nil
	}
}
