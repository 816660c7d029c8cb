package cli

import (
	"github.com/spf13/cobra"

	"hardshell"
	"hardshell/sandbox"
)

// policyFlags say what a command may do.
type policyFlags struct {
	mode      string
	network   string
	workspace string
	write     []string
}

// add gives a command the flags.
func (f *policyFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "mode", "", "how the command is confined: read-only, workspace-write or danger-full-access (default: the policy's, workspace-write)")
	flags.StringVar(&f.workspace, "workspace", "", "directory that the session works in (default: the current one)")
	flags.StringVar(&f.network, "network", "", "what the command can reach: open, or none for a loopback of its own (default: the policy's, open)")
	flags.StringArrayVar(&f.write, "write", nil, "directory that the command may change besides the workspace; may be repeated")
	for _, dir := range []string{"workspace", "write"} {
		_ = cmd.MarkFlagDirname(dir) // it fails only for a flag that does not exist
	}
	complete(cmd, "mode", string(sandbox.ReadOnly), string(sandbox.WorkspaceWrite), string(sandbox.DangerFullAccess))
	complete(cmd, "network", string(sandbox.NetworkOpen), string(sandbox.NetworkNone))
}

// options reads the flags of a command.
func (f *policyFlags) options(cmd *cobra.Command) (hardshell.Options, error) {
	o := hardshell.Options{Workspace: f.workspace, WritableRoots: f.write}
	var err error
	if cmd.Flags().Changed("mode") {
		if o.Mode, err = sandbox.ParseMode(f.mode); err != nil {
			return o, usageError{err}
		}
	}
	if cmd.Flags().Changed("network") {
		if o.Network, err = sandbox.ParseNetwork(f.network); err != nil {
			return o, usageError{err}
		}
	}
	if o.Mode == sandbox.DangerFullAccess && o.Network == sandbox.NetworkNone {
		return o, usagef("--network none needs a sandbox, and --mode %s has none: leave one of them out", o.Mode)
	}
	if err := f.fits(o.Mode); err != nil {
		return o, err
	}
	for _, dir := range f.write {
		if dir == "" {
			return o, usagef("--write takes a directory")
		}
	}
	return o, nil
}

// fits refuses --write in a mode in which it would change nothing.
func (f *policyFlags) fits(mode sandbox.Mode) error {
	switch {
	case len(f.write) == 0:
		return nil
	case mode == sandbox.ReadOnly:
		return usagef("--write DIR lets a command change DIR, and in %s mode it may change nothing: use --mode %s, or leave --write out", mode, sandbox.WorkspaceWrite)
	case mode == sandbox.DangerFullAccess:
		return usagef("--write DIR needs a sandbox, and %s mode has none: use --mode %s, or leave --write out", mode, sandbox.WorkspaceWrite)
	}
	return nil
}
