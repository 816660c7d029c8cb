package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hardshell"
	"hardshell/internal/plainjson"
	"hardshell/jobs"
	"hardshell/tool"
)

func (a *app) callCommand() *cobra.Command {
	var workspace string
	cmd := &cobra.Command{
		Use:   "call TOOL [JSON]",
		Short: "Call a tool as a model would",
		Long: `Call a tool exactly as a model would, through the whole pipeline, and print the
text that the model would see. Without JSON, or with "-", the arguments are read
from standard input.

A background job (run_in_background) needs a session to belong to: name one with
--session. What is news of the session's jobs is then told after the result, on
standard error, or with --json in "notices".

The exit status is 0, 1 when the result is an error, and 2 for bad usage, arguments
that are no JSON among it.`,
		Example: `  hardshell call bash '{"command":"date","description":"Tell the time"}'
  hardshell call bash --json - < arguments.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("call needs a tool and its arguments: hardshell call TOOL [JSON]")
			}
			return nil
		},
		ValidArgsFunction: a.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments, err := a.arguments(args[1:])
			if err != nil {
				return err
			}
			return a.call(cmd.Context(), workspace, args[0], arguments)
		},
	}
	cmd.Flags().StringVar(&workspace, "workspace", "", "directory that the session works in (default: the current one)")
	a.jsonFlag(cmd)
	return cmd
}

// maxArguments bounds what is read as the arguments of one call.
const maxArguments = 64 << 20

// arguments reads the JSON of a call.
func (a *app) arguments(args []string) (json.RawMessage, error) {
	if len(args) == 1 && args[0] != "-" {
		return checkJSON([]byte(args[0]))
	}
	data, err := io.ReadAll(io.LimitReader(a.streams.In, maxArguments+1))
	if err != nil {
		return nil, usagef("the arguments cannot be read from standard input: %w", err)
	}
	if len(data) > maxArguments {
		return nil, usagef("the arguments are longer than %d bytes", maxArguments)
	}
	return checkJSON(data)
}

// checkJSON refuses what is no JSON, and says where. It quotes nothing: there may
// be secrets around. Nothing at all is no mistake.
func checkJSON(data []byte) (json.RawMessage, error) {
	var raw json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(data, &raw); {
	case len(data) == 0 || err == nil:
		return data, nil
	case !errors.As(err, &syntax):
		return nil, usagef("the arguments are not valid JSON")
	case errors.Is(json.NewDecoder(bytes.NewReader(data)).Decode(&raw), io.ErrUnexpectedEOF):
		return nil, usagef("the arguments are not valid JSON: they end after byte %d, before the JSON does; %s", len(data), quoteThem)
	default:
		return nil, usagef("the arguments are not valid JSON: byte %d of %d does not belong there; %s", syntax.Offset, len(data), quoteThem)
	}
}

const quoteThem = "quote them for the shell, or give them on standard input"

func (a *app) call(ctx context.Context, workspace, name string, arguments json.RawMessage) error {
	signals := watchSignals(ctx)
	defer signals.stop()
	h, err := a.open(signals.ctx, hardshell.Options{Workspace: workspace})
	if err != nil {
		return signals.explain(err)
	}
	stopKill := context.AfterFunc(signals.again, func() { h.Close(signals.again) })
	defer stopKill()
	<-signals.ready
	result := h.Call(signals.ctx, name, arguments)
	notices := a.notices(h)
	told, err := a.printCall(result, notices)
	h.Told(told) // not before: who dies in between tells them again
	if err := h.Close(signals.closing()); err != nil {
		a.tell("%v", err)
	}
	switch {
	case err != nil:
		return err
	case signals.ctx.Err() != nil:
		return exitStatus(signals.interruption())
	case result.IsError:
		return exitStatus(exitError)
	default:
		return nil
	}
}

// notices are what is news of the session's jobs. A throw-away session has none.
func (a *app) notices(h *hardshell.Harness) []jobs.Notice {
	if a.session == "" {
		return nil
	}
	h.Jobs().List(h.Owner()) // finds those that have settled since
	return h.Notices()
}

// printCall prints a result and what is news, and returns what of it was told.
func (a *app) printCall(result tool.Result, notices []jobs.Notice) (told []jobs.Notice, err error) {
	if a.json {
		if err := a.printJSON(callDocument{result, notices}); err != nil {
			return nil, err
		}
		if lost(a.streams.Out) {
			return nil, nil
		}
		return notices, nil
	}
	if err := a.printContent(result); err != nil {
		return nil, err
	}
	for _, notice := range notices {
		if !a.say("%s", clean(notice.Text)) {
			break
		}
		told = append(told, notice)
	}
	return told, nil
}

// callDocument is a result with what is news beside it.
type callDocument struct {
	result  tool.Result
	notices []jobs.Notice
}

// MarshalJSON gives the form of the result, and notices when there are any.
func (d callDocument) MarshalJSON() ([]byte, error) {
	document, err := plainjson.Marshal(d.result)
	if err != nil || len(d.notices) == 0 {
		return document, err
	}
	notices, err := plainjson.Marshal(d.notices)
	document = append(document[:len(document)-1], `,"notices":`...)
	return append(append(document, notices...), '}'), err
}

// printContent prints the text that a model would see, and nothing else.
func (a *app) printContent(result tool.Result) error {
	for _, block := range result.Content {
		if _, err := io.WriteString(a.streams.Out, block.Text); err != nil {
			return err
		}
	}
	return a.endLine(result)
}

// endLine ends the last line of a result on a terminal, for the prompt that
// follows.
func (a *app) endLine(result tool.Result) error {
	text, _ := result.SoleText()
	out, ok := a.streams.Out.(*sink)
	if !ok || strings.HasSuffix(text, "\n") {
		return nil
	}
	if width, _ := terminalSize(out.w); width == 0 {
		return nil
	}
	_, err := io.WriteString(a.streams.Out, "\n")
	return err
}
