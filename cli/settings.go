package cli

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hardshell/compose"
	"hardshell/internal/document"
	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/settings"
	"hardshell/settings/schema"
)

func (a *app) settingsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "settings",
		Short: "Show and change the settings",
		Long: `Show and change the settings: one document that is yours, settings.yaml in the
home, with one section for each part of hardshell that has settings.

What you do not set has a default, which the composition can change. A secret is
never shown, only whether it is set. Comments and layout of the document stay.`,
		Example: `  hardshell settings describe
  hardshell settings set shell.timeoutMs 300000`,
		Args: cobra.NoArgs, // a command that runs nothing accepts any
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		a.settingsListCommand(), a.settingsGetCommand(), a.settingsSetCommand(), a.settingsUnsetCommand(),
		a.settingsDescribeCommand(), a.settingsValidateCommand(), a.settingsPathCommand(),
		a.settingsEditCommand(), a.settingsWatchCommand(),
	)
	return cmd
}

func (a *app) settingsPathCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "path",
		Short:   "Print where the settings document is",
		Long:    "Print where the settings document is. It need not exist: nothing is created.",
		Example: "  hardshell settings path",
		Args:    cobra.NoArgs,
		RunE: a.settingsRun(func(*cobra.Command, []string) error {
			in, rows, err := a.composition()
			if err != nil {
				return err
			}
			document, err := compose.SettingsFile(in, rows)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]string{"path": document.Path()})
			}
			_, err = a.streams.Out.Write([]byte(document.Path() + "\n"))
			return err
		}),
	}
	a.jsonFlag(cmd)
	return cmd
}

// settingsRun gives what fails, and is no mistake of usage, the exit status of
// the settings commands.
func (a *app) settingsRun(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		var usage usageError
		var status exitStatus
		if err == nil || errors.As(err, &usage) || errors.As(err, &status) {
			return err
		}
		return statusError{exitError, err}
	}
}

// composition is the rows of this invocation, and what they are put into.
func (a *app) composition() (compose.Surroundings, []compose.Row, error) {
	log, err := a.logger()
	if err != nil {
		return compose.Surroundings{}, nil, err
	}
	home, err := a.stateHome()
	if err != nil {
		return compose.Surroundings{}, nil, err
	}
	// The checks of some settings look at the paths that they would protect.
	workspace, err := os.Getwd()
	if err != nil {
		return compose.Surroundings{}, nil, err
	}
	rows, err := compose.Rows(home, a.patches, log)
	if fault.CodeOf(err) == fault.InvalidArgument && len(a.patches) > 0 {
		err = usageError{err}
	}
	return compose.Surroundings{Home: home, Workspace: workspace, Log: log}, rows, err
}

// withSettings opens the settings, and closes them after use.
func (a *app) withSettings(ctx context.Context, watch bool, use func(*settings.Service) error) error {
	in, rows, err := a.composition()
	if err != nil {
		return err
	}
	service, err := compose.OpenSettings(ctx, in, rows, watch)
	if err != nil {
		return err
	}
	return a.use(ctx, service, use)
}

// use registers what a test has besides, and closes the service after use.
func (a *app) use(ctx context.Context, service *settings.Service, use func(*settings.Service) error) error {
	var err error
	if a.register != nil {
		err = a.register(service)
	}
	if err == nil {
		err = use(service)
	}
	return errors.Join(err, service.Close(context.WithoutCancel(ctx)))
}

// address is what NS[.path] names.
type address struct {
	ns   settings.Namespace
	path jsontree.Path
}

// String is what a person types.
func (at address) String() string {
	return string(at.ns) + strings.TrimPrefix(at.path.String(), "$")
}

func parseAddress(text string) (at address, err error) {
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	if at.ns, err = settings.ParseNamespace(text[:end]); err != nil {
		return at, usageError{err}
	}
	rest := text[end:]
	if strings.HasPrefix(rest, ".") {
		if rest = rest[1:]; rest == "" {
			return at, usagef("%q ends with a dot: name a setting, as in shell.timeoutMs", text)
		}
	}
	if at.path, err = jsontree.ParsePath(rest); err != nil {
		return at, usagef("%w", err)
	}
	return at, nil
}

// describeOne returns what leaves the process of one namespace.
func describeOne(service *settings.Service, ns settings.Namespace) (settings.Descriptor, error) {
	descriptors := service.DescribeForWire()
	names := make([]string, len(descriptors))
	for i, d := range descriptors {
		if d.NS == ns {
			return d, nil
		}
		names[i] = string(d.NS)
	}
	return settings.Descriptor{}, fault.New(fault.SettingsUnknown, "no part of hardshell has settings named %q: there are %s", string(ns), strings.Join(names, ", "))
}

// schemaOf is the schema of a namespace as it may leave the process.
func schemaOf(d settings.Descriptor) (*schema.Schema, error) { return schema.Parse(d.Schema) }

// conflictDetails are the revisions that a write met.
type conflictDetails struct {
	NS       settings.Namespace `json:"ns"`
	Expected uint64             `json:"expected"`
	Actual   uint64             `json:"actual"`
}

// brokenDetails are where a document cannot be read, and why.
type brokenDetails struct {
	File   string          `json:"file"`
	Line   int             `json:"line"`
	Column int             `json:"column"`
	Reason document.Reason `json:"reason"`
}

// errorDetails are the facts of an error that a program can act on; nil when the
// code says it all.
func errorDetails(err error) any {
	var conflict *settings.ConflictError
	var invalid *settings.InvalidError
	var check *checkError
	var broken *document.Error
	switch {
	case errors.As(err, &conflict):
		return conflictDetails{conflict.NS, conflict.Expected, conflict.Actual}
	case errors.As(err, &check):
		return check.checked
	case errors.As(err, &invalid):
		return map[string]any{"ns": invalid.NS, "problems": invalid.Problems}
	case errors.As(err, &broken):
		return brokenDetails{broken.Name, broken.Line, broken.Column, broken.Reason}
	}
	return nil
}
