package compose

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"hardshell/plugin"
	"hardshell/sandbox"
	"hardshell/sandbox/native"
	"hardshell/sandbox/policy"
	"hardshell/shell/confined"
)

// Overrides are what the opener of a harness asks for in place of the
// composition's policy. Zero fields leave that as it is.
type Overrides struct {
	Mode    sandbox.Mode
	Network sandbox.Network
	// WritableRoots are added to the policy's; relative ones are taken from the
	// working directory of this process.
	WritableRoots []string
	// MaxJobs is maxConcurrentJobsPerOwner of the row "jobs".
	MaxJobs int
}

// defaultPolicy is the shipped policy.
func defaultPolicy() SandboxPolicyConfig {
	return SandboxPolicyConfig{
		Mode: sandbox.WorkspaceWrite, Network: sandbox.NetworkOpen,
		Sockets: []string{socketsOwn}, Caches: sandbox.CachesPrivate,
		PIDs: sandbox.DefaultPIDs, Ptrace: ptraceAllow,
	}
}

// The words of SandboxPolicyConfig.
const (
	socketsOwn  = "own"
	socketsHost = "host"
	ptraceAllow = "allow"
	ptraceDeny  = "deny"
)

// Tiers returns the tiers that a row allows.
func (c SandboxConfig) Tiers() ([]sandbox.Tier, error) {
	if c.Backend == BackendAuto {
		return nil, nil
	}
	tiers := native.Tiers()
	if i := slices.Index(tiers, sandbox.Tier(c.Backend)); i >= 0 {
		return tiers[i : i+1], nil
	}
	return nil, fmt.Errorf("there is no sandbox backend %q: use %s, %s, %s or %s", c.Backend, BackendAuto, tiers[0], tiers[1], tiers[2])
}

// service makes the policy service of a row.
func (c SandboxPolicyConfig) service(in Surroundings) (*policy.Service, error) {
	config := policy.Config{
		Mode: c.Mode, WorkspaceRoot: in.Workspace, Network: c.Network,
		WritableRoots: slices.Clone(c.WritableRoots), Protect: c.Protect, Hide: c.Hide,
		Caches: c.Caches, PIDs: c.PIDs,
	}
	if in.Overrides.Mode != "" {
		config.Mode = in.Overrides.Mode
	}
	if in.Overrides.Network != "" {
		config.Network = in.Overrides.Network
	}
	switch {
	case slices.Equal(c.Sockets, []string{socketsOwn}):
	case slices.Equal(c.Sockets, []string{socketsHost}):
		config.Sockets.Host = true
	default:
		config.Sockets.Paths = c.Sockets
	}
	switch c.Ptrace {
	case ptraceAllow:
	case ptraceDeny:
		config.DenyPtrace = true
	default:
		return nil, fmt.Errorf("ptrace is %q: use %s or %s", c.Ptrace, ptraceAllow, ptraceDeny)
	}
	for _, root := range in.Overrides.WritableRoots {
		absolute, err := filepath.Abs(root)
		if err != nil {
			return nil, err
		}
		config.WritableRoots = append(config.WritableRoots, absolute)
	}
	service, err := policy.New(config)
	if err != nil {
		return nil, err
	}
	return service, in.guarded(service.Default())
}

// livePolicies says what confines the commands of one session, as the settings
// stand.
type livePolicies struct {
	in      Surroundings
	service atomic.Pointer[policy.Service]
	session policy.Session
}

// Default implements confined.Policies. The service refuses nothing that it was
// made with.
func (p *livePolicies) Default() sandbox.Policy {
	service := p.service.Load()
	resolved, err := service.Resolve(&p.session, "")
	if err != nil {
		resolved = service.Default()
		resolved.Mode = sandbox.ReadOnly
	}
	// The workspace of a session is what it was when the session was opened, and
	// the other roots what they were when the policy was.
	resolved.WorkspaceRoot, resolved.Physical = p.session.Workspace, true
	resolved.UserHome, _ = os.UserHomeDir() // the provider may be another process
	if p.in.guarded(resolved) != nil {
		// The settings were led to where commands write: they grant nothing.
		resolved.Mode = sandbox.ReadOnly
	}
	return resolved
}

// applySandboxPolicy has what the row and the settings say confine commands.
func (c *Composition) applySandboxPolicy(_ context.Context, a *plugin.Activation) error {
	p := &livePolicies{in: c.in, session: policy.Session{ID: c.in.SessionID, Workspace: c.in.Workspace}}
	config, err := follow(c, a, policySettings(c.in))
	if err != nil {
		return err
	}
	err = config.live(a, func(config SandboxPolicyConfig) error {
		service, err := config.service(c.in)
		if err == nil {
			p.service.Store(service)
		}
		return err
	})
	if err != nil {
		return err
	}
	return plugin.Provide(a.Scope, policiesKey, confined.Policies(p))
}
