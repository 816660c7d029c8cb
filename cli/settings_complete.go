package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hardshell/compose"
	"hardshell/internal/jsontree"
	"hardshell/settings"
	"hardshell/settings/schema"
)

// completeNamespaces offers the namespaces.
func (a *app) completeNamespaces(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	err := a.blankSettings(cmd.Context(), func(d settings.Descriptor, _ []schema.Key) {
		words = append(words, string(d.NS))
	})
	return completions(words, err)
}

// completeSettings offers the namespaces and the settings in them and, of the
// second of two words, the values of a fixed set.
func (a *app) completeSettings(words int) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			var offered []string
			err := a.blankSettings(cmd.Context(), func(d settings.Descriptor, keys []schema.Key) {
				offered = append(offered, string(d.NS))
				for _, k := range keys {
					if !strings.ContainsAny(k.Path, "*[") {
						offered = append(offered, string(d.NS)+"."+k.Path+"\t"+clean(k.Description))
					}
				}
			})
			return completions(offered, err)
		case len(args) == 1 && words == 2:
			at, err := parseAddress(args[0])
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var offered []string
			err = a.blankSettings(cmd.Context(), func(d settings.Descriptor, keys []schema.Key) {
				if k, is := declared(keys, at.path); d.NS == at.ns && is {
					offered = valuesOf(k)
				}
			})
			return completions(offered, err)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func completions(words []string, err error) ([]string, cobra.ShellCompDirective) {
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// valuesOf are the values that a setting may have, when they are few.
func valuesOf(k schema.Key) []string {
	if k.Type == "true or false" {
		return []string{"true", "false"}
	}
	var words []string
	for _, choice := range k.Enum {
		words = append(words, textOf(string(jsontree.Encode(choice.Value)))+"\t"+clean(choice.Label))
	}
	return words
}

// blankSettings visits the namespaces of the composition over an empty document:
// what is offered does not depend on what is set, or on whether that can be read.
func (a *app) blankSettings(ctx context.Context, visit func(settings.Descriptor, []schema.Key)) error {
	if ctx == nil {
		ctx = context.Background()
	}
	in, rows, err := a.composition()
	if err != nil {
		return err
	}
	service, err := compose.SettingsOver(ctx, settings.NewMemory(nil), in, rows)
	if err != nil {
		return err
	}
	return a.use(ctx, service, func(service *settings.Service) error {
		for _, d := range service.DescribeForWire() {
			s, err := schemaOf(d)
			if err != nil {
				return err
			}
			visit(d, slices.Clone(s.Keys()))
		}
		return nil
	})
}
