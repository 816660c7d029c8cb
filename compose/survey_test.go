//go:build unix

package compose_test

import (
	"strings"
	"testing"

	"hardshell/compose"
	"hardshell/internal/fault"
	"hardshell/sandbox"
)

func TestTheSurveyIsOfTheRow(t *testing.T) {
	t.Parallel()
	in := surroundings(t)
	s, err := compose.SurveyHost(t.Context(), compose.Default(), in)
	if err != nil || len(s.Tiers) != 3 {
		t.Fatalf("the survey is %+v, %v", s, err)
	}
	for _, tier := range s.Tiers {
		if !tier.Allowed {
			t.Errorf("the default leaves %s out", tier.Tier)
		}
	}
	only := compose.Row{ID: "sandbox", Plugin: compose.PluginSandbox, Config: compose.SandboxConfig{Backend: "landlock"}}
	s, err = compose.SurveyHost(t.Context(), []compose.Row{only}, in)
	if err != nil || s.Tier != sandbox.TierLandlock && s.Tier != "" || s.Tiers[0].Allowed || !s.Tiers[2].Allowed {
		t.Errorf("with one tier allowed the survey is %+v, %v", s, err)
	}
	only.Config = compose.SandboxConfig{Backend: "hope"}
	if _, err := compose.SurveyHost(t.Context(), []compose.Row{only}, in); err == nil || !strings.Contains(err.Error(), `no sandbox backend "hope"`) {
		t.Errorf("of a row that cannot be the survey is %v (%s)", err, fault.CodeOf(err))
	}
	if s, err := compose.SurveyHost(t.Context(), nil, in); err != nil || s.Tier != "" || s.Tiers != nil {
		t.Errorf("without the row the survey is %+v, %v", s, err)
	}
}
