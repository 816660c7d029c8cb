package bash_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"hardshell/internal/fault"
	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/shellenv"
	"hardshell/subprocess"
	"hardshell/tool"
	"hardshell/tool/bash"
)

// executor is a shell.Executor that runs nothing and remembers everything.
type executor struct {
	mode       sandbox.Mode // "" does not confine
	resolving  func()
	resolveErr error
	result     *shell.Result
	runErr     error
	running    func(ctx context.Context)

	requests []shell.Request
	ran      []shell.Spec
	started  []shell.Spec
	// startedIn is the context of the last start.
	startedIn context.Context
}

func (e *executor) Resolve(request shell.Request) (shell.Spec, error) {
	e.requests = append(e.requests, request)
	if e.resolving != nil {
		e.resolving()
	}
	return shell.Spec{Command: request.Command, Workdir: request.Workdir, Timeout: request.Timeout, DshEnv: request.DshEnv}, e.resolveErr
}

func (e *executor) Run(ctx context.Context, spec shell.Spec) (*shell.Result, error) {
	e.ran = append(e.ran, spec)
	if e.running != nil {
		e.running(ctx)
	}
	return e.result, e.runErr
}

func (e *executor) Start(ctx context.Context, spec shell.Spec) (shell.Process, error) {
	e.started = append(e.started, spec)
	e.startedIn = ctx
	return nil, nil
}

func (e *executor) SandboxMode() (sandbox.Mode, bool) { return e.mode, e.mode != "" }

// nothingRan fails when a command got as far as the executor's processes.
func (e *executor) nothingRan(t *testing.T) {
	t.Helper()
	if len(e.ran)+len(e.started) != 0 {
		t.Errorf("ran %v, started %v", e.ran, e.started)
	}
}

// session is a live handle.
type session struct{ workspace string }

func (session) ID() string          { return "s1" }
func (s session) Workspace() string { return s.workspace }
func (session) LogPath() string     { return "/home/log.jsonl" }

// environment says which execution it was asked about.
type environment struct {
	seen []shellenv.Execution
	err  error
}

func (e *environment) Collect(execution shellenv.Execution) (subprocess.DshEnvironment, error) {
	e.seen = append(e.seen, execution)
	facts, err := subprocess.NewDshEnvironment(map[string]string{"DSH_SHELL": "1"})
	return facts, errors.Join(err, e.err)
}

func exited(code int) *shell.Result {
	return &shell.Result{ExitCode: &code, Timeout: 2 * time.Minute}
}

func newTool(t testing.TB, e shell.Executor, env bash.Environment, config bash.Config) *tool.Tool {
	t.Helper()
	made, err := bash.New(e, env, config)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// call runs the tool through the pipeline.
func call(t testing.TB, made *tool.Tool, args string, s tool.Session) tool.Result {
	t.Helper()
	return callIn(t.Context(), t, made, args, s)
}

func callIn(ctx context.Context, t testing.TB, made *tool.Tool, args string, s tool.Session) tool.Result {
	t.Helper()
	var registry tool.Registry
	if _, err := registry.Register(made); err != nil {
		t.Fatal(err)
	}
	return tool.NewPipeline(&registry, tool.Options{}).Execute(ctx,
		tool.Call{ID: "c1", Tool: "bash", Args: json.RawMessage(args), Session: s})
}

func wantError(t testing.TB, result tool.Result, code fault.Code, message string) {
	t.Helper()
	if !result.IsError || result.Error.Code != code || result.Error.Message != message {
		t.Fatalf("result is %+v, error %+v\nwant %s %q", result, result.Error, code, message)
	}
	if text, _ := result.SoleText(); text != "Error: "+message {
		t.Errorf("content is %q", text)
	}
}

func TestOnlyCommandTimeoutAndWorkdirComeFromTheModel(t *testing.T) {
	t.Parallel()
	facts, err := subprocess.NewDshEnvironment(map[string]string{"DSH_SHELL": "1"})
	if err != nil {
		t.Fatal(err)
	}
	const args = `{"command":"ls","description":"List","timeoutMs":1500,"workdir":"sub","run_in_background":BG,` +
		`"env":{"X":"1"},"stdin":"x","stdoutMaxBytes":9,"StdoutMaxBytes":9,"argv":["rm"],"timeoutUncapped":true,"sandboxPolicy":{"mode":"danger-full-access"}}`
	want := []shell.Request{{Command: "ls", Workdir: "/w/sub", Timeout: 1500 * time.Millisecond, DshEnv: facts}}
	for background, config := range map[string]bash.Config{
		"false": {}, "true": {EnableRunInBackground: true, Jobs: &jobs{}},
	} {
		t.Run("in the background "+background, func(t *testing.T) {
			t.Parallel()
			e, env := &executor{result: exited(0)}, &environment{}
			result := call(t, newTool(t, e, env, config), strings.Replace(args, "BG", background, 1), session{"/w"})
			if result.IsError {
				t.Fatal(result.Error.Message)
			}
			if !reflect.DeepEqual(e.requests, want) {
				t.Errorf("asked for %+v", e.requests)
			}
			spec := shell.Spec{Command: "ls", Workdir: "/w/sub", Timeout: 1500 * time.Millisecond, DshEnv: facts}
			if got := append(e.ran, e.started...); !reflect.DeepEqual(got, []shell.Spec{spec}) {
				t.Errorf("spawned %+v", got)
			}
			if diff := cmp.Diff([]shellenv.Execution{{SessionID: "s1", SessionLog: "/home/log.jsonl"}}, env.seen); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheWorkdirIsResolvedByTheKernelAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		session tool.Session
		workdir string
		want    string
	}{
		"left out, it is the workspace":           {session{"/w"}, ``, "/w"},
		"empty, it is the workspace":              {session{"/w"}, `,"workdir":""`, "/w"},
		"relative, it is below the workspace":     {session{"/w"}, `,"workdir":"bin"`, "/w/bin"},
		"dots are not resolved in the text":       {session{"/w"}, `,"workdir":"lnk/.."`, "/w/lnk/.."},
		"dots above the workspace are kept":       {session{"/w"}, `,"workdir":"../x/./y"`, "/w/../x/./y"},
		"absolute, it is verbatim":                {session{"/w"}, `,"workdir":"/x/lnk/..//y"`, "/x/lnk/..//y"},
		"the root as a workspace":                 {session{"/"}, `,"workdir":"usr"`, "/usr"},
		"without a session, the executor decides": {nil, ``, ""},
		"relative without a session":              {nil, `,"workdir":"sub"`, "sub"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &executor{result: exited(0)}
			call(t, newTool(t, e, &environment{}, bash.Config{}), `{"command":"pwd","description":"d"`+c.workdir+`}`, c.session)
			if len(e.requests) != 1 || e.requests[0].Workdir != c.want {
				t.Errorf("asked for %+v, want the workdir %q", e.requests, c.want)
			}
		})
	}
}

func TestATimeoutIsMillisecondsAndNeverWraps(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]time.Duration{
		"1500":    1500 * time.Millisecond,
		"0.5":     500 * time.Microsecond,
		"1e-9":    1,
		"5e-324":  1,
		"1e300":   math.MaxInt64 - 1,
		"9.3e12":  math.MaxInt64 - 1,
		"9.2e12":  9_200_000_000 * time.Second,
		"1.5e308": math.MaxInt64 - 1,
	} {
		e := &executor{result: exited(0)}
		call(t, newTool(t, e, &environment{}, bash.Config{}), `{"command":"x","description":"d","timeoutMs":`+sent+`}`, nil)
		if len(e.requests) != 1 || e.requests[0].Timeout != want || e.requests[0].TimeoutUncapped {
			t.Errorf("%s ms became %+v, want %v", sent, e.requests, want)
		}
	}
}

func TestArgumentsAreRefusedInOrder(t *testing.T) {
	t.Parallel()
	const ok = `"command":"x","description":"d"`
	plain, confined := bash.Config{EnableRunInBackground: true}, sandbox.ReadOnly
	for name, c := range map[string]struct {
		mode   sandbox.Mode
		config bash.Config
		args   string
		want   string
	}{
		"nothing":                         {config: plain, args: ``, want: `invalid arguments: missing required property "command"; missing required property "description"`},
		"types":                           {config: plain, args: `"command":42,"description":"d","timeoutMs":"soon","run_in_background":"yes"`, want: `invalid arguments: "command" must be a string; "timeoutMs" must be a number; "run_in_background" must be a boolean`},
		"NaN":                             {config: plain, args: ok + `,"timeoutMs":NaN`, want: `tool execution arguments must be losslessly JSON-serializable: not valid JSON at byte 46: invalid character 'N' looking for beginning of value`},
		"a blank command first":           {config: plain, args: `"command":" \n","description":"","timeoutMs":-1`, want: "invalid command: expected a non-empty string"},
		"then a blank description":        {config: plain, args: `"command":"x","description":"\t","timeoutMs":-1`, want: "invalid description: expected a non-empty string"},
		"then the timeout":                {config: plain, args: ok + `,"timeoutMs":-1.50,"sandbox_permissions":"x"`, want: "invalid timeoutMs: expected a positive number, got -1.5"},
		"a timeout of nothing":            {config: plain, args: ok + `,"timeoutMs":0`, want: "invalid timeoutMs: expected a positive number, got 0"},
		"an underflowing timeout":         {config: plain, args: ok + `,"timeoutMs":1e-400`, want: "invalid timeoutMs: expected a positive number, got 0"},
		"then the pairing":                {config: plain, args: ok + `,"sandbox_permissions":"workspace-write"`, want: "invalid escalation: sandbox_permissions requires a justification"},
		"the other way round":             {config: plain, args: ok + `,"justification":" "`, want: "invalid escalation: justification is only valid together with sandbox_permissions"},
		"then the justification":          {config: plain, args: ok + `,"sandbox_permissions":"workspace-write","justification":" "`, want: "invalid justification: expected a non-empty sentence"},
		"interactive in the foreground":   {config: plain, args: ok + `,"interactive":true`, want: "interactive needs run_in_background"},
		"interactive, no background here": {args: ok + `,"interactive":true,"run_in_background":true`, want: "run_in_background is disabled for this deployment (enableRunInBackground: false)"},
		"no background here":              {args: ok + `,"run_in_background":true`, want: "run_in_background is disabled for this deployment (enableRunInBackground: false)"},
		"no jobs here":                    {config: plain, args: ok + `,"run_in_background":true`, want: "background jobs unavailable: load @deepseek-ai/dsh-jobs and @deepseek-ai/dsh-tool-jobs"},
		"nothing to escalate":             {config: plain, args: ok + `,"sandbox_permissions":"read-only","justification":"j"`, want: "sandbox_permissions is not available in this composition (no sandboxing executor to escalate)"},
		"outside the published enum":      {mode: confined, config: plain, args: `"sandbox_permissions":"read-only","command":"","description":"d"`, want: `invalid arguments: "sandbox_permissions" must be one of "workspace-write", "danger-full-access"`},
		"not wider":                       {mode: sandbox.WorkspaceWrite, args: ok + `,"sandbox_permissions":"workspace-write","justification":"j"`, want: `sandbox escalation to "workspace-write" is not strictly wider than this call's current "workspace-write" mode`},
		"narrower":                        {mode: sandbox.DangerFullAccess, args: ok + `,"sandbox_permissions":"workspace-write","justification":"j"`, want: `sandbox escalation to "workspace-write" is not strictly wider than this call's current "danger-full-access" mode`},
		"than an unknown mode":            {mode: "odd", args: ok + `,"sandbox_permissions":"danger-full-access","justification":"j"`, want: `sandbox escalation to "danger-full-access" is not strictly wider than this call's current "odd" mode`},
		"nobody to grant it":              {mode: confined, args: ok + `,"sandbox_permissions":"workspace-write","justification":"j"`, want: `sandbox escalation to "workspace-write" requires approval, but no approval service is composed`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &executor{mode: c.mode, result: exited(0)}
			result := call(t, newTool(t, e, &environment{}, c.config), "{"+c.args+"}", nil)
			wantError(t, result, fault.InvalidArgs, c.want)
			e.nothingRan(t)
		})
	}
}

func TestAFailureOfTheInfrastructureIsAnErrorResult(t *testing.T) {
	t.Parallel()
	const args = `{"command":"x","description":"d"}`
	missing := fault.New(fault.WorkdirNotFound, "the workdir /nope does not exist (ENOENT)")
	t.Run("on the way to a spec", func(t *testing.T) {
		t.Parallel()
		e := &executor{resolveErr: missing}
		wantError(t, call(t, newTool(t, e, &environment{}, bash.Config{}), args, nil), fault.WorkdirNotFound, missing.Message)
		e.nothingRan(t)
	})
	t.Run("of the run", func(t *testing.T) {
		t.Parallel()
		e := &executor{runErr: missing}
		wantError(t, call(t, newTool(t, e, &environment{}, bash.Config{}), args, nil), fault.WorkdirNotFound, missing.Message)
	})
	t.Run("of a contributor of facts is none", func(t *testing.T) {
		t.Parallel()
		e := &executor{result: exited(0)}
		if r := call(t, newTool(t, e, &environment{err: errors.New("isolated")}, bash.Config{}), args, nil); r.IsError {
			t.Error(r.Error.Message)
		}
		if _, ok := e.ran[0].DshEnv.Get("DSH_SHELL"); !ok {
			t.Error("the other facts are lost")
		}
	})
	t.Run("that are no facts at all is none", func(t *testing.T) {
		t.Parallel()
		if r := call(t, newTool(t, &executor{result: exited(0)}, nil, bash.Config{}), args, nil); r.IsError {
			t.Error(r.Error.Message)
		}
	})
}

func TestAnAbortIsAnErrorResult(t *testing.T) {
	t.Parallel()
	const args = `{"command":"sleep 60","description":"d"}`
	for name, c := range map[string]struct {
		e    executor
		want string
	}{
		"of a command that was killed": {executor{result: &shell.Result{Signal: "SIGTERM", Aborted: true}}, "tool call aborted"},
		"of one that was not spawned":  {executor{runErr: fault.New(fault.Aborted, "aborted before spawn: bye")}, "tool call aborted"},
		"of one that survived": {
			executor{result: &shell.Result{Aborted: true, Survivors: []int{12, 34}}},
			"tool call aborted\n[still running after the kill: pid 12, 34]",
		},
		"of one that ended all the same": {executor{result: exited(0)}, "tool call aborted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			e := &c.e
			e.running = func(context.Context) { cancel() }
			wantError(t, callIn(ctx, t, newTool(t, e, &environment{}, bash.Config{}), args, nil), fault.Aborted, c.want)
			if len(e.ran) != 1 {
				t.Errorf("ran %d commands", len(e.ran))
			}
		})
	}
	t.Run("before anything starts", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		e := &executor{}
		wantError(t, callIn(ctx, t, newTool(t, e, &environment{}, bash.Config{}), args, nil),
			fault.AbortedBeforeDispatch, "tool call aborted before dispatch")
		if len(e.requests) != 0 {
			t.Error("a request was resolved")
		}
	})
}

func TestValuesSatisfyTheirSchema(t *testing.T) {
	t.Parallel()
	long := exited(3)
	long.TimedOut = true
	long.Stdout = shell.CollectedOutput{Text: "x", Truncated: true, Bytes: 9, SpillPath: "/spill"}
	long.Survivors = []int{12}
	long.Sandbox = &sandbox.Info{Mode: sandbox.ReadOnly, Denied: true, Enforcement: sandbox.Full, RunnerFailed: true}
	for name, c := range map[string]struct {
		value  bash.Output
		config bash.Config
		wrong  bool
	}{
		"a clean exit":                      {value: bash.Foreground{Result: exited(0)}},
		"everything at once":                {value: bash.Foreground{Result: long}},
		"a signal":                          {value: bash.Foreground{Result: &shell.Result{Signal: "SIGTERM"}}},
		"no timeout":                        {value: bash.Foreground{Result: &shell.Result{Timeout: shell.NoTimeout}}},
		"a job":                             {value: bash.Background{JobID: "bash-1"}, config: bash.Config{EnableRunInBackground: true}},
		"a run where jobs are possible":     {value: bash.Foreground{Result: long}, config: bash.Config{EnableRunInBackground: true}},
		"not a job where there can be none": {value: bash.Background{JobID: "bash-1"}, wrong: true},
		"a promotion": {
			value:  bash.Promoted{JobID: "bash-1", Result: long},
			config: bash.Config{Jobs: &jobs{}, YieldAfter: time.Second},
		},
		"a promotion that has no timeout": {
			value:  bash.Promoted{JobID: "bash-1", Result: &shell.Result{Timeout: shell.NoTimeout}},
			config: bash.Config{Jobs: &jobs{}, YieldAfter: time.Second, EnableRunInBackground: true},
		},
		"a run where promotions are possible": {
			value:  bash.Foreground{Result: long},
			config: bash.Config{Jobs: &jobs{}, YieldAfter: time.Second},
		},
		"not a promotion where there is no time limit": {
			value:  bash.Promoted{JobID: "bash-1", Result: long},
			config: bash.Config{Jobs: &jobs{}, EnableRunInBackground: true}, wrong: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema, err := newTool(t, &executor{}, &environment{}, c.config).OutputSchema()
			if err != nil {
				t.Fatal(err)
			}
			// Nothing may be in a value that the schema does not declare.
			strict := schema.CloneSchemas()
			for _, s := range append([]*jsonschema.Schema{strict}, strict.OneOf...) {
				if s.Properties != nil {
					s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
				}
			}
			resolved, err := strict.Resolve(nil)
			if err != nil {
				t.Fatal(err)
			}
			var plain any
			if err := json.Unmarshal([]byte(asJSON(t, c.value)), &plain); err != nil {
				t.Fatal(err)
			}
			if err := resolved.Validate(plain); (err != nil) != c.wrong {
				t.Errorf("%s: %v", asJSON(t, c.value), err)
			}
		})
	}
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
