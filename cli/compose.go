package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"hardshell"
)

func (a *app) composeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compose",
		Short: "Show or check the composition",
		Long:  "The composition is the list of parts that a harness is made of, each with its configuration.",
		Example: `  hardshell compose dump
  hardshell compose check`,
		Args: cobra.NoArgs, // a command that runs nothing accepts any
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	dump := &cobra.Command{
		Use:     "dump",
		Short:   "Print the rows of the composition",
		Long:    "Print the rows of the composition, as YAML with one row a line, or as JSON.",
		Example: "  hardshell compose dump",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.composeDump() },
	}
	check := &cobra.Command{
		Use:     "check",
		Short:   "Check that the composition can be made",
		Long:    "Check that every part of the composition can be made. The exit status is 0 when it can.",
		Example: "  hardshell compose check --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.open(cmd.Context(), hardshell.Options{})
			if err != nil {
				return err
			}
			defer h.Close(cmd.Context())
			rows := len(hardshell.DefaultComposition())
			if a.json {
				return a.printJSON(map[string]any{"ok": true, "rows": rows})
			}
			fmt.Fprintf(a.streams.Out, "ok: %d rows\n", rows)
			return nil
		},
	}
	a.jsonFlag(dump)
	a.jsonFlag(check)
	cmd.AddCommand(dump, check)
	return cmd
}

// composeDump prints the rows. A JSON object on a line is a YAML flow mapping.
func (a *app) composeDump() error {
	rows := hardshell.DefaultComposition()
	if a.json {
		return a.printJSON(map[string]any{"rows": rows})
	}
	for _, row := range rows {
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.streams.Out, "- %s\n", line)
	}
	return nil
}
