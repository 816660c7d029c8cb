package sandbox

import (
	"context"

	"hardshell/subprocess"
)

// Provider turns policies into confinements. It keeps no policy: calls that
// overlap may have different ones. It is safe for concurrent use.
type Provider interface {
	// Confine makes what a policy needs on this host, or finds it made.
	// INVALID_ARGUMENT for a policy that is none, ABORTED when ctx ended first,
	// SANDBOX_UNAVAILABLE for everything else: nothing less than what the
	// Report says is ever enforced. DangerFullAccess is decided by the caller
	// and refused here with INVARIANT.
	Confine(ctx context.Context, policy Policy) (Confinement, error)
	// Close ends what Confine made, with every process in it, and returns when
	// all is gone. Commands are best ended before, by their runtime.
	Close() error
}

// Confinement is a way to spawn under one policy. It stays usable until its
// provider is closed, and is safe for concurrent use.
type Confinement interface {
	// As a Confinement of a subprocess.Spec it confines what is spawned.
	subprocess.Confinement
	// Report is what is enforced.
	Report() Report
	// Denied reports whether a command that ended so was refused something by
	// this confinement, as far as its output shows.
	Denied(Outcome) bool
}

// Outcome is what is known of a finished command.
type Outcome struct {
	// ExitCode is nil after death by a signal.
	ExitCode *int
	Workdir  string
	Stderr   string
}

// Report is what a confinement enforces, never better than the truth.
type Report struct {
	Mode Mode
	// Backend is what confines, "native" for instance, Tier how.
	Backend string
	Tier    Tier
	Network Network
	Effects Effects
}

// Tier is a way to confine.
type Tier string

// The tiers, from the most complete on.
const (
	// TierNamespaces is user, mount, pid, ipc and uts namespaces.
	TierNamespaces Tier = "namespaces"
	// TierRoot is the same, made by root without a user namespace.
	TierRoot Tier = "root-namespaces"
	// TierLandlock is Landlock and seccomp alone.
	TierLandlock Tier = "landlock"
)

// Enforcement says how completely something was enforced.
type Enforcement string

// Enforcement is never reported better than the truth.
const (
	Full    Enforcement = "full"
	Partial Enforcement = "partial"
)

// Effects is the enforcement of each class of effects.
type Effects struct {
	// Write is creating, changing, deleting and renaming files.
	Write Enforcement `json:"write"`
	// Metadata is modes, owners, times and extended attributes.
	Metadata Enforcement `json:"metadata"`
	// ProtectedPaths is what stays read-only inside of writable roots.
	ProtectedPaths Enforcement `json:"protected-paths"`
	// Read is what is hidden.
	Read Enforcement `json:"read"`
	// Visibility is that the processes outside cannot be seen, Signal that they
	// cannot be signalled or traced.
	Visibility Enforcement `json:"visibility"`
	Signal     Enforcement `json:"signal"`
	// Unix is the Unix sockets of the host.
	Unix Enforcement `json:"unix"`
	// Network is what the policy leaves open: NetworkOpen, or NetworkNone when
	// it is enforced.
	Network Network `json:"network"`
}

// Enforcement sums the classes up: Full when every one of them is.
func (e Effects) Enforcement() Enforcement {
	for _, class := range []Enforcement{e.Write, e.Metadata, e.ProtectedPaths, e.Read, e.Visibility, e.Signal, e.Unix} {
		if class != Full {
			return Partial
		}
	}
	return Full
}

// Info returns the facts of a command that ran under r.
func (r *Report) Info(denied bool) *Info {
	effects := r.Effects
	return &Info{
		Mode: r.Mode, Denied: denied, Enforcement: effects.Enforcement(),
		Backend: r.Backend, Tier: r.Tier, Network: r.Network, Effects: &effects,
	}
}
