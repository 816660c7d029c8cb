package sandboxtest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"hardshell/sandbox"
)

// Need ends a test that needs a tier which could not be made. It skips it, but
// fails it where the variable HARDSHELL_TEST_TIERS says, with commas between
// them, that this host has the tier: a sandbox that is broken must not look like
// one that is not there.
func Need(t testing.TB, tier sandbox.Tier, err error) {
	t.Helper()
	if err == nil {
		return
	}
	must := slices.Contains(strings.Split(os.Getenv("HARDSHELL_TEST_TIERS"), ","), string(tier))
	if must && (tier != sandbox.TierRoot || os.Geteuid() == 0) {
		t.Fatalf("this host must have the tier %s: %v", tier, err)
	}
	t.Skipf("skipped: this host does not have the tier %s: %v", tier, err)
}
