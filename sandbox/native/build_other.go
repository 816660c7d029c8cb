//go:build !linux

package native

import (
	"fmt"
	"runtime"

	"hardshell/sandbox"
)

// build refuses: only Linux has what this provider uses.
func (p *Provider) build(sandbox.Tier, *plan) (confinement, error) {
	return nil, fmt.Errorf("%s is not supported yet", runtime.GOOS)
}
