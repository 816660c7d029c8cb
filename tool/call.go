package tool

import (
	"context"
	"encoding/json"
	"errors"

	"hardshell/internal/fault"
	"hardshell/internal/plainjson"
)

// Call asks for one run of a tool.
type Call struct {
	// ID names the call on the face that it came from; it may be empty.
	ID string
	// Tool is the name of the tool.
	Tool string
	// Args is a JSON object; empty means {}. Listeners and the body see it in
	// one spelling (sorted keys, a repeated key's last value) with the declared
	// properties alone, and must not change it.
	Args json.RawMessage
	// Session is the live session that the call belongs to, nil without one.
	Session Session
}

// Session is the live handle of the session that makes a call. It is
// comparable: a session that was resumed is another handle.
type Session interface {
	// ID is the name of the session.
	ID() string
	// Workspace is the session's working directory: absolute, canonical, fixed
	// for the session's life.
	Workspace() string
	// LogPath is the absolute path of the session's log, or "".
	LogPath() string
}

// Result is what a call came to, ready for every face.
type Result struct {
	// IsError is true when the tool could not do what was asked. A command
	// that exits with a nonzero status is no error.
	IsError bool
	// Error is set exactly when IsError is.
	Error *ErrorInfo
	// Content is what a model reads.
	Content []Content
	// Structured is the tool's own value, nil for an error. Its JSON form
	// satisfies the tool's output schema.
	Structured any
	// Card is the presentation for a person.
	Card Card
}

// ErrorInfo is the failure of a call.
type ErrorInfo struct {
	// Code is empty for a failure that carries none.
	Code    fault.Code `json:"code,omitempty"`
	Message string     `json:"message"`
}

// Content is one block of what a model reads. Type is "text".
type Content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Text returns one block of text.
func Text(text string) []Content { return []Content{{Type: "text", Text: text}} }

// SoleText returns the text of a result that is exactly one block of text.
func (r Result) SoleText() (string, bool) {
	if len(r.Content) != 1 || r.Content[0].Type != "text" {
		return "", false
	}
	return r.Content[0].Text, true
}

// MarshalJSON gives the form of every face: isError, error when there is one,
// content, structuredContent (null when there is none) and card.
func (r Result) MarshalJSON() ([]byte, error) {
	content := r.Content
	if content == nil {
		content = []Content{}
	}
	return plainjson.Marshal(struct {
		IsError    bool       `json:"isError"`
		Error      *ErrorInfo `json:"error,omitempty"`
		Content    []Content  `json:"content"`
		Structured any        `json:"structuredContent"`
		Card       Card       `json:"card"`
	}{r.IsError, r.Error, content, r.Structured, r.Card})
}

// Denied is the code of a call that a listener, a person or a guard refused.
const Denied fault.Code = "DENIED"

// Aborted is the error of a call whose context ended while its body ran.
func Aborted() error { return fault.New(fault.Aborted, "tool call aborted") }

func abortedBeforeDispatch() error {
	return fault.New(fault.AbortedBeforeDispatch, "tool call aborted before dispatch")
}

// failure is the result of a call that ended with err.
func failure(err error) Result {
	return Result{
		IsError: true,
		Error:   &ErrorInfo{Code: fault.CodeOf(err), Message: err.Error()},
		Content: Text("Error: " + err.Error()),
	}
}

// settled applies an ended context to the outcome of a body: a success becomes
// an abort, and so does the bare error of the context. Any other failure says
// more than the abort does, and stays.
func settled(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	bare := fault.CodeOf(err) == "" && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
	if err == nil || bare {
		return Aborted()
	}
	return err
}
