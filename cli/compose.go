package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hardshell"
	"hardshell/internal/plainjson"
	"hardshell/internal/state"
)

func (a *app) composeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compose",
		Short: "Show or check the composition",
		Long: `The composition is the list of parts that hardshell is made of, each with its
configuration. The file compose.yaml in the home, and those that --patch names,
change it: a list of {id, plugin, config, disabled}. What a person changes now and
then stands in the settings, which lie above it.`,
		Example: `  hardshell compose dump
  hardshell compose check`,
		Args: cobra.NoArgs, // a command that runs nothing accepts any
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	dump := &cobra.Command{
		Use:   "dump",
		Short: "Print the rows of the composition",
		Long: `Print the rows of the composition, as YAML with one row a line, or as JSON: the
default ones, changed by compose.yaml in the home and by --patch.`,
		Example: "  hardshell compose dump",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.composeDump() },
	}
	check := &cobra.Command{
		Use:   "check",
		Short: "Check that the composition can be made",
		Long: `Check that every part of the composition can be made, with your settings. The exit
status is 0 when it can. When it cannot it is 1, and every row at fault is named:
why it failed, or what it waits for.`,
		Example: `  hardshell compose check --json
  hardshell --patch rows.yaml compose check`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.composeCheck(cmd.Context()) },
	}
	a.jsonFlag(dump)
	a.jsonFlag(check)
	cmd.AddCommand(dump, check)
	return cmd
}

// composeDump prints the rows. A JSON object on a line is a YAML flow mapping.
func (a *app) composeDump() error {
	_, rows, err := a.composition()
	if err != nil {
		return composeError(err)
	}
	if a.json {
		return a.printJSON(map[string]any{"rows": rows})
	}
	for _, row := range rows {
		line, err := plainjson.Marshal(row)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.streams.Out, "- %s\n", line)
	}
	return nil
}

// composeCheck makes the composition, and takes it apart.
func (a *app) composeCheck(ctx context.Context) error {
	if a.session != "" {
		if err := state.ValidateSessionID(a.session); err != nil {
			return usageError{err}
		}
	}
	_, rows, err := a.composition()
	if err != nil {
		return composeError(err)
	}
	h, err := a.open(ctx, hardshell.Options{Rows: rows})
	if err != nil {
		return statusError{exitError, err} // of the rows, whatever it is called
	}
	defer h.Close(ctx)
	if err := h.Check(); err != nil {
		return statusError{exitError, err}
	}
	if a.json {
		return a.printJSON(map[string]any{"ok": true, "rows": len(rows)})
	}
	fmt.Fprintf(a.streams.Out, "ok: %d rows\n", len(rows))
	return nil
}

// composeError is a mistake in a file of rows, unless it is one of usage.
func composeError(err error) error {
	var usage usageError
	if errors.As(err, &usage) {
		return err
	}
	return statusError{exitError, err}
}
