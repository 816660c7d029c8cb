package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"hardshell/tool"
)

// greeting is the arguments of the tool that these tests call.
type greeting struct {
	Name   string   `json:"name"`
	Times  *float64 `json:"times,omitempty"`
	Count  int      `json:"count,omitempty"`
	Loud   bool     `json:"loud,omitempty"`
	Tone   string   `json:"tone,omitempty"`
	Secret *string  `json:"secret,omitempty"`
	Tags   []string `json:"tags,omitempty"`
	Until  struct {
		Pattern string  `json:"pattern"`
		IdleMs  float64 `json:"idleMs,omitempty"`
	} `json:"until,omitzero"`
	Extra map[string]float64 `json:"extra,omitempty"`
}

type greeted struct {
	Text string `json:"text"`
}

// definition is a tool that greets, and keeps what it was given.
func definition(seen *[]greeting) tool.Definition[greeting, greeted] {
	return tool.Definition[greeting, greeted]{
		Name:        "greet",
		Description: "Greets.",
		Hidden:      []string{"secret"},
		Refine: func(s *jsonschema.Schema) {
			s.Properties["name"].Description = "Whom to greet."
			s.Properties["tone"].Enum = []any{"warm", "cold"}
			s.Properties["secret"].Enum = []any{"never checked while hidden"}
		},
		Run: func(_ context.Context, _ tool.Call, in greeting) (greeted, error) {
			if seen != nil {
				*seen = append(*seen, in)
			}
			return greeted{Text: "hello " + in.Name}, nil
		},
		Render:       func(out greeted) string { return out.Text },
		PresentCall:  func(in greeting) tool.View { return tool.Generic{Title: in.Name} },
		ParallelSafe: func(in greeting) bool { return !in.Loud },
		PresentResult: func(_ *greeting, r tool.Result) tool.View {
			text, _ := r.SoleText()
			return tool.Console(text)
		},
	}
}

func mustTool[In, Out any](t testing.TB, d tool.Definition[In, Out]) *tool.Tool {
	t.Helper()
	made, err := tool.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// pipelineOf is a pipeline over one tool.
func pipelineOf(t testing.TB, options tool.Options, tools ...*tool.Tool) *tool.Pipeline {
	t.Helper()
	var registry tool.Registry
	for _, made := range tools {
		if _, err := registry.Register(made); err != nil {
			t.Fatal(err)
		}
	}
	return tool.NewPipeline(&registry, options)
}

func greet(args string) tool.Call { return tool.Call{Tool: "greet", Args: json.RawMessage(args)} }

func marshal(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSchemasShowWhatAModelMaySend(t *testing.T) {
	t.Parallel()
	made := mustTool(t, definition(nil))
	input, err := made.InputSchema()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{` +
		`"name":{"type":"string","description":"Whom to greet."},` +
		`"times":{"type":"number"},"count":{"type":"integer"},"loud":{"type":"boolean"},` +
		`"tone":{"type":"string","enum":["warm","cold"]},` +
		`"tags":{"type":"array","items":{"type":"string"}},` +
		`"until":{"type":"object","properties":{"pattern":{"type":"string"},"idleMs":{"type":"number"}},"required":["pattern"]},` +
		`"extra":{"type":"object","additionalProperties":{"type":"number"}}},"required":["name"]}`
	if got := marshal(t, input); got != want {
		t.Errorf("input schema:\n got %s\nwant %s", got, want)
	}
	output, err := made.OutputSchema()
	if err != nil {
		t.Fatal(err)
	}
	want = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`
	if got := marshal(t, output); got != want {
		t.Errorf("output schema:\n got %s\nwant %s", got, want)
	}
}

func TestADefinitionIsRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*tool.Definition[greeting, greeted]){
		"without a name":           func(d *tool.Definition[greeting, greeted]) { d.Name = "" },
		"with a space in its name": func(d *tool.Definition[greeting, greeted]) { d.Name = "a b" },
		"without a body":           func(d *tool.Definition[greeting, greeted]) { d.Run = nil },
		"without a rendering":      func(d *tool.Definition[greeting, greeted]) { d.Render = nil },
	} {
		t.Run(name, func(t *testing.T) {
			d := definition(nil)
			spoil(&d)
			if _, err := tool.New(d); err == nil {
				t.Error("it was accepted")
			}
		})
	}
	if _, err := tool.New(tool.Definition[string, string]{
		Name:   "text",
		Run:    func(context.Context, tool.Call, string) (string, error) { return "", nil },
		Render: func(out string) string { return out },
	}); err == nil {
		t.Error("arguments that are no object were accepted")
	}
}

func TestARegistryHoldsOneToolOfAName(t *testing.T) {
	t.Parallel()
	var registry tool.Registry
	first := mustTool(t, definition(nil))
	remove, err := registry.Register(first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := registry.Register(mustTool(t, definition(nil))); err == nil {
		t.Error("a second tool of the name was accepted")
	}
	remove()
	if _, known := registry.Tool("greet"); known {
		t.Error("a removed tool is still there")
	}
	successor := mustTool(t, definition(nil))
	if _, err := registry.Register(successor); err != nil {
		t.Fatal(err)
	}
	remove()
	if found, _ := registry.Tool("greet"); found != successor {
		t.Error("removing a tool again took its successor away")
	}
	other := definition(nil)
	other.Name = "await"
	if _, err := registry.Register(mustTool(t, other)); err != nil {
		t.Fatal(err)
	}
	if tools := registry.Tools(); len(tools) != 2 || tools[0].Name() != "await" || tools[1].Name() != "greet" {
		t.Errorf("tools are not listed by name: %v", tools)
	}
}

func TestPresentingNeverPanics(t *testing.T) {
	t.Parallel()
	d := definition(nil)
	d.PresentResult = func(in *greeting, _ tool.Result) tool.View { return tool.Generic{Title: in.Name} }
	made := mustTool(t, d)
	for _, args := range []string{"null", "5", `"x"`, "", "{", `{"name":5}`, "[]"} {
		card := made.Present(json.RawMessage(args), tool.Result{})
		if card.Call != nil || card.Result != nil {
			t.Errorf("malformed arguments %q have a card: %+v", args, card)
		}
	}
	if card := made.Present(json.RawMessage(`{"name":"Ada"}`), tool.Result{}); marshal(t, card) !=
		`{"call":{"card":"generic","title":"Ada"},"result":{"card":"generic","title":"Ada"}}` {
		t.Errorf("well-formed arguments have the card %s", marshal(t, card))
	}
}

func TestCardsHaveTheirVocabulary(t *testing.T) {
	t.Parallel()
	zero, three := 0, 3
	for name, c := range map[string]struct {
		view tool.View
		want string
	}{
		"a terminal call": {
			tool.TerminalCall{Title: "ls", Description: "List", Cwd: "sub"},
			`{"card":"terminal","title":"ls","description":"List","cwd":"sub"}`,
		},
		"a clean exit": {tool.TerminalResult{ExitCode: &zero}, `{"card":"terminal","output":"","exitCode":0}`},
		"an exit status": {
			tool.TerminalResult{Output: "x<y", ExitCode: &three},
			`{"card":"terminal","output":"x\u003cy","exitCode":3}`,
		},
		"a signal": {tool.TerminalResult{Signal: "SIGTERM"}, `{"card":"terminal","output":"","signal":"SIGTERM"}`},
		"a generic card": {
			tool.Generic{Title: "t", Kind: tool.KindRead, RawInput: "r", Content: "c", Locations: []tool.Location{{Path: "/p", Line: 2}}},
			`{"card":"generic","title":"t","kind":"read","rawInput":"r","content":"c","locations":[{"path":"/p","line":2}]}`,
		},
		"an empty card":               {tool.Generic{}, `{"card":"generic"}`},
		"a console":                   {tool.Console("a\n\n"), "{\"card\":\"generic\",\"content\":\"```console\\na\\n```\"}"},
		"a console with fences in it": {tool.Console("```\na````"), "{\"card\":\"generic\",\"content\":\"`````console\\n```\\na````\\n`````\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := marshal(t, c.view); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAResultHasOneJSONForm(t *testing.T) {
	t.Parallel()
	p := pipelineOf(t, tool.Options{}, mustTool(t, definition(nil)))
	for args, want := range map[string]string{
		`{"name":"Ada"}`: `{"isError":false,"content":[{"type":"text","text":"hello Ada"}],"structuredContent":{"text":"hello Ada"},` +
			`"card":{"call":{"card":"generic","title":"Ada"},"result":{"card":"generic","content":"` + "```console\\nhello Ada\\n```" + `"}}}`,
		`[]`: `{"isError":true,"error":{"code":"INVALID_ARGS","message":"invalid arguments: expected a JSON object"},` +
			`"content":[{"type":"text","text":"Error: invalid arguments: expected a JSON object"}],"structuredContent":null,` +
			`"card":{"call":null,"result":{"card":"generic","content":"` + "```console\\nError: invalid arguments: expected a JSON object\\n```" + `"}}}`,
	} {
		if got := marshal(t, p.Execute(t.Context(), greet(args))); got != want {
			t.Errorf("%s:\n got %s\nwant %s", args, got, want)
		}
	}
}
