package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"hardshell"
	"hardshell/tool"
)

// toolDocument is one tool as a model receives it.
type toolDocument struct {
	Name         string             `json:"name"`
	Description  string             `json:"description"`
	InputSchema  *jsonschema.Schema `json:"inputSchema"`
	OutputSchema *jsonschema.Schema `json:"outputSchema,omitempty"`
	Annotations  tool.Annotations   `json:"annotations"`
}

func (a *app) toolsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "tools",
		Short:   "List the tools that a model is given",
		Long:    "List the tools that a model is given. With --json, the schemas as a model receives them.",
		Example: "  hardshell tools --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.open(cmd.Context(), hardshell.Options{})
			if err != nil {
				return err
			}
			defer h.Close(cmd.Context())
			documents, err := describe(h.Tools().Tools())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"tools": documents})
			}
			return printTools(a.streams.Out, documents)
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func describe(tools []*tool.Tool) ([]toolDocument, error) {
	documents := []toolDocument{}
	for _, t := range tools {
		input, err := t.InputSchema()
		if err != nil {
			return nil, err
		}
		output, err := t.OutputSchema()
		if err != nil {
			return nil, err
		}
		documents = append(documents, toolDocument{
			Name: t.Name(), Description: t.Description(),
			InputSchema: input, OutputSchema: output, Annotations: t.Annotations(),
		})
	}
	return documents, nil
}

// printTools prints each tool with the parameters in the order of its schema.
func printTools(w io.Writer, documents []toolDocument) error {
	for i, d := range documents {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s\n", d.Name)
		for _, line := range strings.Split(strings.TrimSpace(d.Description), "\n") {
			fmt.Fprintln(w, strings.TrimRight("  "+line, " "))
		}
		fmt.Fprintln(w)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		required := map[string]bool{}
		for _, name := range d.InputSchema.Required {
			required[name] = true
		}
		for _, name := range d.InputSchema.PropertyOrder {
			property := d.InputSchema.Properties[name]
			if property == nil {
				continue
			}
			mark := ""
			if required[name] {
				mark = "required"
			}
			fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", name, property.Type, mark, property.Description)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// completeTools offers the names of the tools.
func (a *app) completeTools(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	h, err := a.open(cmd.Context(), hardshell.Options{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer h.Close(cmd.Context())
	var names []string
	for _, t := range h.Tools().Tools() {
		names = append(names, t.Name())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
