//go:build !unix

package cli

import (
	"os"

	"hardshell/internal/state"
)

func findLimits() limitFacts { return limitFacts{} }

// examine looks at the home itself.
func (f *homeFacts) examine(state.Home) {
	if info, err := os.Stat(f.Path); err == nil {
		f.Mode = octal(info.Mode())
	}
}
