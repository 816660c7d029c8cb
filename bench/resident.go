package bench

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"hardshell/sandbox"
)

// resident is the pair of spawning from a process that holds much memory and one
// that holds little: a spawn that copies page tables pays for what it holds.
func (p *place) resident(o Options) []measurement {
	if o.Resident <= 0 {
		return nil
	}
	executor, err := p.kept(sandbox.TierNamespaces)
	spawn := func(ctx context.Context) error { return p.run(ctx, executor, "true") }
	var held []byte
	return []measurement{{
		name: "resident", runs: max(o.Runs/2, 5), optional: true,
		prepare: func(context.Context) error {
			debug.FreeOSMemory()
			return err
		},
		between: func() error {
			held = make([]byte, o.Resident)
			for i := 0; i < len(held); i += os.Getpagesize() {
				held[i] = 1
			}
			return nil
		},
		after: func() error {
			held = nil
			debug.FreeOSMemory()
			return nil
		},
		aName: fmt.Sprintf("run in namespaces, holding %d MiB", o.Resident>>20), a: spawn,
		bName: "the same, holding little", b: spawn,
	}}
}
