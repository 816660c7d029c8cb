package bash

import (
	"encoding/json"
	"strings"

	"hardshell/shell"
	"hardshell/tool"
)

// presentCall shows the command: in a terminal, or as a job that begins.
func presentCall(in Input) tool.View {
	if in.RunInBackground {
		return tool.Generic{
			Title: in.Command, Kind: tool.KindExecute, RawInput: in.Command, Content: in.Description,
		}
	}
	return tool.TerminalCall{Title: in.Command, Description: in.Description, Cwd: in.Workdir}
}

// presentResult shows a finished command's text and its status apart. The
// status comes from the value: text can end with a line that looks like one.
// Only a result of which the value is lost is read from its text.
func presentResult(in *Input, result tool.Result) tool.View {
	text, ok := result.SoleText()
	if !ok {
		return nil
	}
	if result.IsError {
		return tool.Console(text)
	}
	switch value := result.Structured.(type) {
	case Foreground:
		return terminal(text, value.Result)
	case Background, Promoted:
		return tool.Console(text)
	}
	if view, ok := presentDocument(text, result.Structured); ok {
		return view
	}
	switch {
	case in == nil:
		return nil
	case in.RunInBackground, tellsPromotion(text):
		return tool.Console(text)
	}
	parsed := shell.ParseExitStatus(text)
	if parsed.Signal != "" {
		return tool.TerminalResult{Output: parsed.Body, Signal: parsed.Signal}
	}
	return tool.TerminalResult{Output: parsed.Body, ExitCode: &parsed.ExitCode}
}

// presentDocument shows a result of which the value was carried as JSON.
func presentDocument(text string, value any) (tool.View, bool) {
	if value == nil {
		return nil, false
	}
	var document struct {
		Kind     string  `json:"kind"`
		ExitCode *int    `json:"exitCode"`
		Signal   *string `json:"signal"`
	}
	data, err := json.Marshal(value)
	if err != nil || json.Unmarshal(data, &document) != nil {
		return nil, false
	}
	switch document.Kind {
	case kindForeground:
		ended := &shell.Result{ExitCode: document.ExitCode}
		if document.Signal != nil {
			ended.Signal = *document.Signal
		}
		return terminal(text, ended), true
	case kindBackground, kindPromoted:
		return tool.Console(text), true
	}
	return nil, false
}

// terminal takes from the text the one marker that this result put there.
func terminal(text string, result *shell.Result) tool.View {
	output := text
	if marker := shell.ExitMarker(result.ExitCode, result.Signal); marker != "" {
		output = strings.TrimSuffix(text, "\n"+marker)
	}
	if result.Signal != "" {
		return tool.TerminalResult{Output: output, Signal: result.Signal}
	}
	return tool.TerminalResult{Output: output, ExitCode: result.ExitCode}
}
