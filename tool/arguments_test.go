package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hardshell/internal/fault"
	"hardshell/tool"
)

func TestEveryMistakeInTheArgumentsIsReported(t *testing.T) {
	t.Parallel()
	const lossless = "tool execution arguments must be losslessly JSON-serializable"
	for name, c := range map[string]struct{ args, want string }{
		"nothing at all":              {``, `invalid arguments: missing required property "name"`},
		"an empty object":             {`{}`, `invalid arguments: missing required property "name"`},
		"a required property is null": {`{"name":null}`, `invalid arguments: "name" must be a string`},
		"an optional one is null":     {`{"name":"a","times":null}`, `invalid arguments: "times" must be a number`},
		"missing, then wrong ones in the schema's order": {
			`{"loud":1,"times":"soon","count":1.5}`,
			`invalid arguments: missing required property "name"; "times" must be a number; "count" must be an integer; "loud" must be a boolean`,
		},
		"a name in capitals is another name": {`{"NAME":"a"}`, `invalid arguments: missing required property "name"`},
		"a word outside an enum":             {`{"name":"a","tone":"hot"}`, `invalid arguments: "tone" must be one of "warm", "cold"`},
		"a hidden property of a wrong type":  {`{"name":"a","secret":5}`, `invalid arguments: "secret" must be a string`},
		"a wrong element": {
			`{"name":"a","tags":["x",1,2],"until":5}`,
			`invalid arguments: "tags[1]" must be a string; "until" must be an object`,
		},
		"a list that is none":                {`{"name":"a","tags":{}}`, `invalid arguments: "tags" must be an array`},
		"mistakes further inside":            {`{"name":"a","until":{"idleMs":"x"}}`, `invalid arguments: missing required property "until.pattern"; "until.idleMs" must be a number`},
		"a wrong value of a map":             {`{"name":"a","extra":{"k":"v"}}`, `invalid arguments: "extra.k" must be a number`},
		"an integer beyond int64":            {`{"name":"a","count":1e30}`, `invalid arguments: count is out of range`},
		"null":                               {`null`, `invalid arguments: expected a JSON object`},
		"a number":                           {`5`, `invalid arguments: expected a JSON object`},
		"a string":                           {`"x"`, `invalid arguments: expected a JSON object`},
		"a list":                             {`[{"name":"a"}]`, `invalid arguments: expected a JSON object`},
		"not a number":                       {`{"name":"a","times":NaN}`, lossless + `: not valid JSON at byte 21: invalid character 'N' looking for beginning of value`},
		"half an object":                     {`{"name":"a"`, lossless + `: not valid JSON at byte 11: unexpected end of JSON input`},
		"two objects":                        {`{"name":"a"}{}`, lossless + `: not valid JSON at byte 13: invalid character '{' after top-level value`},
		"a number beyond float64":            {`{"name":"a","times":1e400}`, lossless},
		"even in a key that nobody declared": {`{"name":"a","other":-1e400}`, lossless},
		"half a surrogate pair":              {`{"name":"\ud83d"}`, lossless},
		"the halves in the wrong order":      {`{"name":"\udca9\ud83d"}`, lossless},
		"half a pair before another escape":  {`{"name":"\ud83d\n"}`, lossless},
		"half a pair in a key":               {`{"name":"a","\ud83d":1}`, lossless},
		"bytes that are no UTF-8":            {"{\"name\":\"\xff\"}", lossless},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []greeting
			p := pipelineOf(t, tool.Options{}, mustTool(t, definition(&seen)))
			called := 0
			p.OnPre(func(ctx context.Context, _ tool.Call, next tool.Next[tool.Decision]) (tool.Decision, error) {
				called++
				return next(ctx)
			})
			p.OnPost(func(ctx context.Context, _ tool.Outcome, next tool.Next[tool.Review]) (tool.Review, error) {
				called++
				return next(ctx)
			})
			p.OnResult(func(context.Context, tool.Outcome) { called++ })
			result := p.Execute(t.Context(), greet(c.args))
			wantError(t, result, fault.InvalidArgs, c.want)
			if called != 0 || len(seen) != 0 {
				t.Errorf("%d listeners and %d bodies ran", called, len(seen))
			}
		})
	}
}

func TestTheBodySeesTheDeclaredArgumentsAlone(t *testing.T) {
	t.Parallel()
	times, secret := 2.5, "s"
	for name, c := range map[string]struct {
		args     string
		want     greeting
		spelling string
	}{
		"undeclared keys go no further": {
			`{"name":"a","env":{"X":1},"stdin":"x"}`, greeting{Name: "a"}, `{"name":"a"}`,
		},
		"a key in another case is undeclared": {
			`{"name":"a","NAME":"b","Name":"c"}`, greeting{Name: "a"}, `{"name":"a"}`,
		},
		"the last of repeated keys counts": {
			`{"name":"a","name":"b"}`, greeting{Name: "b"}, `{"name":"b"}`,
		},
		"a hidden property is decoded and its enum not asked for": {
			`{"secret":"s","name":"a"}`, greeting{Name: "a", Secret: &secret}, `{"name":"a","secret":"s"}`,
		},
		"numbers are what JSON means": {
			`{"name":"a","times":25e-1,"count":1e2}`, greeting{Name: "a", Times: &times, Count: 100},
			`{"count":100,"name":"a","times":2.5}`,
		},
		"text is kept byte for byte": {
			`{"name":"<&>\u2028\ud83d\udca9\\ud83d\u0000"}`, greeting{Name: "<&>\u2028💩\\ud83d\x00"},
			`{"name":"<&>\u2028💩\\ud83d\u0000"}`,
		},
		"undeclared keys inside go no further either": {
			`{"name":"a","until":{"pattern":"p","Pattern":"q","x":1},"extra":{"k":1}}`,
			greeting{Name: "a", Until: struct {
				Pattern string  `json:"pattern"`
				IdleMs  float64 `json:"idleMs,omitempty"`
			}{Pattern: "p"}, Extra: map[string]float64{"k": 1}},
			`{"extra":{"k":1},"name":"a","until":{"pattern":"p"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []greeting
			p := pipelineOf(t, tool.Options{}, mustTool(t, definition(&seen)))
			var spelling string
			p.OnGuard(func(_ context.Context, call tool.Call) string {
				spelling = string(call.Args)
				return ""
			})
			sent := []byte(c.args)
			result := p.Execute(t.Context(), tool.Call{Tool: "greet", Args: sent})
			if result.IsError {
				t.Fatalf("error: %s", result.Error.Message)
			}
			if diff := cmp.Diff([]greeting{c.want}, seen); diff != "" {
				t.Errorf("the body saw (-want +got):\n%s", diff)
			}
			if spelling != c.spelling {
				t.Errorf("listeners saw %s\nwant %s", spelling, c.spelling)
			}
			if string(sent) != c.args {
				t.Error("the caller's arguments were changed")
			}
		})
	}
}

// FuzzArguments holds the reader of arguments against the plain decoder: what
// is accepted means what the bytes say, and anything else is an error result.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `[]`, `{"name":"a"}`, `{"name":"a","NAME":"b"}`, `{"name":1}`, `{"name":"a","times":1e400}`,
		`{"name":"\ud83d\udca9","tags":["x"],"until":{"pattern":"p"},"extra":{"k":-0}}`, `{"name":"\ud83d"}`,
		`{"name":"\\ud83d","count":3,"loud":true,"tone":"warm","secret":"s"}`, "{\"name\":\"\xff\"}", `{"count":1e30,"name":""}`,
	} {
		f.Add([]byte(seed))
	}
	var seen []greeting
	p := pipelineOf(f, tool.Options{}, mustTool(f, definition(&seen)))
	f.Fuzz(func(t *testing.T, args []byte) {
		seen = nil
		before := bytes.Clone(args)
		result := p.Execute(context.Background(), tool.Call{Tool: "greet", Args: args})
		if !bytes.Equal(before, args) {
			t.Fatal("the caller's arguments were changed")
		}
		if result.IsError {
			if result.Error.Code != fault.InvalidArgs || len(seen) != 0 || !utf8.ValidString(result.Error.Message) {
				t.Fatalf("%+v after %d bodies", result.Error, len(seen))
			}
			return
		}
		var plain map[string]any
		if err := json.Unmarshal(args, &plain); err != nil {
			t.Fatalf("accepted what is no object: %v", err)
		}
		if len(seen) != 1 || seen[0].Name != plain["name"] {
			t.Fatalf("the body saw %+v, the bytes say %v", seen, plain)
		}
		if times, ok := plain["times"]; ok != (seen[0].Times != nil) || ok && times != *seen[0].Times {
			t.Fatalf("the body saw other times than %v", times)
		}
		if strings.ContainsRune(seen[0].Name, utf8.RuneError) && !bytes.Contains(args, []byte("\uFFFD")) &&
			!bytes.Contains(bytes.ToLower(args), []byte(`\ufffd`)) {
			t.Fatal("text was replaced silently")
		}
	})
}

// wantError checks that a result is this error, in all its forms.
func wantError(t testing.TB, result tool.Result, code fault.Code, message string) {
	t.Helper()
	if !result.IsError || result.Error == nil {
		t.Fatalf("no error: %+v", result)
	}
	if result.Error.Code != code || result.Error.Message != message {
		t.Errorf("error is %s %q\nwant %s %q", result.Error.Code, result.Error.Message, code, message)
	}
	if text, ok := result.SoleText(); !ok || text != "Error: "+result.Error.Message {
		t.Errorf("content is %+v", result.Content)
	}
	if result.Structured != nil {
		t.Errorf("an error has the value %v", result.Structured)
	}
}
