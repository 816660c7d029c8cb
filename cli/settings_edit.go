package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hardshell/compose"
	"hardshell/internal/document"
	"hardshell/internal/fault"
	"hardshell/internal/state"
)

func (a *app) settingsEditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit",
		Short: "Edit your document with your editor",
		Long: `Edit a copy of your document with $VISUAL, $EDITOR or vi, as text. What comes back
is checked as validate does, and takes the place of the document only when it is
valid and nobody else has changed the document meanwhile. What is refused is kept,
and you are told where.

The editor must not return before it is closed: "code --wait", for instance.`,
		Example: "  EDITOR=nano hardshell settings edit",
		Args:    cobra.NoArgs,
		RunE: a.settingsRun(func(cmd *cobra.Command, _ []string) error {
			return a.editSettings(cmd.Context())
		}),
	}
	a.jsonFlag(cmd)
	return cmd
}

// settingsFile is the document as a file, for its text.
type settingsFile interface {
	Path() string
	Content() ([]byte, error)
	Install(ctx context.Context, old, text []byte) error
}

// edit is one edit of the document as text.
type edit struct {
	app  *app
	in   compose.Surroundings
	rows []compose.Row
	file settingsFile
	old  []byte // nil when there was no document
	copy string // the path of the copy, in a directory of its own
}

func (a *app) editSettings(ctx context.Context) error {
	in, rows, err := a.composition()
	if err != nil {
		return err
	}
	file, err := compose.SettingsFile(in, rows)
	if err != nil {
		return err
	}
	e := &edit{app: a, in: in, rows: rows, file: file}
	if e.old, err = file.Content(); err != nil {
		return err
	}
	if err := e.makeCopy(); err != nil {
		return err
	}
	changed, err := e.run(ctx)
	if err != nil {
		return err
	}
	// What is left of it is of no use to anybody.
	_ = os.RemoveAll(filepath.Dir(e.copy))
	if a.json {
		return a.printJSON(struct {
			Path    string `json:"path"`
			Changed bool   `json:"changed"`
		}{file.Path(), changed})
	}
	words := "was not changed"
	if changed {
		words = "is changed"
	}
	_, err = fmt.Fprintf(a.streams.Out, "%s %s\n", file.Path(), words)
	return err
}

// makeCopy makes the copy in the one part of the home that no confined command
// sees. Its name tells an editor the language.
func (e *edit) makeCopy() error {
	run := e.in.Home.Run()
	if err := e.in.Home.Ensure(run); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(run, "settings-edit-")
	if err != nil {
		return fault.New(fault.SettingsReadOnly, "a copy for the editor cannot be made: %w", err)
	}
	e.copy = filepath.Join(dir, filepath.Base(e.file.Path()))
	if err := os.WriteFile(e.copy, e.old, 0o600); err != nil {
		return errors.Join(fault.New(fault.SettingsReadOnly, "a copy for the editor cannot be made: %w", err), os.RemoveAll(dir))
	}
	return nil
}

// run edits until the text can be installed, or is given up.
func (e *edit) run(ctx context.Context) (changed bool, err error) {
	for {
		if err := e.app.runEditor(e.copy); err != nil {
			if text, unread := e.text(); unread == nil && bytes.Equal(text, e.old) {
				return false, errors.Join(err, os.RemoveAll(filepath.Dir(e.copy)))
			}
			return false, fault.New(fault.InvalidArgument, "%w; %s", err, e.kept())
		}
		text, err := e.text()
		if err != nil {
			return false, fault.New(fault.DocumentInvalid, "the edited copy %s cannot be read: %w", e.copy, err)
		}
		if bytes.Equal(text, e.old) {
			return false, nil
		}
		checked, err := e.app.checkText(ctx, e.in, e.rows, filepath.Base(e.copy), text)
		if err != nil {
			return false, fmt.Errorf("%w; %s", err, e.kept())
		}
		if len(checked.Problems) == 0 {
			for _, line := range checked.lines() {
				e.app.tell("%s", line)
			}
			if err := e.file.Install(ctx, e.old, text); err != nil {
				return false, fmt.Errorf("%w; %s", err, e.kept())
			}
			return true, nil
		}
		if !e.app.json {
			e.app.tell("the edited document is not valid\n%s", strings.Join(checked.lines(), "\n"))
		}
		if !e.again() {
			return false, &checkError{checked: checked, kept: e.kept()}
		}
	}
}

func (e *edit) text() ([]byte, error) { return state.ReadFile(e.copy, document.MaxSize) }

func (e *edit) kept() string { return "your text is kept in " + e.copy }

// again asks on a terminal whether to go on after a mistake.
func (e *edit) again() bool {
	in, ok := e.app.streams.In.(*os.File)
	if !ok {
		return false
	}
	if width, _ := terminalSize(in); width == 0 {
		return false
	}
	for {
		fmt.Fprintf(e.app.streams.Err, "(e)dit again, or (q)uit and keep the text in %s? ", e.copy)
		switch answer, err := readLine(in); {
		case err != nil || answer == "q" || answer == "quit":
			return false
		case answer == "e" || answer == "edit":
			return true
		}
	}
}

// readLine reads one line and not a byte more, which would be the editor's.
func readLine(in *os.File) (string, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < 1024; {
		if _, err := in.Read(b); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			break
		}
		line = append(line, b[0])
	}
	return strings.ToLower(strings.TrimSpace(string(line))), nil
}
