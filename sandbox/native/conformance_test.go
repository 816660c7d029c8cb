//go:build linux

package native_test

import (
	"testing"

	"hardshell/sandbox"
	"hardshell/sandbox/native"
	"hardshell/sandbox/sandboxtest"
	"hardshell/subprocess/local"
)

func TestMain(m *testing.M) { sandboxtest.Main(m) }

// tiers runs the suite on every tier that this host and this user have.
func tiers(t *testing.T) {
	for _, tier := range native.Tiers() {
		t.Run(string(tier), func(t *testing.T) {
			probe, err := native.New(native.Config{Home: t.TempDir() + "/home", Tiers: []sandbox.Tier{tier}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = probe.Confine(t.Context(), sandbox.Policy{Mode: sandbox.ReadOnly, WorkspaceRoot: "/"})
			probe.Close()
			sandboxtest.Need(t, tier, err)
			sandboxtest.Run(t, func(t *testing.T, home string) sandboxtest.Fixture {
				provider, err := native.New(native.Config{Home: home, Tiers: []sandbox.Tier{tier}})
				if err != nil {
					t.Fatal(err)
				}
				return sandboxtest.Fixture{Provider: provider, Runtime: local.New(local.Config{}), Tier: tier}
			})
		})
	}
}

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it takes a minute")
	}
	tiers(t)
}

func TestConformanceAsNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it takes a minute")
	}
	if sandboxtest.AsNobody(t) {
		return
	}
	tiers(t)
}
