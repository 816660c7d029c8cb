package native

import (
	"context"
	"os"
	"slices"

	"hardshell/sandbox"
)

// Survey is what a host has to confine with. It is data; nothing in it is meant
// for a command that is confined.
type Survey struct {
	// Tier is the tier that a command of this provider gets, "" when none works.
	Tier sandbox.Tier `json:"tier"`
	// Tiers has every tier, the most complete first, those too that the
	// provider's configuration leaves out.
	Tiers []TierSurvey `json:"tiers"`
	// Blockers say why a tier does not work, and what to do.
	Blockers []Blocker `json:"blockers"`
	// Kernel is the kernel's release, Container what kind of container this
	// process seems to run in, "" for none.
	Kernel    string `json:"kernel"`
	Container string `json:"container,omitempty"`
	// LandlockABI is the version of Landlock's interface, 0 without Landlock.
	LandlockABI int `json:"landlockAbi"`
	// FastSpawn says that children can be confined between their birth and their
	// program, which namespaces need.
	FastSpawn bool `json:"fastSpawn"`
}

// TierSurvey is one tier, tried.
type TierSurvey struct {
	Tier sandbox.Tier `json:"tier"`
	// Works says that a command ran in it.
	Works bool `json:"works"`
	// Allowed is false when the configuration leaves the tier out.
	Allowed bool `json:"allowed"`
	// Effects is what it enforces, nil when it does not work.
	Effects *sandbox.Effects `json:"effects,omitempty"`
	// Error is why it does not work.
	Error string `json:"error,omitempty"`
}

// Blocker is a property of the host that stands in the way of tiers.
type Blocker struct {
	// ID names the kind of blocker; scripts may compare it.
	ID    string         `json:"id"`
	Tiers []sandbox.Tier `json:"tiers"`
	// Cause is a sentence.
	Cause string `json:"cause"`
	// Fix is what to do, in sentences, and Commands what to type for it, a line
	// each. A line that begins with a space continues a file that the line
	// before it writes.
	Fix      string   `json:"fix,omitempty"`
	Commands []string `json:"commands,omitempty"`
}

// Survey tries every tier, for a read-only policy on an empty directory, and says
// what stands in the way of those that do not work. It leaves nothing behind.
// When ctx ends, the tiers that were not tried have its error.
func (p *Provider) Survey(ctx context.Context) Survey {
	facts := hostFacts()
	s := Survey{
		Kernel: facts.kernel, Container: facts.container(),
		LandlockABI: facts.landlockABI, FastSpawn: facts.fastSpawn,
	}
	var pl *plan
	workspace, err := os.MkdirTemp("", "hardshell-survey-")
	if err == nil {
		defer os.RemoveAll(workspace)
		pl, err = p.newPlan(sandbox.Policy{Mode: sandbox.ReadOnly, WorkspaceRoot: workspace})
	}
	allowed := p.tiers()
	for _, tier := range Tiers() {
		t := TierSurvey{Tier: tier, Allowed: slices.Contains(allowed, tier)}
		var effects *sandbox.Effects
		tried := err
		if tried == nil {
			effects, tried = p.try(ctx, tier, pl)
		}
		switch {
		case tried != nil:
			t.Error = tried.Error()
		default:
			t.Works, t.Effects = true, effects
			if s.Tier == "" && t.Allowed {
				s.Tier = tier
			}
		}
		s.Tiers = append(s.Tiers, t)
	}
	s.Blockers = []Blocker{}
	if err == nil { // else it is no tier's fault
		s.Blockers = facts.blockers(s.Tiers)
	}
	return s
}

// try makes a confinement of one tier and runs a command in it.
func (p *Provider) try(ctx context.Context, tier sandbox.Tier, pl *plan) (*sandbox.Effects, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c, err := p.build(tier, pl)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := tryCommand(c); err != nil {
		return nil, err
	}
	effects := c.Report().Effects
	return &effects, nil
}
