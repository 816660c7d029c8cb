//go:build linux && !amd64

package native

import (
	"fmt"

	"hardshell/internal/spawn"
	"hardshell/sandbox"
)

// build makes a confinement of one tier, or says why the tier is not available.
func (p *Provider) build(tier sandbox.Tier, plan *plan) (confinement, error) {
	if tier == sandbox.TierLandlock {
		return newFence(plan)
	}
	return nil, fmt.Errorf("namespaces are not supported on this architecture yet")
}

// confine is nil: the restricted thread has all that its children need.
func (f *fence) confine() *spawn.Confine { return nil }
