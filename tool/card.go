package tool

import (
	"strings"

	"hardshell/internal/plainjson"
)

// Card is how a person sees a call. A nil view leaves the presentation to the
// face.
type Card struct {
	Call   View `json:"call"`
	Result View `json:"result"`
}

// View is one of TerminalCall, TerminalResult and Generic. Its JSON form has
// the kind of card in "card".
type View interface{ view() }

// TerminalCall shows a command that is about to run.
type TerminalCall struct {
	// Title is the command.
	Title string `json:"title"`
	// Description says in plain words what the command is for.
	Description string `json:"description,omitempty"`
	// Cwd is the working directory as it was given; "" is the session's
	// workspace, from which a relative one is taken.
	Cwd string `json:"cwd,omitempty"`
}

// TerminalResult shows a command's output, and apart from it how the command
// ended: at most one of ExitCode and Signal is set.
type TerminalResult struct {
	// Title replaces the title of the call when it is not empty.
	Title    string `json:"title,omitempty"`
	Output   string `json:"output"`
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
}

// Generic shows anything else.
type Generic struct {
	Title string `json:"title,omitempty"`
	// Kind is the sort of activity.
	Kind Kind `json:"kind,omitempty"`
	// RawInput is the essence of the arguments.
	RawInput string `json:"rawInput,omitempty"`
	// Content is Markdown.
	Content   string     `json:"content,omitempty"`
	Locations []Location `json:"locations,omitempty"`
}

// Kind is the sort of activity of a generic card.
type Kind string

// The closed vocabulary of kinds.
const (
	KindRead    Kind = "read"
	KindEdit    Kind = "edit"
	KindDelete  Kind = "delete"
	KindMove    Kind = "move"
	KindSearch  Kind = "search"
	KindExecute Kind = "execute"
	KindFetch   Kind = "fetch"
	KindOther   Kind = "other"
)

// Location is a file that a call touches.
type Location struct {
	Path string `json:"path"`
	// Line counts from 1; 0 is the whole file.
	Line int `json:"line,omitempty"`
}

// Console returns text as a generic card: a fenced block without the text's
// trailing newlines.
func Console(text string) Generic {
	// A fence ends at the first line of as many backticks: one longer than any
	// run inside the text cannot be ended by the text.
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return Generic{Content: fence + "console\n" + strings.TrimRight(text, "\r\n") + "\n" + fence}
}

func (TerminalCall) view()   {}
func (TerminalResult) view() {}
func (Generic) view()        {}

// MarshalJSON adds the kind of card.
func (v TerminalCall) MarshalJSON() ([]byte, error) {
	type fields TerminalCall
	return marshalCard("terminal", fields(v))
}

// MarshalJSON adds the kind of card.
func (v TerminalResult) MarshalJSON() ([]byte, error) {
	type fields TerminalResult
	return marshalCard("terminal", fields(v))
}

// MarshalJSON adds the kind of card.
func (v Generic) MarshalJSON() ([]byte, error) {
	type fields Generic
	return marshalCard("generic", fields(v))
}

// marshalCard puts the kind of card before the fields of a view, an object.
func marshalCard(card string, fields any) ([]byte, error) {
	object, err := plainjson.Marshal(fields)
	if err != nil {
		return nil, err
	}
	head := `{"card":"` + card + `"`
	if len(object) > len("{}") {
		head += ","
	}
	return append([]byte(head), object[1:]...), nil
}
