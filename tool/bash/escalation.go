package bash

import (
	"slices"

	"hardshell/sandbox"
	"hardshell/tool"
)

// checkEscalation answers a call that asks for a wider mode. Nothing can grant
// one yet, so that every well-formed request ends as a refusal, before
// anything is spawned.
func (b *bash) checkEscalation(call tool.Call, in Input) error {
	if in.SandboxPermissions == nil {
		return nil
	}
	if !b.confines {
		return refused("sandbox_permissions is not available in this composition (no sandboxing executor to escalate)")
	}
	wanted := sandbox.Mode(*in.SandboxPermissions)
	if mode, _ := b.executor.SandboxMode(); !wider(wanted, mode) {
		return refused("sandbox escalation to %q is not strictly wider than this call's current %q mode", wanted, mode)
	}
	return refused("sandbox escalation to %q requires approval, but no approval service is composed", wanted)
}

// wider reports whether a mode allows strictly more than another. Nothing is
// wider than an unknown mode.
func wider(wanted, current sandbox.Mode) bool {
	modes := sandbox.Modes()
	from := slices.Index(modes, current)
	return from >= 0 && slices.Index(modes, wanted) > from
}
