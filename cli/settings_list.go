package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hardshell/internal/jsontree"
	"hardshell/settings"
	"hardshell/settings/schema"
)

// settingsListed is one namespace in what list prints.
type settingsListed struct {
	NS settings.Namespace `json:"ns"`
	// Set are the paths that the user has set, undeclared ones too.
	Set      []string         `json:"set"`
	Unknown  []string         `json:"unknown"`
	Applies  settings.Applies `json:"applies"`
	Revision uint64           `json:"revision"`
	Problems []schema.Problem `json:"problems"`
}

func (a *app) settingsListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the namespaces, and what you have set in them",
		Long: `List the namespaces, which are the sections of the document: what you have set in
each, when a change applies, and what keeps a section from being in force.`,
		Example: "  hardshell settings list",
		Args:    cobra.NoArgs,
		RunE: a.settingsRun(func(cmd *cobra.Command, _ []string) error {
			return a.withSettings(cmd.Context(), false, func(service *settings.Service) error {
				list := []settingsListed{}
				for _, d := range service.DescribeForWire() {
					list = append(list, listed(d))
				}
				if a.json {
					return a.printJSON(map[string]any{"namespaces": list})
				}
				return listTable(list).print(a.screen())
			})
		}),
	}
	a.jsonFlag(cmd)
	return cmd
}

func listed(d settings.Descriptor) settingsListed {
	l := settingsListed{
		NS: d.NS, Set: []string{}, Unknown: d.Unknown, Applies: d.Applies, Revision: d.Revision,
		Problems: append([]schema.Problem{}, d.Problems...),
	}
	paths := map[string]bool{}
	for path, origin := range d.Origin {
		if origin == schema.FromUser {
			paths[inSection(path)] = true
		}
	}
	// A section that is not in force has left no trace in the value.
	if len(d.Problems) > 0 {
		if user, ok := d.User.(map[string]any); ok {
			for key := range user {
				paths[inSection(jsontree.Path{key}.String())] = true
			}
		}
	}
	l.Set = append(l.Set, slices.Sorted(maps.Keys(paths))...)
	for i, path := range l.Unknown {
		l.Unknown[i] = inSection(path)
	}
	return l
}

// inSection is a path as it is typed behind the name of its namespace.
func inSection(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".") }

func listTable(list []settingsListed) *table {
	t := &table{}
	t.add(cell{"NAMESPACE", faint}, cell{"CHANGES APPLY", faint}, cell{"STATE", faint}, cell{"SET BY YOU", faint})
	for _, l := range list {
		state := cell{"ok", plain}
		if len(l.Problems) > 0 {
			state = cell{"not in force", red}
		} else if len(l.Unknown) > 0 {
			state = cell{"unknown keys", yellow}
		}
		set := append(slices.Clone(l.Set), unreadKeys(l.Unknown)...)
		words := clean(strings.Join(set, ", "))
		if words == "" {
			words = "-"
		}
		t.add(cell{string(l.NS), plain}, cell{appliesWords(l.Applies), plain}, state, cell{words, plain})
	}
	return t
}

// unreadKeys are keys that nothing reads, marked as such.
func unreadKeys(unknown []string) []string {
	list := make([]string, len(unknown))
	for i, path := range unknown {
		list[i] = path + " (unknown)"
	}
	return list
}

func appliesWords(applies settings.Applies) string {
	if applies == settings.Restart {
		return "after restart"
	}
	return "live"
}
