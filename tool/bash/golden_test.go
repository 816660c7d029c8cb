package bash_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/tool"
	"hardshell/tool/bash"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with its file, byte for byte.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n got %q\nwant %q", path, got, want)
	}
}

// indented is a value as a golden JSON file has it.
func indented(t *testing.T, value any) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(asJSON(t, value)), "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}

// outcome is one finished command. Its golden files are NAME.txt, what the
// model reads, and NAME.card.json, what a person sees.
type outcome struct {
	name           string
	stdout, stderr shell.CollectedOutput
	exit           int
	signal         string
	unknownExit    bool
	timeout        time.Duration // 0: not timed out
	survivors      []int
	sandbox        *sandbox.Info
}

func (o outcome) result() *shell.Result {
	result := &shell.Result{
		Signal: o.signal, Timeout: 2 * time.Minute, Stdout: o.stdout, Stderr: o.stderr,
		Survivors: o.survivors, Sandbox: o.sandbox,
	}
	if o.signal == "" && !o.unknownExit {
		result.ExitCode = &o.exit
	}
	if o.timeout != 0 {
		result.TimedOut, result.Timeout = true, o.timeout
	}
	return result
}

func whole(text string) shell.CollectedOutput {
	return shell.CollectedOutput{Text: text, Bytes: int64(len(text))}
}

func tail(text, spill string) shell.CollectedOutput {
	return shell.CollectedOutput{Text: text, Truncated: true, Bytes: 1 << 20, SpillPath: spill}
}

func outcomes() []outcome {
	const ms = time.Millisecond
	denied := &sandbox.Info{Mode: sandbox.ReadOnly, Denied: true}
	allowed := &sandbox.Info{Mode: sandbox.WorkspaceWrite}
	return []outcome{
		{name: "out", stdout: whole("hello\n")},
		{name: "out-unterminated", stdout: whole("hello")},
		{name: "out-blank-lines", stdout: whole("hi\n\n")},
		{name: "err", stderr: whole("oops\n")},
		{name: "err-unterminated", stderr: whole("oops")},
		{name: "both", stdout: whole("hello\n"), stderr: whole("oops\n")},
		{name: "both-unterminated", stdout: whole("hello"), stderr: whole("oops")},
		{name: "empty"},
		{name: "empty-exit", exit: 3},
		{name: "exit", stdout: whole("failing\n"), exit: 3},
		{name: "exit-unterminated", stdout: whole("x"), exit: 7},
		{name: "exit-err", stderr: whole("oops\n"), exit: 255},
		{name: "exit-unknown", stdout: whole("x\n"), unknownExit: true},
		{name: "signal", stdout: whole("x\n"), signal: "SIGTERM"},
		{name: "out-truncated", stdout: tail("x", "/spill/out")},
		{name: "out-truncated-after-newline", stdout: tail("x\n", "/spill/out"), stderr: whole("oops\n")},
		{name: "out-truncated-unavailable", stdout: tail("x\n", ""), exit: 1},
		{name: "err-truncated", stdout: whole("x"), stderr: tail("oops", "/spill/err")},
		{name: "err-truncated-unavailable", stderr: tail("oops\n", "")},
		{name: "both-truncated", stdout: tail("x\n", "/spill/out"), stderr: tail("oops\n", ""), signal: "SIGKILL"},
		{name: "timeout", timeout: 100 * ms, signal: "SIGTERM"},
		{name: "timeout-trapped", stdout: whole("a\n"), timeout: 300 * ms},
		{name: "timeout-fraction", timeout: 1500 * time.Microsecond, exit: 143},
		{name: "survivors", stdout: whole("x\n"), timeout: 200 * ms, signal: "SIGKILL", survivors: []int{12, 34}},
		{name: "survivors-trapped", timeout: 200 * ms, survivors: []int{12}},
		{name: "denied", stderr: whole("f: Read-only file system\n"), exit: 1, sandbox: denied},
		{name: "denied-signal", signal: "SIGKILL", sandbox: denied},
		{name: "denied-clean-exit", stdout: whole("ok\n"), sandbox: denied},
		{name: "denied-everything", stdout: whole("x"), exit: 5, timeout: time.Second, survivors: []int{12}, sandbox: denied},
		{name: "confined-exit", stdout: whole("x\n"), exit: 1, sandbox: allowed},
		{name: "marker-like-exit", stdout: whole("real\n[exit code: 5]")},
		{name: "marker-like-signal", stdout: whole("real\n[killed by signal: SIGKILL]")},
		{name: "marker-like-twice", stdout: whole("real\n[exit code: 3]"), exit: 3},
		{name: "marker-like-err", stderr: whole("[exit code: 9]"), exit: 4},
	}
}

func TestAFinishedCommandHasItsTextAndItsCard(t *testing.T) {
	t.Parallel()
	for _, o := range outcomes() {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			e := &executor{result: o.result()}
			if o.sandbox != nil {
				e.mode = o.sandbox.Mode
			}
			result := call(t, newTool(t, e, &environment{}, bash.Config{}), `{"command":"x","description":"d"}`, nil)
			if result.IsError {
				t.Fatal(result.Error.Message)
			}
			text, _ := result.SoleText()
			golden(t, o.name+".txt", text)
			golden(t, o.name+".card.json", indented(t, result.Card.Result))
			if text != bash.Render(o.result(), o.sandbox != nil) {
				t.Error("the model's text is not the rendering of the result")
			}
			if got, want := asJSON(t, result.Structured), asJSON(t, o.result()); got != want {
				t.Errorf("value is %s\nwant %s", got, want)
			}
		})
	}
}

// A text alone is enough to take body and status apart again, unless the body
// itself ends like a marker: then only the value tells.
func TestATextOfWhichTheValueIsLostStillHasACard(t *testing.T) {
	t.Parallel()
	for _, o := range outcomes() {
		made := newTool(t, &executor{}, nil, bash.Config{})
		args := json.RawMessage(`{"command":"x","description":"d"}`)
		live := tool.Result{Content: tool.Text(bash.Render(o.result(), true)), Structured: bash.Foreground{Result: o.result()}}
		replayed := live
		replayed.Structured = nil
		same := asJSON(t, made.Present(args, live)) == asJSON(t, made.Present(args, replayed))
		ambiguous := strings.HasPrefix(o.name, "marker-like") && o.exit == 0 || o.unknownExit
		if same == ambiguous {
			t.Errorf("%s: live %s\nreplayed %s", o.name, asJSON(t, made.Present(args, live)), asJSON(t, made.Present(args, replayed)))
		}
	}
}

func TestWithoutEscalationADenialGivesNoHint(t *testing.T) {
	t.Parallel()
	o := outcome{exit: 1, sandbox: &sandbox.Info{Mode: sandbox.ReadOnly, Denied: true}}
	const want = "(no output)\n[sandbox: file access denied under read-only mode]\n[exit code: 1]"
	if got := bash.Render(o.result(), false); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestCards(t *testing.T) {
	t.Parallel()
	made := newTool(t, &executor{}, nil, bash.Config{})
	const args = `{"command":"pwd","description":"Where","workdir":"sub"}`
	const background = `{"command":"serve","description":"Serve","run_in_background":true}`
	for name, c := range map[string]struct {
		args   string
		result tool.Result
		want   string
	}{
		"a call with a workdir shows it as it was given": {
			args, tool.Result{}, `{"call":{"card":"terminal","title":"pwd","description":"Where","cwd":"sub"},"result":null}`,
		},
		"a background call is a job with its text": {
			background, tool.Result{Content: tool.Text("started background job bash-1"), Structured: bash.Background{JobID: "bash-1"}},
			`{"call":{"card":"generic","title":"serve","kind":"execute","rawInput":"serve","content":"Serve"},` +
				`"result":{"card":"generic","content":"` + "```console\\nstarted background job bash-1\\n```" + `"}}`,
		},
		"also when its value is lost": {
			background, tool.Result{Content: tool.Text("started background job bash-1")},
			`{"call":{"card":"generic","title":"serve","kind":"execute","rawInput":"serve","content":"Serve"},` +
				`"result":{"card":"generic","content":"` + "```console\\nstarted background job bash-1\\n```" + `"}}`,
		},
		"an error has no status": {
			`null`, tool.Result{IsError: true, Content: tool.Text("Error: x\n[exit code: 3]\n\n")},
			`{"call":null,"result":{"card":"generic","content":"` + "```console\\nError: x\\n[exit code: 3]\\n```" + `"}}`,
		},
		"two blocks are left to the face": {
			args, tool.Result{Content: append(tool.Text("a"), tool.Text("b")...)},
			`{"call":{"card":"terminal","title":"pwd","description":"Where","cwd":"sub"},"result":null}`,
		},
		"an image is left to the face": {
			args, tool.Result{Content: []tool.Content{{Type: "image"}}},
			`{"call":{"card":"terminal","title":"pwd","description":"Where","cwd":"sub"},"result":null}`,
		},
		"a text that a listener replaced keeps the true status": {
			args, tool.Result{Content: tool.Text("redacted"), Structured: bash.Foreground{Result: exited(3)}},
			`{"call":{"card":"terminal","title":"pwd","description":"Where","cwd":"sub"},"result":{"card":"terminal","output":"redacted","exitCode":3}}`,
		},
		"a value that came as JSON tells the status": {
			args, tool.Result{Content: tool.Text("x\n[exit code: 3]"), Structured: json.RawMessage(`{"kind":"foreground","exitCode":3,"signal":null}`)},
			`{"call":{"card":"terminal","title":"pwd","description":"Where","cwd":"sub"},"result":{"card":"terminal","output":"x","exitCode":3}}`,
		},
		"and whether it went on": {
			args, tool.Result{Content: tool.Text("redacted"), Structured: map[string]any{"kind": "promoted", "jobId": "bash-1"}},
			`{"call":{"card":"terminal","title":"pwd","description":"Where","cwd":"sub"},"result":{"card":"generic","content":"` + "```console\\nredacted\\n```" + `"}}`,
		},
		"not a text that looks like it": {
			args, tool.Result{Content: tool.Text("[still running after 1ms; continues as background job bash-1]"), Structured: json.RawMessage(`{"kind":"foreground","exitCode":0}`)},
			`{"call":{"card":"terminal","title":"pwd","description":"Where","cwd":"sub"},"result":{"card":"terminal","output":"[still running after 1ms; continues as background job bash-1]","exitCode":0}}`,
		},
		"null is no call":        {`null`, tool.Result{Content: tool.Text("x")}, `{"call":null,"result":null}`},
		"a number is no call":    {`5`, tool.Result{Content: tool.Text("x")}, `{"call":null,"result":null}`},
		"a string is no call":    {`"x"`, tool.Result{Content: tool.Text("x")}, `{"call":null,"result":null}`},
		"wrong types are none":   {`{"command":5}`, tool.Result{Content: tool.Text("x")}, `{"call":null,"result":null}`},
		"a broken value is none": {args, tool.Result{Content: tool.Text("x"), Structured: bash.Foreground{}}, `{"call":{"card":"terminal","title":"pwd","description":"Where","cwd":"sub"},"result":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := asJSON(t, made.Present(json.RawMessage(c.args), c.result)); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestTheSchemaIsThatOfTheDeployment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode   sandbox.Mode
		config bash.Config
	}{
		"plain":      {},
		"background": {config: bash.Config{EnableRunInBackground: true}},
		"confined":   {mode: sandbox.ReadOnly},
		"full":       {mode: sandbox.WorkspaceWrite, config: bash.Config{EnableRunInBackground: true}},
		"held":       {config: bash.Config{EnableRunInBackground: true, Jobs: &jobs{}, YieldAfter: time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := newTool(t, &executor{mode: c.mode}, nil, c.config)
			input, err := made.InputSchema()
			if err != nil {
				t.Fatal(err)
			}
			output, err := made.OutputSchema()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "schema-"+name+".json", indented(t, map[string]any{
				"name": made.Name(), "description": made.Description(), "annotations": made.Annotations(),
				"inputSchema": input, "outputSchema": output,
			}))
			for property, schema := range input.Properties {
				if schema.Description == "" {
					t.Errorf("%s is not described", property)
				}
				noMode(t, property, schema.Description)
			}
			noMode(t, "the tool", made.Description())
			for _, needed := range []string{"$DSH_*", "[exit code: N]", "[output truncated; full output: PATH]"} {
				if !strings.Contains(made.Description(), needed) {
					t.Errorf("the description does not mention %s", needed)
				}
			}
			for _, undeclared := range []string{"stdin", "env", "stdoutMaxBytes"} {
				if input.Properties[undeclared] != nil {
					t.Errorf("%s is offered to a model", undeclared)
				}
			}
			if strings.Contains(made.Description(), "DSH_SESSION") {
				t.Error("the description names a fact")
			}
			if strings.Contains(made.Description(), "run_in_background") != c.config.EnableRunInBackground {
				t.Error("the description and the schema disagree about the background")
			}
			if strings.Contains(made.Description(), "continues as background job") != (c.config.YieldAfter > 0) {
				t.Error("the description and the configuration disagree about promotion")
			}
		})
	}
}

// noMode fails when a text names a sandbox mode: a model learns it from what
// happened, not from a description.
func noMode(t *testing.T, where, text string) {
	t.Helper()
	for _, mode := range sandbox.Modes() {
		if strings.Contains(text, string(mode)) {
			t.Errorf("%s names the mode %s", where, mode)
		}
	}
}
