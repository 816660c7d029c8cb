package native

import (
	"context"
	"fmt"

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
		s.remake = func() (*space, error) {
			again, err := p.Confine(context.Background(), plan.policy)
			if err != nil {
				return nil, err
			}
			fresh, ok := again.(*space)
			if !ok || fresh.report != s.report {
				return nil, sandbox.Unavailable(plan.policy.Mode, "what can be enforced has changed: run the command again")
			}
			return fresh, nil
		}
		return s, nil
	case sandbox.TierLandlock:
		return newFence(plan)
	default:
		return nil, fmt.Errorf("there is no such tier")
	}
}
