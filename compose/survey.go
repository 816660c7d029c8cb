package compose

import (
	"context"

	"hardshell/sandbox/native"
)

// Survey is what a host has to confine with, TierSurvey one way of it, Blocker
// what stands in the way of some.
type (
	Survey     = native.Survey
	TierSurvey = native.TierSurvey
	Blocker    = native.Blocker
)

// SurveyHost tries what the row "sandbox" of rows could confine with. It fails as
// Build does; that nothing works is no error. Without such a row there is nothing
// to try.
func SurveyHost(ctx context.Context, rows []Row, in Surroundings) (Survey, error) {
	for _, row := range rows {
		if row.Plugin != PluginSandbox {
			continue
		}
		config, err := configure(row)
		if err != nil {
			return Survey{}, err
		}
		tiers, err := config.(SandboxConfig).Tiers()
		if err != nil {
			return Survey{}, errRow(row, err)
		}
		provider, err := native.New(native.Config{Home: in.Home.Root(), Tiers: tiers, Ephemeral: true, Log: in.Log})
		if err != nil {
			return Survey{}, errRow(row, err)
		}
		defer provider.Close()
		return provider.Survey(ctx), nil
	}
	return Survey{}, nil
}
