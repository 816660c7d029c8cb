package native

import (
	"context"
	"fmt"

	"hardshell/internal/spawn"
	"hardshell/sandbox"
)

// build makes a confinement of one tier, or says why the tier is not available.
func (p *Provider) build(tier sandbox.Tier, plan *plan) (confinement, error) {
	switch tier {
	case sandbox.TierNamespaces, sandbox.TierRoot:
		s, err := newSpace(tier, plan)
		if err != nil {
			return nil, err
		}
		s.remake = func() (spawn.Starter, error) {
			again, err := p.Confine(context.Background(), plan.policy)
			if err != nil {
				return nil, err
			}
			return again.(spawn.Starter), nil
		}
		return s, nil
	case sandbox.TierLandlock:
		return newFence(plan)
	default:
		return nil, fmt.Errorf("there is no such tier")
	}
}
