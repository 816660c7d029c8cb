//go:build unix

package cli_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hardshell/compose"
	"hardshell/internal/jsontree"
	"hardshell/internal/state"
	"hardshell/settings"
	"hardshell/settings/schema"
)

// TestTheManualHasEverySetting compares docs/settings.md with the prose of
// testdata/settings.md and the schemas; -update writes it.
func TestTheManualHasEverySetting(t *testing.T) {
	t.Parallel()
	home, err := state.ResolveHome(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	in := compose.Surroundings{Home: home, Workspace: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	service, err := compose.SettingsOver(t.Context(), settings.NewMemory(nil), in, compose.Default())
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close(t.Context())
	prose, err := os.ReadFile("testdata/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	manual := strings.Builder{}
	manual.WriteString("<!-- Made by go test ./cli -run Manual -update, of cli/testdata/settings.md and the schemas. -->\n\n")
	manual.WriteString(strings.TrimRight(string(prose), "\n") + "\n")
	for _, d := range service.DescribeForWire() {
		s, err := schema.Parse(d.Schema)
		if err != nil {
			t.Fatal(err)
		}
		applies := "Changes apply to the next command."
		if d.Applies == settings.Restart {
			applies = "Changes apply after a restart."
		}
		fmt.Fprintf(&manual, "\n### %s\n\n%s\n\n| setting | takes | default | what it does |\n|---|---|---|---|\n", d.NS, applies)
		for _, k := range s.Keys() {
			fmt.Fprintf(&manual, "| `%s.%s` | %s | %s | %s |\n", d.NS, k.Path, takes(k), code(k.Default), strings.ReplaceAll(k.Description, "|", `\|`))
			if k.Description == "" {
				t.Errorf("%s.%s is not described", d.NS, k.Path)
			}
		}
	}
	const path = "../docs/settings.md"
	if *update {
		if err := os.WriteFile(path, []byte(manual.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if stands, err := os.ReadFile(path); err != nil || string(stands) != manual.String() {
		t.Errorf("%s is behind (%v): go test ./cli -run Manual -update", path, err)
	}
}

// takes says in words what a setting may be.
func takes(k schema.Key) string {
	if k.Secret {
		return "a secret"
	}
	var words []string
	for _, choice := range k.Enum {
		words = append(words, code(string(jsontree.Encode(choice.Value))))
	}
	if len(words) == 0 {
		words = append(words, k.Type)
	}
	if k.Range != "" {
		words = append(words, strings.ReplaceAll(k.Range, "|", `\|`))
	}
	return strings.Join(words, ", ")
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(strings.Trim(text, `"`), "|", `\|`) + "`"
}
