package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hardshell/internal/jsontree"
	"hardshell/settings"
	"hardshell/settings/schema"
)

func (a *app) settingsDescribeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "describe [NS]",
		Short: "Show every setting with its value, where that comes from, and what it does",
		Long: `Show every setting, of one namespace or of all: its value, whether that is the
default, from the composition (base) or from you (user), what it may be and what it
does. Of a secret it shows only whether it is set. Keys of your document that nothing
reads, and what keeps a section from being in force, stand below the table.`,
		Example: `  hardshell settings describe shell
  hardshell settings describe --json | jq '.namespaces[].ns'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("describe takes one namespace, or none for all: %s", firstExample(cmd))
			}
			return nil
		},
		ValidArgsFunction: a.completeNamespaces,
		RunE: a.settingsRun(func(cmd *cobra.Command, args []string) error {
			return a.withSettings(cmd.Context(), false, func(service *settings.Service) error {
				descriptors := service.DescribeForWire()
				if len(args) == 1 {
					ns, err := settings.ParseNamespace(args[0])
					if err != nil {
						return usageError{err}
					}
					d, err := describeOne(service, ns)
					if err != nil {
						return err
					}
					descriptors = []settings.Descriptor{d}
				}
				if a.json {
					return a.printJSON(map[string]any{"namespaces": descriptors})
				}
				return printDescriptors(a.screen(), descriptors)
			})
		}),
	}
	a.jsonFlag(cmd)
	return cmd
}

func printDescriptors(out screen, descriptors []settings.Descriptor) error {
	var lines []string
	for i, d := range descriptors {
		s, err := schemaOf(d)
		if err != nil {
			return err
		}
		if i > 0 {
			lines = append(lines, "")
		}
		heading := fmt.Sprintf("%s (revision %d; changes apply %s)", d.NS, d.Revision, map[settings.Applies]string{
			settings.Live: "to the next command", settings.Restart: "after a restart",
		}[d.Applies])
		lines = append(lines, heading)
		grid := grid{indent: 2, widest: []int{0, 40, 0, 40, 0}}
		grid.add([]string{"SETTING", "VALUE", "FROM", "DEFAULT", "DESCRIPTION"}, faint)
		for _, row := range settingRows(d, s.Keys()) {
			grid.add(row.cells(), plain)
		}
		lines = append(lines, grid.lines(out)...)
		lines = append(lines, remarks(d)...)
	}
	_, err := io.WriteString(out.w, strings.Join(lines, "\n")+"\n")
	return err
}

// settingRow is one setting as people see it.
type settingRow struct {
	path, value, from, fallback, description string
}

func (r settingRow) cells() []string {
	return []string{r.path, r.value, r.from, r.fallback, r.description}
}

// settingRows are the settings of a namespace in the order of its schema: those
// that have a value of their own, and the entries that maps have.
func settingRows(d settings.Descriptor, keys []schema.Key) []settingRow {
	tree := shown(d)
	var rows []settingRow
	for _, k := range keys {
		pattern, err := jsontree.ParsePath(k.Path)
		if err != nil {
			continue // of items of a list, which is shown whole
		}
		for _, path := range matching(tree, pattern) {
			value, _ := jsontree.Get(tree, path)
			if parts, _ := value.(map[string]any); hasBelow(keys, k.Path) && (len(parts) > 0 || k.Type == "object") {
				continue // shown by what is in it
			}
			rows = append(rows, rowOf(d, tree, k, path))
		}
	}
	return rows
}

// matching are the paths of a description: one, but for the entries of maps.
func matching(tree any, pattern jsontree.Path) []jsontree.Path {
	paths := []jsontree.Path{{}}
	for _, step := range pattern {
		var next []jsontree.Path
		for _, path := range paths {
			if step != "*" {
				next = append(next, append(path[:len(path):len(path)], step))
				continue
			}
			node, _ := jsontree.Get(tree, path)
			entries, _ := node.(map[string]any)
			for _, key := range sortedKeys(entries) {
				next = append(next, append(path[:len(path):len(path)], key))
			}
		}
		paths = next
	}
	return paths
}

func rowOf(d settings.Descriptor, tree any, k schema.Key, path jsontree.Path) settingRow {
	row := settingRow{
		path: clean(address{d.NS, path}.String()), from: string(d.Origin[path.String()]),
		fallback: textOf(k.Default), description: clean(description(k)),
	}
	value, there := jsontree.Get(tree, path)
	m, secret := markAt(d, path)
	switch {
	case secret || k.Secret:
		row.value = m.words()
	case there && value != nil:
		row.value = clean(textOf(string(jsontree.Encode(value))))
	default:
		row.value = "-"
	}
	if row.from == "" {
		row.from = originBelow(d, path)
	}
	for _, cell := range []*string{&row.from, &row.fallback} {
		if *cell == "" {
			*cell = "-"
		}
	}
	return row
}

// originBelow is the highest layer of what is in a container.
func originBelow(d settings.Descriptor, path jsontree.Path) string {
	rank := map[schema.Origin]int{schema.FromDefault: 1, schema.FromBase: 2, schema.FromUser: 3}
	var highest schema.Origin
	for leaf, origin := range d.Origin {
		if (strings.HasPrefix(leaf, path.String()+".") || strings.HasPrefix(leaf, path.String()+"[")) && rank[origin] > rank[highest] {
			highest = origin
		}
	}
	return string(highest)
}

// textOf is JSON for people: a string without its quotes.
func textOf(document string) string {
	value, err := jsontree.Parse([]byte(document))
	if text, is := value.(string); err == nil && is && text != "" {
		return text
	}
	return document
}

// description says what a setting does, and what it may be.
func description(k schema.Key) string {
	var parts []string
	if k.Deprecated {
		parts = append(parts, "Deprecated.")
	}
	parts = append(parts, k.Description)
	if may := mayBe(k); may != "" {
		parts = append(parts, "("+may+")")
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// mayBe says in words what a setting may be.
func mayBe(k schema.Key) string {
	if k.Secret {
		return "secret"
	}
	if len(k.Enum) == 0 {
		may := k.Type
		if k.Range != "" {
			may += ", " + k.Range
		}
		return may
	}
	words := make([]string, len(k.Enum))
	for i, choice := range k.Enum {
		words[i] = textOf(string(jsontree.Encode(choice.Value)))
	}
	return strings.Join(words, ", ")
}

// remarks are what is wrong with a section, for people.
func remarks(d settings.Descriptor) []string {
	var lines []string
	for _, problem := range d.Problems {
		lines = append(lines, fmt.Sprintf("  not in force: %s %s", clean(inNamespace(d.NS, problem.Path)), clean(problem.Message)))
	}
	for _, problem := range d.Ignored {
		lines = append(lines, fmt.Sprintf("  ignored: %s is null, which counts as absent", clean(inNamespace(d.NS, problem.Path))))
	}
	for _, path := range d.Unknown {
		lines = append(lines, fmt.Sprintf("  unknown: nothing reads %s", clean(inNamespace(d.NS, path))))
	}
	for _, slot := range d.Secrets {
		if slot.Malformed {
			lines = append(lines, fmt.Sprintf("  not shown: %s has not the form of what is declared there", clean(address{d.NS, slot.Path}.String())))
		}
	}
	return lines
}
