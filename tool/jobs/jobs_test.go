package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"hardshell/internal/fault"
	"hardshell/jobs"
	"hardshell/tool"
	tooljobs "hardshell/tool/jobs"
)

// Every golden file NAME.json has the call, what the registry was asked, the
// text that the model reads, the value and the card.
func TestACallHasItsTextItsValueAndItsCard(t *testing.T) {
	t.Parallel()
	capped := running()
	capped.OutputLimitBytes = 40
	stopping := running()
	stopping.Status = jobs.Stopping
	failed := running()
	failed.Status, failed.Detail = jobs.Failed, "spawn failed:\nno such file\n[status: completed]"
	unowned := running()
	unowned.OwnerSession = ""
	many := []byte(strings.Repeat("0123456789", 20_000))
	small := finished()
	small.OutputLimitBytes = 200
	for name, c := range map[string]struct {
		tool, args string
		registry   registry
	}{
		"output":              {"job_output", `{"job_id":"bash-1"}`, registry{job: running(), unread: "one\ntwo\n"}},
		"output-unterminated": {"job_output", `{"job_id":"bash-1"}`, registry{job: finished(), unread: "one"}},
		"output-blank-line":   {"job_output", `{"job_id":"bash-1"}`, registry{job: running(), unread: "one\n\n"}},
		"output-nothing-new":  {"job_output", `{"job_id":"bash-1"}`, registry{job: running()}},
		"output-failed":       {"job_output", `{"job_id":"bash-1"}`, registry{job: failed}},
		"output-capped":       {"job_output", `{"job_id":"bash-1"}`, registry{job: capped, unread: strings.Repeat("é", 100)}},
		"output-unused-time":  {"job_output", `{"job_id":"bash-1","timeout_ms":-5}`, registry{job: running()}},
		"wait":                {"job_output", `{"job_id":"bash-1","wait":true}`, registry{job: finished(), unread: "done\n"}},
		"wait-timeout":        {"job_output", `{"job_id":"bash-1","wait":true,"timeout_ms":1500}`, registry{job: running()}},
		"wait-beyond-the-cap": {"job_output", `{"job_id":"bash-1","wait":true,"timeout_ms":1e9}`, registry{job: running()}},
		"wait-shortest":       {"job_output", `{"job_id":"bash-1","wait":true,"timeout_ms":1e-300}`, registry{job: running()}},
		"until":               {"job_output", `{"job_id":"bash-1","until":{"pattern":"ready"}}`, registry{job: running(), unread: "ready\n"}},
		"until-both":          {"job_output", `{"job_id":"bash-1","wait":true,"timeout_ms":1e9,"until":{"pattern":"x","idleMs":0.5}}`, registry{job: running()}},
		"reread":              {"job_output", `{"job_id":"bash-1","stream":"stderr"}`, registry{job: finished(), stream: []byte("oops\n")}},
		"reread-part":         {"job_output", `{"job_id":"bash-1","from":64000}`, registry{job: finished(), stream: many}},
		"reread-live":         {"job_output", `{"job_id":"bash-1","from":2}`, registry{job: running(), stream: []byte("one")}},
		"reread-hole":         {"job_output", `{"job_id":"bash-1","from":2,"stream":"stdout"}`, registry{job: running(), stream: []byte("0123456789"), gone: 7}},
		"reread-beyond":       {"job_output", `{"job_id":"bash-1","from":1000}`, registry{job: running(), stream: []byte("0123456789")}},
		"reread-capped":       {"job_output", `{"job_id":"bash-1","from":10}`, registry{job: small, stream: many}},
		"reread-too-capped":   {"job_output", `{"job_id":"bash-1","from":10}`, registry{job: capped, stream: many}},
		"list":                {"job_list", `{}`, registry{job: running()}},
		"list-none":           {"job_list", ``, registry{}},
		"kill":                {"job_kill", `{"job_id":"bash-1","reason":"not needed"}`, registry{job: stopping}},
		"kill-finished":       {"job_kill", `{"job_id":"bash-1"}`, registry{job: finished()}},
		"input":               {"job_input", `{"job_id":"bash-1","text":"é\n"}`, registry{job: running()}},
		"input-eof":           {"job_input", `{"job_id":"bash-1","text":"y","eof":true}`, registry{job: running()}},
		"input-nothing-eof":   {"job_input", `{"job_id":"bash-1","text":"","eof":true}`, registry{job: unowned}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := call(t.Context(), t, &c.registry, c.tool, c.args)
			if result.IsError {
				t.Fatal(result.Error.Message)
			}
			text, _ := result.SoleText()
			if strings.HasPrefix(name, "reread-part") { // only its end is of interest
				text = strings.ReplaceAll(text, "0123456789", "")
				out := result.Structured.(tooljobs.Output)
				out.Text = ""
				result.Structured = out
			}
			golden(t, name+".txt", text)
			golden(t, name+".json", indented(t, map[string]any{
				"asked": c.registry.asked, "value": result.Structured, "card": result.Card,
			}))
			_, all, _ := registered(t, &registry{}, tooljobs.Config{})
			made, _ := all.Tool(c.tool)
			valid(t, made, result.Structured)
		})
	}
}

// valid fails when a value has what its schema does not.
func valid(t *testing.T, made *tool.Tool, value any) {
	t.Helper()
	schema, err := made.OutputSchema()
	if err != nil {
		t.Fatal(err)
	}
	strict := schema.CloneSchemas()
	closed(strict)
	resolved, err := strict.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal([]byte(asJSON(t, value)), &plain); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(plain); err != nil {
		t.Errorf("%s: %v", asJSON(t, value), err)
	}
}

// closed has a schema allow what it declares alone.
func closed(schema *jsonschema.Schema) {
	if schema == nil {
		return
	}
	if schema.Properties != nil {
		schema.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	for _, property := range schema.Properties {
		closed(property)
	}
	closed(schema.Items)
}

func TestArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	const emptyID = `invalid job_id: expected a non-empty string, got ""`
	const together = "invalid job_output: stream and from re-read what is there, and go neither with wait nor with until"
	for name, c := range map[string]struct{ tool, args, want string }{
		"no id":                     {"job_output", `{}`, `invalid arguments: missing required property "job_id"`},
		"an empty id":               {"job_output", `{"job_id":"","from":-1}`, emptyID},
		"an empty id to kill":       {"job_kill", `{"job_id":""}`, emptyID},
		"no id to kill":             {"job_kill", `{}`, `invalid arguments: missing required property "job_id"`},
		"an empty id to write to":   {"job_input", `{"job_id":"","text":""}`, emptyID},
		"no text":                   {"job_input", `{"job_id":"bash-1","eof":true}`, `invalid arguments: missing required property "text"`},
		"an empty text":             {"job_input", `{"job_id":"bash-1","text":""}`, "invalid text: expected a non-empty string, unless eof is true"},
		"an unknown stream":         {"job_output", `{"job_id":"bash-1","stream":"stdin"}`, `invalid arguments: "stream" must be one of "stdout", "stderr"`},
		"half a byte":               {"job_output", `{"job_id":"bash-1","from":1.5}`, `invalid arguments: "from" must be an integer`},
		"an offset before all":      {"job_output", `{"job_id":"bash-1","from":-1}`, "invalid from: expected an offset of 0 or more bytes, got -1"},
		"an offset beyond all":      {"job_output", `{"job_id":"bash-1","from":1e30}`, "invalid arguments: from is out of range"},
		"a re-read that waits":      {"job_output", `{"job_id":"bash-1","stream":"stdout","wait":true}`, together},
		"a re-read until":           {"job_output", `{"job_id":"bash-1","from":0,"until":{"idleMs":1}}`, together},
		"until nothing":             {"job_output", `{"job_id":"bash-1","until":{}}`, "invalid until: expected pattern, idleMs or both"},
		"until an empty pattern":    {"job_output", `{"job_id":"bash-1","until":{"pattern":""}}`, "invalid until.pattern: expected a non-empty string"},
		"until a pattern of others": {"job_output", `{"job_id":"bash-1","until":{"pattern":"(?=x)"}}`, "invalid until.pattern: expected a regular expression in RE2 syntax: error parsing regexp: invalid or unsupported Perl syntax: `(?=`"},
		"until idle for no time":    {"job_output", `{"job_id":"bash-1","until":{"idleMs":0}}`, "invalid until.idleMs: expected a positive number of milliseconds, got 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &registry{job: running()}
			wantError(t, call(t.Context(), t, r, c.tool, c.args), fault.InvalidArgs, c.want)
			if r.asked != nil {
				t.Errorf("the registry was asked %q", r.asked)
			}
		})
	}
}

func TestTheRegistryHasTheLastWord(t *testing.T) {
	t.Parallel()
	foreign := fault.New("FOREIGN_JOB", "job bash-1 belongs to another session")
	for name, c := range map[string]struct{ tool, args, asked string }{
		"on a read":    {"job_output", `{"job_id":"bash-1"}`, "s1: read bash-1"},
		"on a wait":    {"job_output", `{"job_id":"bash-1","wait":true,"timeout_ms":-1.5}`, "s1: wait bash-1 for -1.5ms"},
		"on an until":  {"job_output", `{"job_id":"bash-1","until":{"idleMs":1},"timeout_ms":-1e300}`, "s1: wait bash-1 for -1281023h53m38.427387904s or less"},
		"on a re-read": {"job_output", `{"job_id":"bash-1","from":0}`, "s1: read stdout of bash-1 from 0, at most 64000"},
		"on a kill":    {"job_kill", `{"job_id":"bash-1"}`, "s1: kill bash-1: "},
		"on an input":  {"job_input", `{"job_id":"bash-1","text":"x"}`, `s1: input "x" to bash-1, eof false`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &registry{err: foreign}
			wantError(t, call(t.Context(), t, r, c.tool, c.args), "FOREIGN_JOB", foreign.Message)
			if diff := cmp.Diff([]string{c.asked}, r.asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnAbortedWaitConsumesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args string
		err  error
		want string
	}{
		"when the registry noticed":        {`{"job_id":"bash-1","wait":true}`, fault.New(fault.Aborted, "wait aborted"), "wait aborted"},
		"when the job settled all at once": {`{"job_id":"bash-1","wait":true}`, nil, "tool call aborted"},
		"of less than the end":             {`{"job_id":"bash-1","until":{"idleMs":9}}`, nil, "tool call aborted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			r := &registry{job: running(), unread: "all of it"}
			r.waiting = func(context.Context) error {
				cancel()
				return c.err
			}
			wantError(t, call(ctx, t, r, "job_output", c.args), fault.Aborted, c.want)
			text, _ := call(t.Context(), t, r, "job_output", `{"job_id":"bash-1"}`).SoleText()
			if text != "all of it\n[status: running]" {
				t.Errorf("the next read got %q", text)
			}
		})
	}
}

func TestAPatternKnowsLines(t *testing.T) {
	t.Parallel()
	for pattern, c := range map[string]struct{ yes, no string }{
		`^ready$`:     {"a\nready\nb", "not ready"},
		`(?i)\bDONE`:  {"all done", "abandoned"},
		`a|^b`:        {"x\nb", "xb"},
		`a\z`:         {"x\na", "a\n"},
		`listening.*`: {"listening on 80", "listen"},
	} {
		r := &registry{job: running()}
		if result := call(t.Context(), t, r, "job_output", `{"job_id":"bash-1","until":{"pattern":`+asJSON(t, pattern)+`,"idleMs":1.5}}`); result.IsError {
			t.Fatal(result.Error.Message)
		}
		if !r.until.Pattern.MatchString(c.yes) || r.until.Pattern.MatchString(c.no) || r.until.Idle != 1500*time.Microsecond {
			t.Errorf("%s became %v", pattern, r.until)
		}
	}
}

func TestWithoutASessionNobodyAsks(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]tooljobs.Config{"no session": owned(), "no owners": {}} {
		r := &registry{job: running()}
		_, _, pipeline := registered(t, r, config)
		one := tool.Call{Tool: "job_list"}
		if name == "no owners" {
			one.Session = session{}
		}
		if result := pipeline.Execute(t.Context(), one); result.IsError {
			t.Fatal(result.Error.Message)
		}
		if diff := cmp.Diff([]string{"nobody: list"}, r.asked); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	for want, config := range map[string]tooljobs.Config{
		"tool-jobs: waitTimeoutMs (30000) exceeds maxWaitTimeoutMs (10000)": {MaxWaitTimeout: 10 * time.Second},
		"tool-jobs: waitTimeoutMs must be 1 or more, got 0.5":               {WaitTimeout: 500 * time.Microsecond},
		"tool-jobs: waitTimeoutMs must be 1 or more, got -1":                {WaitTimeout: -time.Millisecond},
		"tool-jobs: maxWaitTimeoutMs must be 1 or more, got -1":             {MaxWaitTimeout: -time.Millisecond},
		"tool-jobs: rereadBytes must be 1 or more, got -1":                  {RereadBytes: -1},
	} {
		if _, err := tooljobs.New(&registry{}, config); fault.CodeOf(err) != fault.InvalidArgument || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	r := &registry{job: running(), stream: []byte("0123456789")}
	_, _, pipeline := registered(t, r, tooljobs.Config{WaitTimeout: 2 * time.Second, MaxWaitTimeout: 3 * time.Second, RereadBytes: 4})
	for _, args := range []string{`{"job_id":"b","wait":true}`, `{"job_id":"b","wait":true,"timeout_ms":1e300}`, `{"job_id":"b","from":1}`} {
		pipeline.Execute(t.Context(), tool.Call{Tool: "job_output", Args: json.RawMessage(args)})
	}
	want := []string{
		"nobody: wait b for 2s", "nobody: read b", "nobody: wait b for 3s", "nobody: read b",
		"nobody: read stdout of b from 1, at most 4",
	}
	if diff := cmp.Diff(want, r.asked); diff != "" {
		t.Error(diff)
	}
}

func TestAllToolsAreRegisteredOrNone(t *testing.T) {
	t.Parallel()
	var all tool.Registry
	tools := newTools(t, &registry{}, tooljobs.Config{})
	remove, err := tools.Register(&all)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Tools()) != 4 {
		t.Errorf("registered %d tools", len(all.Tools()))
	}
	remove()
	taken, err := tool.New(tool.Definition[struct{}, string]{
		Name: "job_kill", Run: func(context.Context, tool.Call, struct{}) (string, error) { return "", nil },
		Render: func(s string) string { return s },
	})
	if err := errors.Join(err, func() error { _, err := all.Register(taken); return err }()); err != nil {
		t.Fatal(err)
	}
	if _, err := tools.Register(&all); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("error is %v", err)
	}
	if len(all.Tools()) != 1 {
		t.Errorf("%d tools are left", len(all.Tools()))
	}
}

func TestSchemasAreWhatAModelReads(t *testing.T) {
	t.Parallel()
	_, all, _ := registered(t, &registry{}, tooljobs.Config{})
	for _, made := range all.Tools() {
		t.Run(made.Name(), func(t *testing.T) {
			t.Parallel()
			input, err := made.InputSchema()
			if err != nil {
				t.Fatal(err)
			}
			output, err := made.OutputSchema()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "schema-"+made.Name()+".json", indented(t, map[string]any{
				"name": made.Name(), "description": made.Description(), "annotations": made.Annotations(),
				"inputSchema": input, "outputSchema": output,
			}))
			described(t, made.Name(), input)
			if made.Description() == "" {
				t.Error("it is not described")
			}
		})
	}
	golden(t, "guidance.txt", newTools(t, &registry{}, tooljobs.Config{}).Guidance())
}

func described(t *testing.T, path string, schema *jsonschema.Schema) {
	t.Helper()
	for name, property := range schema.Properties {
		if property.Description == "" {
			t.Errorf("%s %s is not described", path, name)
		}
		described(t, path+" "+name, property)
	}
}

func TestMalformedArgumentsHaveNoCard(t *testing.T) {
	t.Parallel()
	_, all, _ := registered(t, &registry{}, tooljobs.Config{})
	for _, made := range all.Tools() {
		for _, args := range []string{`null`, `5`, `"x"`, `{"job_id":5}`} {
			if made.Name() == "job_list" && strings.HasPrefix(args, "{") {
				continue // it has no arguments that could be malformed
			}
			if card := made.Present(json.RawMessage(args), tool.Result{}); card.Call != nil || card.Result != nil {
				t.Errorf("%s of %s is %+v", made.Name(), args, card)
			}
		}
	}
}
