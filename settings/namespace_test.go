package settings_test

import (
	"errors"
	"strings"
	"testing"

	"hardshell/internal/fault"
	"hardshell/settings"
	"hardshell/settings/schema"
)

func TestTheNamesOfNamespaces(t *testing.T) {
	t.Parallel()
	for name, legal := range map[string]bool{
		"shell": true, "ui-theme": true, "a": true, "a9": true, "a-": true, "a--b": true, "constructor": true, "tostring": true, strings.Repeat("a", 300): true,
		"": false, "UI": false, "9lives": false, "a_b": false, "-lead": false, "a\n": false, "a b": false, "é": false, "a.b": false, "\xff": false,
	} {
		ns, err := settings.ParseNamespace(name)
		if legal != (err == nil) || legal && string(ns) != name {
			t.Errorf("%q: %q, %v", name, ns, err)
		}
		if err != nil && (!errors.Is(err, fault.InvalidArgument) || ns != "") {
			t.Errorf("%q: %q, %v", name, ns, err)
		}
	}
}

func TestWhatRefusalsSay(t *testing.T) {
	t.Parallel()
	problem := func(path string) schema.Problem {
		return schema.Problem{Path: path, Keyword: "type", Message: "must be a string"}
	}
	many := &settings.InvalidError{NS: "shell"}
	for _, path := range strings.Fields("$.a $.b $.c $.d $.e $.f $.g") {
		many.Problems = append(many.Problems, problem(path))
	}
	for want, c := range map[string]struct {
		err  error
		code fault.Code
	}{
		`the settings of "shell" have changed: expected revision 3, now 4; read them again, then repeat the change`: {
			&settings.ConflictError{NS: "shell", Expected: 3, Actual: 4}, fault.SettingsConflict,
		},
		`invalid settings of "shell": $.a: must be a string`: {
			&settings.InvalidError{NS: "shell", Problems: []schema.Problem{problem("$.a")}}, fault.SettingsInvalid,
		},
		`invalid settings of "shell": $.a: must be a string; $.b: must be a string; $.c: must be a string; $.d: must be a string; $.e: must be a string; and 2 more`: {
			many, fault.SettingsInvalid,
		},
	} {
		if c.err.Error() != want {
			t.Errorf("it says\n\t%s\nwant\n\t%s", c.err, want)
		}
		if fault.CodeOf(c.err) != c.code || !errors.Is(c.err, c.code) {
			t.Errorf("%s has the code %q", want, fault.CodeOf(c.err))
		}
	}
}
