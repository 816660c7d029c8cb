package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hardshell/internal/fault"
)

func TestTextResolvesAtEachCall(t *testing.T) {
	t.Setenv("HARDSHELL_TEST_TEXT", "from the environment")
	t.Setenv("HARDSHELL_TEST_EMPTY", "")
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	path := filepath.Join(home, "key")
	for name, content := range map[string]string{"key": "line\r\n", "two": "a\n\n", "empty": "\n", "long": strings.Repeat("x", maxReferenced+1)} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[Text]string{
		"": "", "plain": "plain", "$${env:A}": "${env:A}", "a $${b": "a ${b", "$": "$", "a$b {c}": "a$b {c}",
		"${env:HARDSHELL_TEST_TEXT}": "from the environment",
		Text("${file:" + path + "}"): "line", "${file:~/key}": "line", "${file:~/two}": "a\n",
	} {
		if got, err := text.Resolve(); err != nil || got != want {
			t.Errorf("%q: %q, %v", string(text), got, err)
		}
	}
	for text, want := range map[Text]string{
		"${env:HARDSHELL_TEST_UNSET}": "HARDSHELL_TEST_UNSET is not set", "${env:HARDSHELL_TEST_EMPTY}": "is not set",
		"${env:}": "must be plain text", "${env:A-B}": "must be plain text", "${ref:A}": "must be plain text", "a ${env:A}": "must be plain text",
		"${env:A} b": "must be plain text", "${env:A": "must be plain text", "${file:relative}": "absolute path",
		"${file:~/nosuch}": "does not exist", "${file:~/empty}": "is empty", "${file:~/long}": "is longer", "${file:~/}": "regular file",
	} {
		got, err := text.Resolve()
		if !errors.Is(err, fault.SettingsInvalid) || got != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v", string(text), got, err)
		}
	}
	if err := os.WriteFile(path, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := Text("${file:~/key}").Resolve(); got != "changed" {
		t.Errorf("a later call gave %q", got)
	}
}

func TestTextIsNeverPrinted(t *testing.T) {
	t.Setenv("HARDSHELL_TEST_TEXT", "sk-canary")
	for _, text := range []Text{"sk-canary", "${env:HARDSHELL_TEST_TEXT}", "$${sk-canary}", "sk-canary ${x"} {
		holder := struct{ Key Text }{text}
		out := text.String() + text.GoString()
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s", "%T"} {
			out += fmt.Sprintf(verb, text) + fmt.Sprintf(verb, holder) + fmt.Sprintf(verb, &holder) + fmt.Sprintf(verb, []Text{text})
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "text", text, "holder", holder)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "text", text, "holder", holder)
		encoded, err := json.Marshal(holder)
		out += log.String() + string(encoded)
		if err != nil {
			out += err.Error()
		}
		if strings.Contains(out, "canary") || strings.Contains(out, "736b2d") || strings.Contains(out, "736B2D") {
			t.Errorf("%s", out)
		}
		if text.IsReference() && (err != nil || text.String() != string(text) || string(encoded) != `{"Key":"`+string(text)+`"}`) {
			t.Errorf("a reference is shown as it is written: %s %s %v", text, encoded, err)
		}
	}
}
