//go:build unix

package compose_test

import (
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hardshell/compose"
	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/shell"
)

var update = flag.Bool("update", false, "rewrite testdata")

// surroundings is a place to put a composition into.
func surroundings(t *testing.T) compose.Surroundings {
	t.Helper()
	home, err := state.ResolveHome(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	return compose.Surroundings{Home: home, SessionID: "s1", Workspace: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
}

// row returns the row of the default composition with an id.
func row(t *testing.T, id string) compose.Row {
	t.Helper()
	for _, r := range compose.Default() {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("there is no row %q", id)
	return compose.Row{}
}

// rows returns rows of the default composition, in the order of the ids.
func rows(t *testing.T, ids ...string) []compose.Row {
	t.Helper()
	var list []compose.Row
	for _, id := range ids {
		list = append(list, row(t, id))
	}
	return list
}

// policyRow returns the row of the policy, changed.
func policyRow(t *testing.T, change func(*compose.SandboxPolicyConfig)) compose.Row {
	t.Helper()
	r := row(t, "sandbox-policy")
	config := r.Config.(compose.SandboxPolicyConfig)
	change(&config)
	r.Config = config
	return r
}

func TestDefaultRowsAreAnInterface(t *testing.T) {
	t.Parallel()
	got, err := json.MarshalIndent(compose.Default(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const golden = "testdata/rows.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the rows are\n%s", got)
	}
}

func TestDefaultRowsBelongToTheCaller(t *testing.T) {
	t.Parallel()
	compose.Default()[0].ID = "changed"
	if id := compose.Default()[0].ID; id != "settings-file" {
		t.Errorf("the next caller gets the row %q", id)
	}
}

func TestBuildMakesTheParts(t *testing.T) {
	t.Parallel()
	in := surroundings(t)
	c, err := compose.Build(context.Background(), compose.Default(), in)
	if err != nil {
		t.Fatal(err)
	}
	if c.Runtime() == nil || c.Environment() == nil || c.Shell() == nil || c.Pipeline == nil || c.Jobs() == nil || len(c.Tools.Tools()) != 5 {
		t.Errorf("a part is missing: %+v", c)
	}
	var keys []string
	for _, v := range c.Environment().List() {
		keys = append(keys, v.Key)
	}
	if got := strings.Join(keys, " "); got != "DSH_HOME DSH_SESSION_ID DSH_SESSION_JSONL DSH_SHELL" {
		t.Errorf("the facts are %s", got)
	}
	if _, err := os.Stat(in.Home.Root()); err == nil {
		t.Error("building made the home")
	}
	if err := c.Runtime().Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestBuildLeavesAbsentPartsOut(t *testing.T) {
	t.Parallel()
	c, err := compose.Build(context.Background(), nil, surroundings(t))
	if err != nil || c.Runtime() != nil || c.Environment() != nil || c.Shell() != nil || c.Pipeline == nil || len(c.Tools.Tools()) != 0 {
		t.Errorf("no rows make %+v, %v", c, err)
	}
	c, err = compose.Build(context.Background(), rows(t, "shell-env", "subprocess", "sandbox", "sandbox-policy", "shell"), surroundings(t))
	if err != nil || c.Shell() == nil || len(c.Tools.Tools()) != 0 || len(c.Environment().List()) != 3 {
		t.Errorf("some rows make %+v, %v", c, err)
	}
}

func TestBuildNamesTheRowAtFault(t *testing.T) {
	t.Parallel()
	with := func(r compose.Row) []compose.Row {
		list := compose.Default()
		for i := range list {
			if list[i].ID == r.ID {
				list[i] = r
				return list
			}
		}
		return append(list, r)
	}
	for _, c := range []struct {
		name string
		rows []compose.Row
		want string
	}{
		{"a row twice", append(compose.Default(), row(t, "session")), `composition: row id "session" stands twice, for plugin "session" and for plugin "session": rename or remove one`},
		{"a part twice", with(compose.Row{ID: "other", Plugin: compose.PluginSubprocess}), `composition: other: failed: service "subprocess": "subprocess" provides it already, and "other" would too: remove one`},
		{"no such plugin", with(compose.Row{ID: "mine", Plugin: "magic"}), `composition row "mine": there is no plugin "magic"`},
		{"no plugin", with(compose.Row{ID: "mine"}), `composition row "mine": there is no plugin ""`},
		{"a shell without its runtime", rows(t, "sandbox-policy", "shell"), "composition: shell: pending (waiting for service: subprocess, sandbox)\n" +
			"service \"subprocess\": add or enable a row of plugin \"subprocess\"\nservice \"sandbox\": add or enable a row of plugin \"sandbox-native\""},
		{"a shell without its policy", rows(t, "subprocess", "sandbox", "shell"), "composition: shell: pending (waiting for service: sandbox-policy)\n" +
			"service \"sandbox-policy\": add or enable a row of plugin \"sandbox-policy\""},
		{"a sandbox of another kind", with(compose.Row{ID: "sandbox", Plugin: compose.PluginSandbox, Config: compose.SandboxConfig{Backend: "hope"}}), `composition: sandbox: failed: there is no sandbox backend "hope": use auto, namespaces, root-namespaces or landlock`},
		{"a policy of no mode", with(policyRow(t, func(c *compose.SandboxPolicyConfig) { c.Mode = "open" })), `composition: sandbox-policy: failed: unknown sandbox mode "open": use read-only, workspace-write or danger-full-access`},
		{"a policy of no network", with(policyRow(t, func(c *compose.SandboxPolicyConfig) { c.Network = "some" })), `composition: sandbox-policy: failed: unknown network "some": use open or none`},
		{"a policy of no caches", with(policyRow(t, func(c *compose.SandboxPolicyConfig) { c.Caches = "mine" })), `composition: sandbox-policy: failed: unknown caches "mine": use private, shared or none`},
		{"a policy of no ptrace", with(policyRow(t, func(c *compose.SandboxPolicyConfig) { c.Ptrace = "maybe" })), `composition: sandbox-policy: failed: ptrace is "maybe": use allow or deny`},
		{"a tool without its environment", rows(t, "subprocess", "sandbox", "sandbox-policy", "shell", "tool-bash"), "composition: tool-bash: pending (waiting for service: shell-env)\n" +
			"service \"shell-env\": add or enable a row of plugin \"shell-env\""},
		{"a shell with a pointer to one", with(compose.Row{ID: "shell", Plugin: compose.PluginShell, Config: &compose.ShellConfig{}}), `composition row "shell": *compose.ShellConfig is no configuration of the plugin: compose.ShellConfig is`},
		{"a shell with another's", with(compose.Row{ID: "shell", Plugin: compose.PluginShell, Config: compose.ToolBashConfig{}}), `composition row "shell": compose.ToolBashConfig is no configuration of the plugin: compose.ShellConfig is`},
		{"a tool with keys that mean nothing", with(compose.Row{ID: "tool-bash", Plugin: compose.PluginToolBash, Config: map[string]any{"secret": "hunter2"}}), `composition row "tool-bash": config: $.secret is no key of this plugin`},
		{"a configuration of what has none", with(compose.Row{ID: "session", Plugin: compose.PluginSession, Config: "hunter2"}), `composition row "session": the plugin has no configuration: leave it out`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			built, err := compose.Build(context.Background(), c.rows, surroundings(t))
			if built != nil || fault.CodeOf(err) != fault.InvalidArgument || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("Build gives %v, %v (%s), want %s", built, err, fault.CodeOf(err), c.want)
			}
		})
	}
}

func TestBuildRefusesLimitsThatAreNone(t *testing.T) {
	t.Parallel()
	change := func(c compose.ShellConfig, field string, value float64) compose.ShellConfig {
		switch field {
		case "timeoutMs":
			c.TimeoutMs = value
		case "maxTimeoutMs":
			c.MaxTimeoutMs = value
		case "graceMs":
			c.GraceMs = value
		case "maxOutputBytes":
			c.MaxOutputBytes = int64(value)
		case "maxSpillBytes":
			c.MaxSpillBytes = int64(value)
		}
		return c
	}
	defaults := row(t, "shell").Config.(compose.ShellConfig)
	build := func(t *testing.T, config compose.ShellConfig) error {
		list := compose.Default()
		list[6].Config = config
		_, err := compose.Build(context.Background(), list, surroundings(t))
		return err
	}
	bad := map[string][]float64{
		"maxOutputBytes": {0, -1, math.MinInt64},
		"maxSpillBytes":  {0, -1, math.MinInt64},
	}
	for _, field := range []string{"timeoutMs", "maxTimeoutMs", "graceMs"} {
		bad[field] = []float64{
			0, math.Copysign(0, -1), -1, -0.5, 1e-7, math.SmallestNonzeroFloat64,
			math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, float64(math.MaxInt64) / 1e6,
		}
	}
	for field, values := range bad {
		for _, value := range values {
			err := build(t, change(defaults, field, value))
			want := `composition row "shell": bash-local: ` + field + " must be a positive finite number"
			if fault.CodeOf(err) != fault.InvalidArgument || err.Error() != want {
				t.Errorf("%s %v gives %v", field, value, err)
			}
		}
	}
	if err := build(t, change(defaults, "graceMs", 2147483648)); err == nil || !strings.Contains(err.Error(), "graceMs must be no greater than 2147483647") {
		t.Errorf("a grace that no timer holds gives %v", err)
	}
	for field, value := range map[string]float64{"timeoutMs": 9e12, "maxTimeoutMs": 0.5, "graceMs": 2147483647, "maxOutputBytes": 1, "maxSpillBytes": 1 << 62} {
		if err := build(t, change(defaults, field, value)); err != nil {
			t.Errorf("%s %v is refused: %v", field, value, err)
		}
	}
}

func TestTheShellHasItsConfiguration(t *testing.T) {
	t.Parallel()
	list := compose.Default()
	list[6].Config = compose.ShellConfig{
		TimeoutMs: 1500.5, MaxTimeoutMs: 2000, MaxOutputBytes: 100, MaxSpillBytes: 1000, GraceMs: 10,
	}
	c, err := compose.Build(context.Background(), list, surroundings(t))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := c.Shell().Resolve(shell.Request{Command: "true"})
	if err != nil || spec.Timeout != 1500500*time.Microsecond || spec.StdoutMaxBytes != 100 {
		t.Errorf("the spec is %+v, %v", spec, err)
	}
	if spec, err = c.Shell().Resolve(shell.Request{Command: "true", Timeout: time.Hour}); err != nil || spec.Timeout != 2*time.Second {
		t.Errorf("the cap gives %v, %v", spec.Timeout, err)
	}
}
