package native

import (
	"fmt"

	"hardshell/sandbox"
)

// build makes a confinement of one tier, or says why the tier is not available.
func (p *Provider) build(tier sandbox.Tier, plan *plan) (confinement, error) {
	switch tier {
	case sandbox.TierNamespaces, sandbox.TierRoot:
		return newSpace(tier, plan)
	case sandbox.TierLandlock:
		return newFence(plan)
	default:
		return nil, fmt.Errorf("there is no such tier")
	}
}
