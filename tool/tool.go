package tool

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"hardshell/internal/fault"
)

// Definition is a tool in its own types. In is a struct: its JSON fields are
// the properties of the arguments, those without omitempty required.
type Definition[In, Out any] struct {
	// Name is 1 to 64 of the characters A-Z a-z 0-9 _ -.
	Name string
	// Description tells the model what the tool is for.
	Description string
	Annotations Annotations
	// Hidden names properties of In that the body wants to see when they are
	// sent, though this deployment does not publish them.
	Hidden []string
	// Refine completes the schema generated from In: descriptions, enums,
	// bounds. It runs once, when the schema is first needed; nil changes
	// nothing.
	Refine func(input *jsonschema.Schema)
	// OutputSchema describes the JSON form of Out; nil generates it from Out.
	OutputSchema func() (*jsonschema.Schema, error)
	// Run is the body. An error makes an error result, with the code that it
	// carries. It returns when nothing of the call is running any more.
	Run func(ctx context.Context, call Call, in In) (Out, error)
	// Render is the text that a model reads.
	Render func(out Out) string
	// PresentCall and PresentResult make the cards; nil makes none. The first
	// is not asked about malformed arguments, the second gets nil for them.
	PresentCall   func(in In) View
	PresentResult func(in *In, result Result) View
	// ParallelSafe is true for a call that may run beside others; nil is never.
	ParallelSafe func(in In) bool
}

// Annotations are hints for a client that decides what to ask a person about.
// They grant nothing.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// Tool is a definition without its types. It is immutable and safe for
// concurrent use, as far as the functions of its definition are.
type Tool struct {
	name        string
	description string
	annotations Annotations

	input  func() (inputSchema, error)
	output func() (*jsonschema.Schema, error)

	decode        func(declared json.RawMessage) (any, error)
	run           func(ctx context.Context, call Call, in any) (any, error)
	render        func(out any) (string, error)
	presentCall   func(in any) View
	presentResult func(in any, result Result) View
	parallelSafe  func(in any) bool
}

// New makes a tool of its definition. Its schemas are generated when they are
// first needed. A definition without a valid name, a body or a rendering is an
// INVALID_ARGUMENT error.
func New[In, Out any](d Definition[In, Out]) (*Tool, error) {
	switch {
	case !validName(d.Name):
		return nil, fault.New(fault.InvalidArgument, "%q is no name for a tool: use 1 to 64 letters, digits, _ or -", d.Name)
	case d.Run == nil || d.Render == nil:
		return nil, fault.New(fault.InvalidArgument, "the tool %q needs a body and a rendering", d.Name)
	case reflect.TypeFor[In]().Kind() != reflect.Struct:
		return nil, fault.New(fault.InvalidArgument, "the arguments of the tool %q must be a struct", d.Name)
	}
	output := d.OutputSchema
	if output == nil {
		output = SchemaFor[Out]
	}
	return &Tool{
		name: d.Name, description: d.Description, annotations: d.Annotations,
		input: sync.OnceValues(func() (inputSchema, error) {
			return newInputSchema[In](d.Refine, d.Hidden)
		}),
		output: sync.OnceValues(output),
		decode: func(declared json.RawMessage) (any, error) { return decode[In](declared) },
		run: func(ctx context.Context, call Call, in any) (any, error) {
			return d.Run(ctx, call, in.(In))
		},
		render: func(out any) (string, error) {
			value, ok := out.(Out)
			if !ok {
				return "", fault.New(fault.InvalidToolOutput, "the tool %q returned a value that is not its output", d.Name)
			}
			return d.Render(value), nil
		},
		presentCall: func(in any) View {
			value, ok := in.(In)
			if !ok || d.PresentCall == nil {
				return nil
			}
			return d.PresentCall(value)
		},
		presentResult: func(in any, result Result) View {
			if d.PresentResult == nil {
				return nil
			}
			if value, ok := in.(In); ok {
				return d.PresentResult(&value, result)
			}
			return d.PresentResult(nil, result)
		},
		parallelSafe: func(in any) bool {
			value, ok := in.(In)
			return ok && d.ParallelSafe != nil && d.ParallelSafe(value)
		},
	}, nil
}

// Name is the name that a call gives.
func (t *Tool) Name() string { return t.name }

// Description tells a model what the tool is for.
func (t *Tool) Description() string { return t.description }

// Annotations are hints for clients.
func (t *Tool) Annotations() Annotations { return t.annotations }

// InputSchema is the schema of the arguments as a model is shown it. It is
// shared and must not be changed. The error is a defect of the definition.
func (t *Tool) InputSchema() (*jsonschema.Schema, error) {
	input, err := t.input()
	return input.published, err
}

// OutputSchema is the schema of Result.Structured. It is shared and must not
// be changed. The error is a defect of the definition.
func (t *Tool) OutputSchema() (*jsonschema.Schema, error) { return t.output() }

// Present makes the cards of a call and its result. It never panics, whatever
// the arguments are.
func (t *Tool) Present(args json.RawMessage, result Result) Card {
	in := quietly(func() any {
		if _, in, err := t.arguments(args); err == nil {
			return in
		}
		return nil
	})
	return t.present(in, result)
}

// present makes the cards from decoded arguments, nil for malformed ones. A
// presenter that panics makes no card, nor does the nil tool.
func (t *Tool) present(in any, result Result) Card {
	if t == nil {
		return Card{}
	}
	return Card{
		Call:   quietly(func() View { return t.presentCall(in) }),
		Result: quietly(func() View { return t.presentResult(in, result) }),
	}
}

// arguments checks and decodes args. The spelling that it returns has the
// declared properties alone.
func (t *Tool) arguments(args json.RawMessage) (spelling json.RawMessage, in any, err error) {
	input, err := t.input()
	if err != nil {
		return nil, nil, fault.New(fault.Invariant, "the schema of the tool %q cannot be made: %w", t.name, err)
	}
	object, err := parseArguments(args)
	if err != nil {
		return nil, nil, err
	}
	declared, err := checkArguments(object, input.accepted)
	if err != nil {
		return nil, nil, err
	}
	spelling = encodeArguments(declared)
	in, err = t.decode(spelling)
	return spelling, in, err
}

// decode reads arguments that hold declared properties alone, in their exact
// spelling: encoding/json would let COMMAND stand for command.
func decode[In any](declared json.RawMessage) (any, error) {
	var in In
	err := json.Unmarshal(declared, &in)
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mismatch):
		return nil, invalidArguments(mismatch.Field + " is out of range")
	case err != nil:
		return nil, invalidArguments(err.Error())
	}
	return in, nil
}

// quietly is f's value, or the zero value when f panics.
func quietly[T any](f func() T) (value T) {
	defer func() { _ = recover() }()
	return f()
}

func validName(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return name != "" && len(name) <= 64
}
