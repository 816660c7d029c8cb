package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hardshell/internal/jsontree"
	"hardshell/settings"
)

// settingsWrite is what set and unset have in common.
type settingsWrite struct {
	expected uint64
	text     bool // the value is a string, whatever it looks like
}

func (a *app) settingsSetCommand() *cobra.Command {
	var w settingsWrite
	cmd := &cobra.Command{
		Use:   "set NS.PATH VALUE",
		Short: "Set a setting in your document",
		Long: `Set a setting in your document. VALUE is JSON, else it is a string; with --string
it is a string in any case. With - it is read from standard input, without the
line end at its end: a secret should not stand among the arguments of a process.

Nothing is written when the value is refused, and then the exit status is 1. Only
what is set changes in the document: comments and layout stay. A list is set as a
whole. A VALUE that begins with a dash is given after "--".`,
		Example: `  hardshell settings set shell.timeoutMs 300000
  hardshell settings set sandbox.writableRoots '["~/go/pkg"]'
  hardshell settings set shell.cwd --string -- 2026`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("set needs the name of a setting and a value: %s", firstExample(cmd))
			}
			return nil
		},
		ValidArgsFunction: a.completeSettings(2),
		RunE: a.settingsRun(func(cmd *cobra.Command, args []string) error {
			at, err := parseAddress(args[0])
			if err != nil {
				return err
			}
			value, err := a.settingValue(args[1], w.text)
			if err != nil {
				return err
			}
			return a.writeSetting(cmd, w, at, settings.Set(value, at.path...))
		}),
	}
	cmd.Flags().BoolVar(&w.text, "string", false, "VALUE is a string, whatever it looks like")
	a.writeFlags(cmd, &w)
	return cmd
}

func (a *app) settingsUnsetCommand() *cobra.Command {
	var w settingsWrite
	cmd := &cobra.Command{
		Use:   "unset NS[.PATH]",
		Short: "Take a setting, or a whole section, out of your document",
		Long: `Take a setting out of your document, so that it has its default again; without
PATH everything that the section has. What is not there may be unset.`,
		Example: `  hardshell settings unset shell.timeoutMs
  hardshell settings unset sandbox`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("unset needs the name of one setting or namespace: %s", firstExample(cmd))
			}
			return nil
		},
		ValidArgsFunction: a.completeSettings(1),
		RunE: a.settingsRun(func(cmd *cobra.Command, args []string) error {
			at, err := parseAddress(args[0])
			if err != nil {
				return err
			}
			return a.writeSetting(cmd, w, at, settings.Unset(at.path...))
		}),
	}
	a.writeFlags(cmd, &w)
	return cmd
}

func (a *app) writeFlags(cmd *cobra.Command, w *settingsWrite) {
	cmd.Flags().Uint64Var(&w.expected, "expected-revision", 0, "write only if the section still has this revision")
	a.jsonFlag(cmd)
	// A value that was taken for a flag may be a secret: it is not repeated.
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if strings.Contains(err.Error(), "--expected-revision") && !strings.Contains(err.Error(), "unknown") {
			return usagef("--expected-revision takes a number, as describe shows it\nSee '%s --help'", cmd.CommandPath())
		}
		return usagef("a flag is not known: a value that begins with a dash is given after --, as in %s -- NAME VALUE\nSee '%s --help'", cmd.CommandPath(), cmd.CommandPath())
	})
}

// maxValue bounds a value that is read from standard input.
const maxValue = 8 << 20

// settingValue is a value in the words of a command line. No error repeats it.
func (a *app) settingValue(word string, text bool) (any, error) {
	if word == "-" {
		data, err := io.ReadAll(io.LimitReader(a.streams.In, maxValue+1))
		if err != nil {
			return nil, usagef("the value cannot be read from standard input: %w", err)
		}
		if len(data) > maxValue {
			return nil, usagef("the value on standard input is longer than %d MiB", maxValue>>20)
		}
		word = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	}
	if !text {
		if value, err := jsontree.Parse([]byte(word)); err == nil {
			return value, nil
		}
	}
	return word, nil
}

// writtenDocument is what set and unset print. It has no value.
type writtenDocument struct {
	NS   settings.Namespace `json:"ns"`
	Path jsontree.Path      `json:"path"`
	// Revision is that of the section now; Changed says that this made it.
	Revision uint64           `json:"revision"`
	Changed  bool             `json:"changed"`
	Applies  settings.Applies `json:"applies"`
}

// writeSetting makes one edit of the document.
func (a *app) writeSetting(cmd *cobra.Command, w settingsWrite, at address, op settings.Op) error {
	var expect settings.Expect
	if cmd.Flags().Changed("expected-revision") {
		expect = settings.ExpectRevision(w.expected)
	}
	return a.withSettings(cmd.Context(), false, func(service *settings.Service) error {
		before, err := describeOne(service, at.ns)
		if err != nil {
			return err
		}
		if err := service.Mutate(cmd.Context(), at.ns, []settings.Op{op}, expect); err != nil {
			return hintString(err, at, op)
		}
		now, err := describeOne(service, at.ns)
		if err != nil {
			return err
		}
		a.warnUnread(now, at, op)
		done := writtenDocument{at.ns, at.path, now.Revision, now.Revision != before.Revision, now.Applies}
		if a.json {
			return a.printJSON(done)
		}
		return a.printWritten(done, at, op)
	})
}

func (a *app) printWritten(done writtenDocument, at address, op settings.Op) error {
	words := map[string]string{"set": "is set", "unset": "is unset"}[op.Op]
	if !done.Changed {
		words = map[string]string{"set": "was set to that already", "unset": "was not set"}[op.Op]
	}
	more := ""
	if done.Changed && done.Applies == settings.Restart {
		more = "; it applies to what is started from now on"
	}
	_, err := fmt.Fprintf(a.streams.Out, "%s %s (revision %d)%s\n", at, words, done.Revision, more)
	return err
}

// warnUnread says that nothing reads what was set: it may be a slip of the pen.
func (a *app) warnUnread(d settings.Descriptor, at address, op settings.Op) {
	if op.Op == "set" && slices.Contains(d.Unknown, at.path.String()) {
		a.tell("warning: there is no setting %s: nothing reads it; hardshell settings unset %s takes it away", at, at)
	}
}

// hintString tells how to set a string that looks like something else.
func hintString(err error, at address, op settings.Op) error {
	var invalid *settings.InvalidError
	if _, isText := op.Value.(string); op.Op != "set" || isText || !errors.As(err, &invalid) {
		return err
	}
	for _, problem := range invalid.Problems {
		if problem.Path == at.path.String() && problem.Keyword == "type" && strings.Contains(problem.Message, "string") {
			return fmt.Errorf("%w; with --string the value is taken as a string", err)
		}
	}
	return err
}
