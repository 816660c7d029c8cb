package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/settings"
)

func (a *app) settingsGetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get NS[.PATH]",
		Short: "Print a setting as it is in force",
		Long: `Print a setting as it is in force, with the defaults and the composition applied:
a string as it is, anything else as JSON. What is optional and not set is null. A
secret is {"set":true}, or {"set":false}.

PATH is keys between dots; a key of other characters stands in brackets and double
quotes: shell["odd key"].`,
		Example: `  hardshell settings get shell.timeoutMs
  hardshell settings get sandbox --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("get needs the name of one setting or namespace: %s", firstExample(cmd))
			}
			return nil
		},
		ValidArgsFunction: a.completeSettings(1),
		RunE: a.settingsRun(func(cmd *cobra.Command, args []string) error {
			at, err := parseAddress(args[0])
			if err != nil {
				return err
			}
			return a.withSettings(cmd.Context(), false, func(service *settings.Service) error {
				d, err := describeOne(service, at.ns)
				if err != nil {
					return err
				}
				value, err := valueAt(d, at)
				if err != nil {
					return err
				}
				a.tellProblems(d)
				return a.printValue(value)
			})
		}),
	}
	a.jsonFlag(cmd)
	return cmd
}

// valueAt is what a namespace has at a path, with marks for secrets; nil when it
// could have something there and has not.
func valueAt(d settings.Descriptor, at address) (any, error) {
	if m, is := markAt(d, at.path); is {
		return m.tree(), nil
	}
	tree := shown(d)
	if value, there := jsontree.Get(tree, at.path); there {
		return value, nil
	}
	for n := range at.path {
		value, there := jsontree.Get(tree, at.path[:n])
		if !there || value == nil {
			break
		}
		if _, container := value.(map[string]any); !container {
			return nil, fault.New(fault.PathNotContainer, "%s is not a map of settings: no path leads through it", address{at.ns, at.path[:n]})
		}
	}
	s, err := schemaOf(d)
	if err != nil {
		return nil, err
	}
	if _, is := declared(s.Keys(), at.path); !is {
		return nil, fault.New(fault.SettingsInvalid, "there is no setting %s: see hardshell settings describe %s", at, d.NS)
	}
	return nil, nil
}

// printValue prints a tree: a string as it is and what has parts over lines,
// unless one JSON document is wanted.
func (a *app) printValue(value any) error {
	text := jsontree.Encode(value)
	if !a.json {
		switch value := value.(type) {
		case string:
			text = []byte(value)
		case map[string]any:
			if _, secret := value["set"].(bool); secret && len(value) == 1 {
				break
			}
			text = indent(text)
		case []any:
			text = indent(text)
		}
	}
	_, err := fmt.Fprintf(a.streams.Out, "%s\n", text)
	return err
}

func indent(text []byte) []byte {
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return text // it is JSON, so this does not happen
	}
	return out.Bytes()
}

// tellProblems says that what the document has is not what is in force.
func (a *app) tellProblems(d settings.Descriptor) {
	for _, problem := range d.Problems {
		a.tell("the section %s of the document is not in force: %s %s", d.NS, inNamespace(d.NS, problem.Path), problem.Message)
	}
}

// inNamespace is a path that counts from a section on, as a person types it.
func inNamespace(ns settings.Namespace, path string) string {
	return string(ns) + strings.TrimPrefix(path, "$")
}
