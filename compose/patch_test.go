//go:build unix

package compose_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hardshell/compose"
	"hardshell/internal/fault"
)

func jsonNumber(text string) json.Number { return json.Number(text) }

// patched returns the rows over files of patches; the first, when its name is
// compose.yaml, is the home's.
func patched(t *testing.T, files ...string) ([]compose.Row, string, error) {
	t.Helper()
	in := surroundings(t)
	if err := in.Home.Ensure(); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	var paths []string
	for i, text := range files {
		path := filepath.Join(t.TempDir(), "p"+string(rune('0'+i))+".yaml")
		if i == 0 {
			path = filepath.Join(in.Home.Root(), "compose.yaml")
		} else {
			paths = append(paths, path)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := compose.Rows(in.Home, paths, slog.New(slog.NewTextHandler(&log, nil)))
	return rows, log.String(), err
}

func find(rows []compose.Row, id string) (compose.Row, bool) {
	for _, r := range rows {
		if r.ID == id {
			return r, true
		}
	}
	return compose.Row{}, false
}

func TestPatchesReplaceAddAndDisableRows(t *testing.T) {
	t.Parallel()
	rows, log, err := patched(t,
		"- id: shell\n  config: {timeoutMs: 700, graceMs: 10}\n- id: tool-jobs\n  disabled: true\n",
		"- id: shell\n  config:\n    timeoutMs: 900\n- {id: ghost, config: {}}\n- {id: plain, plugin: shell-bash, disabled: true}\n- {id: tool-jobs, disabled: false}\n")
	if err != nil {
		t.Fatal(err)
	}
	shell, _ := find(rows, "shell")
	config, _ := shell.Config.(map[string]any)
	if len(config) != 1 || config["timeoutMs"] != json.Number("900") {
		t.Errorf("config is not replaced whole: %v", shell.Config)
	}
	if plain, ok := find(rows, "plain"); !ok || plain.Plugin != "shell-bash" || !plain.Disabled {
		t.Errorf("the new row is %+v", plain)
	}
	if tools, _ := find(rows, "tool-jobs"); tools.Disabled {
		t.Error("the later file does not count")
	}
	if _, ok := find(rows, "ghost"); ok || !strings.Contains(log, "ghost") {
		t.Errorf("a row of nothing: %v, log %s", ok, log)
	}
	c, err := compose.Build(t.Context(), rows, surroundings(t))
	if err != nil {
		t.Fatal(err)
	}
	c.Close(t.Context())
}

func TestPatchesThatCannotBeMeantAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# only a comment\n":         "has no rows",
		"":                           "has no rows",
		"shell: {}\n":                "line 1",
		"- id: shell\n  confg: {}\n": `line 1: "confg" is no key of a row`,
		"- id: x\n- config: {}\n":    "line 2: a row needs an id",
		"- id: shell\n  config: 3\n": "line 1: config is of the wrong kind",
		"- id: shell\n  config: {timeoutMs: sk-X}\n":   "$.timeoutMs",
		"- id: shell\n  config: {timeout: 5}\n":        "$.timeout is no key of this plugin",
		"- {id: a, plugin: magic}\n":                   `there is no plugin "magic"`,
		"- {id: shell, disabled: true}\n- {id: shell}": "line 2: id \"shell\" stands twice",
		"- id: [\n": "compose.yaml",
	} {
		_, _, err := patched(t, text)
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "compose.yaml") || strings.Contains(err.Error(), "sk-X") {
			t.Errorf("%q gives %v", text, err)
		}
	}
}
