//go:build unix

package compose_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hardshell/compose"
	"hardshell/internal/fault"
	"hardshell/sandbox"
	"hardshell/settings"
	"hardshell/shell"
)

func build(t *testing.T, rows []compose.Row, in compose.Surroundings) *compose.Composition {
	t.Helper()
	c, err := compose.Build(t.Context(), rows, in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// unconfined starts a command that nothing confines.
func unconfined(t *testing.T, c *compose.Composition, in compose.Surroundings, script string) shell.Process {
	t.Helper()
	spec, err := c.Shell().Resolve(shell.Request{
		Command: script, Workdir: in.Workspace,
		SandboxPolicy: &sandbox.Policy{Mode: sandbox.DangerFullAccess, WorkspaceRoot: in.Workspace},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Shell().Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReloadingTheExecutorLeavesCommandsRunningAndReloadingTheRuntimeEndsThem(t *testing.T) {
	t.Parallel()
	in := surroundings(t)
	c := build(t, compose.Default(), in)
	process := unconfined(t, c, in, "sleep 600")
	before := c.Shell()
	shellRow := row(t, "shell")
	shellRow.Config = map[string]any{"timeoutMs": jsonNumber("1500")}
	if err := c.Reload(t.Context(), shellRow); err != nil {
		t.Fatal(err)
	}
	if c.Shell() == before {
		t.Error("the executor is still the old one")
	}
	if spec, err := c.Shell().Resolve(shell.Request{Command: "true"}); err != nil || spec.Timeout != 1500*time.Millisecond {
		t.Errorf("the new executor resolves %+v, %v", spec.Timeout, err)
	}
	select {
	case <-process.Done():
		t.Fatalf("reloading the executor ended a command: %+v", process.State())
	default:
	}
	if err := c.Reload(t.Context(), row(t, "subprocess")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-process.Done():
	default:
		t.Error("reloading the runtime returned while its command ran")
	}
	if len(c.Tools.Tools()) != 5 || c.Jobs() == nil || c.Check() != nil {
		t.Errorf("what needs the runtime did not come back: %d tools, %v", len(c.Tools.Tools()), c.Check())
	}
}

func TestARowThatFailsCanBeReloadedAsItWas(t *testing.T) {
	t.Parallel()
	c := build(t, compose.Default(), surroundings(t))
	bad := row(t, "sandbox")
	bad.Config = compose.SandboxConfig{Backend: "hope"}
	if err := c.Reload(t.Context(), bad); err == nil || !strings.Contains(err.Error(), `there is no sandbox backend "hope"`) {
		t.Errorf("a row that cannot be gives %v", err)
	}
	if c.Shell() != nil || c.Check() == nil {
		t.Error("the shell works without its sandbox")
	}
	if err := c.Reload(t.Context(), row(t, "sandbox")); err != nil || c.Shell() == nil || c.Check() != nil {
		t.Errorf("the row as it was gives %v, %v", err, c.Check())
	}
}

func TestASettingAppliesToTheNextCommandAndABadOneIsRefused(t *testing.T) {
	t.Parallel()
	in := surroundings(t)
	c := build(t, compose.Default(), in)
	timeout := func() time.Duration {
		spec, err := c.Shell().Resolve(shell.Request{Command: "true"})
		if err != nil {
			t.Fatal(err)
		}
		return spec.Timeout
	}
	update := func(ns settings.Namespace, patch map[string]any) error {
		return c.Settings().Update(t.Context(), ns, patch, settings.Expect{})
	}
	if err := update("shell", map[string]any{"timeoutMs": 2500, "cwd": "sub"}); err != nil {
		t.Fatal(err)
	}
	if got := timeout(); got != 2500*time.Millisecond {
		t.Errorf("the timeout is %v after the write", got)
	}
	if got := c.Workdir(""); got != in.Workspace+"/sub" {
		t.Errorf("commands work in %s", got)
	}
	for _, bad := range []map[string]any{{"timeoutMs": -1}, {"timeoutMs": "soon"}, {"graceMs": 1e12}, {"timeoutMs": 1e-9}} {
		if err := update("shell", bad); fault.CodeOf(err) != fault.SettingsInvalid {
			t.Errorf("%v gives %v", bad, err)
		}
	}
	if got := timeout(); got != 2500*time.Millisecond {
		t.Errorf("the timeout is %v after writes that were refused", got)
	}
	if mode := c.Policies().Default().Mode; mode != sandbox.WorkspaceWrite {
		t.Fatalf("the mode is %s", mode)
	}
	if err := update("sandbox", map[string]any{"mode": "read-only"}); err != nil {
		t.Fatal(err)
	}
	if mode := c.Policies().Default().Mode; mode != sandbox.ReadOnly {
		t.Errorf("the mode is %s after the write", mode)
	}
	if err := update("sandbox", map[string]any{"writableRoots": []string{"relative"}}); fault.CodeOf(err) != fault.SettingsInvalid {
		t.Errorf("a relative root gives %v", err)
	}
	// The executor that comes after has them too.
	if err := c.Reload(t.Context(), row(t, "shell")); err != nil || timeout() != 2500*time.Millisecond {
		t.Errorf("after a reload the timeout is %v, %v", timeout(), err)
	}
}

func TestOverridesOfTheOpenerStandAboveTheSettings(t *testing.T) {
	t.Parallel()
	in := surroundings(t)
	in.Overrides.Mode = sandbox.ReadOnly
	c := build(t, compose.Default(), in)
	if err := c.Settings().Update(t.Context(), "sandbox", map[string]any{"mode": "danger-full-access"}, settings.Expect{}); err != nil {
		t.Fatal(err)
	}
	if mode := c.Policies().Default().Mode; mode != sandbox.ReadOnly {
		t.Errorf("the settings widened what the opener asked for to %s", mode)
	}
}

func TestAnEditOfTheDocumentReachesARunningHarness(t *testing.T) {
	t.Parallel()
	in := surroundings(t)
	if err := in.Home.Ensure(); err != nil {
		t.Fatal(err)
	}
	c := build(t, compose.Default(), in)
	path := filepath.Join(in.Home.Root(), "settings.yaml")
	edit := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	await := func(want time.Duration) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			spec, err := c.Shell().Resolve(shell.Request{Command: "true"})
			if err == nil && spec.Timeout == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("waited in vain for %v: %v, %v", want, spec.Timeout, err)
			}
		}
	}
	edit("shell:\n  timeoutMs: 4000\n")
	await(4 * time.Second)
	edit("shell:\n  timeoutMs: -4000\n") // the last good one stays
	edit("shell: [\n")
	edit("shell:\n  timeoutMs: 5000\n")
	await(5 * time.Second)
}

func TestABadDocumentKeepsAHarnessFromStarting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, want string
		code       fault.Code
	}{
		"a section that no owner can use": {"shell:\n  timeoutMs: -1\n", "$.timeoutMs", fault.SettingsInvalid},
		"text that is no document":        {"shell: {\n", "settings.yaml", fault.DocumentInvalid},
		"a secret in the wrong place":     {"sandbox: sk-SECRET\n", "sandbox", fault.SettingsInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := surroundings(t)
			if err := in.Home.Ensure(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(in.Home.Root(), "settings.yaml"), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := compose.Build(t.Context(), compose.Default(), in)
			if fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("Build gives %v (%s)", err, fault.CodeOf(err))
			}
		})
	}
}

func TestDefaultsAreThoseOfTheSchemas(t *testing.T) {
	t.Parallel()
	in := surroundings(t)
	service, err := compose.OpenSettings(t.Context(), in, compose.Default(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close(context.Background())
	for _, d := range service.Describe() {
		if d.Base != nil {
			t.Errorf("the default rows set %v of %s, which the schema does not say", d.Base, d.NS)
		}
		for path, origin := range d.Origin {
			if origin != "default" {
				t.Errorf("%s of %s comes from %s", path, d.NS, origin)
			}
		}
	}
	for _, r := range compose.Default() {
		bare := r
		bare.Config = map[string]any{}
		if r.Config == nil {
			bare.Config = nil
		}
		rows := compose.Default()
		for i := range rows {
			if rows[i].ID == r.ID {
				rows[i] = bare
			}
		}
		c, err := compose.Build(t.Context(), rows, surroundings(t))
		if err != nil {
			t.Errorf("row %s without keys: %v", r.ID, err)
			continue
		}
		c.Close(context.Background())
	}
}

func TestAnEmptyListOfARowIsNotLostBelowTheSettings(t *testing.T) {
	t.Parallel()
	for _, oneShot := range []bool{true, false} {
		in := surroundings(t)
		in.OneShot = oneShot
		list := compose.Default()
		for i := range list {
			if list[i].ID == "sandbox-policy" {
				list[i] = policyRow(t, func(c *compose.SandboxPolicyConfig) { c.Hide = []string{} })
			}
		}
		c := build(t, list, in)
		if hidden := c.Policies().Default().Hide; len(hidden) != 0 {
			t.Errorf("OneShot %v: the row hides nothing, and %d paths are hidden", oneShot, len(hidden))
		}
	}
}

func TestWhatARowLeavesAloneIsNoBase(t *testing.T) {
	t.Parallel()
	in := surroundings(t)
	list := compose.Default()
	for i := range list {
		if list[i].ID == "sandbox-policy" {
			list[i].Config = map[string]any{"mode": "read-only"}
		}
	}
	service, err := compose.OpenSettings(t.Context(), in, list, false)
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close(t.Context())
	for _, d := range service.Describe() {
		if d.NS != "sandbox" {
			continue
		}
		text, _ := json.Marshal(d.Base)
		if string(text) != `{"mode":"read-only"}` || d.Origin["$.protect"] != "default" {
			t.Errorf("base %s, protect comes from %s", text, d.Origin["$.protect"])
		}
	}
}

func TestNoRefusalQuotesASetting(t *testing.T) {
	t.Parallel()
	c := build(t, compose.Default(), surroundings(t))
	for _, patch := range []map[string]any{
		{"writableRoots": []string{"sk-SECRET"}}, {"hide": []string{"sk-SECRET"}}, {"sockets": []string{"own", "sk-SECRET"}},
	} {
		err := c.Settings().Update(t.Context(), "sandbox", patch, settings.Expect{})
		if fault.CodeOf(err) != fault.SettingsInvalid || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%v", err)
		}
	}
}

func TestPruneKnowsPatchedRows(t *testing.T) {
	t.Parallel()
	in := surroundings(t)
	if err := in.Home.Ensure(in.Home.Jobs(in.SessionID)); err != nil {
		t.Fatal(err)
	}
	list := compose.Default()
	for i := range list {
		if list[i].ID == "jobs" {
			list[i].Config = map[string]any{"keepRecords": json.Number("1000")}
		}
	}
	if _, err := compose.Prune(t.Context(), list, in, false); err != nil {
		t.Error(err)
	}
}

func TestAReloadOverARefusedSectionKeepsTheLastGoodValue(t *testing.T) {
	t.Parallel()
	in := surroundings(t)
	if err := in.Home.Ensure(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(in.Home.Root(), "settings.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sandbox: {mode: read-only}\nshell: {timeoutMs: 3000}\n")
	c := build(t, compose.Default(), in)
	await := func(what string, condition func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !condition(); time.Sleep(2 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("waited in vain until %s", what)
			}
		}
	}
	timeout := func() time.Duration {
		spec, err := c.Shell().Resolve(shell.Request{Command: "true"})
		if err != nil {
			t.Fatal(err)
		}
		return spec.Timeout
	}
	write("sandbox: {mode: everything}\nshell: {timeoutMs: -1}\n")
	await("both sections are refused", func() bool { return c.Settings().Refused("shell") && c.Settings().Refused("sandbox") })
	for _, id := range []string{"shell", "sandbox-policy", "jobs"} {
		if err := c.Reload(t.Context(), row(t, id)); err != nil {
			t.Fatalf("reloading %s: %v", id, err)
		}
		if got, mode := timeout(), c.Policies().Default().Mode; got != 3*time.Second || mode != sandbox.ReadOnly {
			t.Errorf("after a reload of %s: %v, %s", id, got, mode)
		}
	}
	// Mended to what the rows would be without settings.
	write("sandbox: {mode: workspace-write}\nshell: {timeoutMs: 120000}\n")
	await("the mended settings apply", func() bool {
		return timeout() == 2*time.Minute && c.Policies().Default().Mode == sandbox.WorkspaceWrite
	})
}
