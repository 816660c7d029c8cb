package confined

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"

	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/subprocess"
)

// call is the runtime of one call: what it spawns is confined by the call's
// policy.
type call struct {
	subprocess.Runtime
	provider sandbox.Provider
	policy   sandbox.Policy

	confinement sandbox.Confinement // set by Spawn, read after the child is done
}

// Spawn implements subprocess.Runtime.
func (c *call) Spawn(ctx context.Context, spec subprocess.Spec) (subprocess.Handle, error) {
	if err := spec.Validate(ctx); err != nil {
		return nil, err // a call that cannot be needs no sandbox
	}
	confinement, err := c.provider.Confine(ctx, c.policy)
	if err != nil {
		return nil, err
	}
	c.confinement, spec.Confinement = confinement, confinement
	return c.Runtime.Spawn(ctx, spec)
}

// stamp says how the call was confined, and whether something was denied to it.
func (c *call) stamp(spec *shell.Spec, child subprocess.Handle) *sandbox.Info {
	report := c.confinement.Report()
	outcome := sandbox.Outcome{Workdir: spec.Workdir}
	if exit := child.Exit(); exit.Code >= 0 {
		outcome.ExitCode = &exit.Code
	}
	denied := false
	if outcome.ExitCode != nil && *outcome.ExitCode != 0 {
		outcome.Stderr = errorText(child.Reader(subprocess.Stderr).Collected())
		denied = c.confinement.Denied(outcome)
	}
	return report.Info(denied)
}

// maxErrorText bounds how much of a long standard error is looked through.
const maxErrorText = 4 << 20

// errorText is a command's standard error: from its beginning where a file has
// all of it, else its tail.
func errorText(stderr subprocess.CollectedOutput) string {
	if stderr.SpillPath == "" {
		return stderr.Text
	}
	f, err := os.Open(stderr.SpillPath)
	if err != nil {
		return stderr.Text
	}
	defer f.Close()
	var text strings.Builder
	// A failed read leaves what was read, and the tail follows it.
	_, _ = io.Copy(&text, io.LimitReader(bufio.NewReader(f), maxErrorText))
	return text.String() + "\n" + stderr.Text
}
