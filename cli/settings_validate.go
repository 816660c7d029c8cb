package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hardshell/compose"
	"hardshell/internal/document"
	"hardshell/internal/fault"
)

func (a *app) settingsValidateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check your document, or a file that could be it",
		Long: `Check your document, or a file that could be it: that it can be read, and that
every section fits what it is for. Each problem is told with its line and column.
Warnings are told too: keys that nothing reads, and nulls.

The exit status is 0 when the document is valid, 1 when it is not.`,
		Example: `  hardshell settings validate
  hardshell settings validate new.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("validate takes one file, or none for your document: %s", firstExample(cmd))
			}
			return nil
		},
		RunE: a.settingsRun(func(cmd *cobra.Command, args []string) error {
			return a.validateSettings(cmd.Context(), args)
		}),
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) validateSettings(ctx context.Context, args []string) error {
	in, rows, err := a.composition()
	if err != nil {
		return err
	}
	own, err := compose.SettingsFile(in, rows)
	if err != nil {
		return err
	}
	name, read := own.Path(), own.Content
	if len(args) == 1 {
		if _, err := document.FormatOf(args[0]); err != nil {
			return usageError{err}
		}
		name, read = args[0], func() ([]byte, error) { return readDocument(args[0]) }
	}
	text, err := read()
	if err != nil {
		return err
	}
	checked, err := a.checkText(ctx, in, rows, name, text)
	if err != nil {
		return err
	}
	switch {
	case a.json && len(checked.Problems) > 0:
		return &checkError{checked: checked}
	case a.json:
		return a.printJSON(struct {
			OK bool `json:"ok"`
			checkedDocument
		}{true, checked})
	}
	lines := checked.lines()
	switch {
	case text == nil:
		lines = append(lines, name+" does not exist: every setting has its default")
	case len(checked.Problems) == 0:
		lines = append(lines, name+" is valid")
	}
	if _, err := fmt.Fprintln(a.streams.Out, strings.Join(lines, "\n")); err != nil {
		return err
	}
	if len(checked.Problems) > 0 {
		return exitStatus(exitError)
	}
	return nil
}

// readDocument reads a file that a person has named.
func readDocument(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.DocumentInvalid, "there is no file %s", path)
	case err != nil:
		return nil, fault.New(fault.DocumentInvalid, "the document cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return nil, fault.New(fault.DocumentInvalid, "%s is no plain file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.DocumentInvalid, "the document cannot be read: %w", err)
	}
	defer file.Close()
	// One byte more than is allowed is refused by the parser.
	text, err := io.ReadAll(io.LimitReader(file, document.MaxSize+1))
	if err != nil {
		return nil, fault.New(fault.DocumentInvalid, "the document cannot be read: %w", err)
	}
	return text, nil
}
