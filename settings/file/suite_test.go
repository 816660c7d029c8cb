package file

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"hardshell/internal/document"
	"hardshell/internal/jsontree"
	"hardshell/settings"
	"hardshell/settings/settingstest"
)

func TestTheSuite(t *testing.T) {
	for _, c := range []struct {
		name  string
		watch bool
	}{
		{"settings.yaml", true}, {"settings.yaml", false}, {"settings.json", true},
	} {
		t.Run(fmt.Sprintf("%s, watched %v", c.name, c.watch), func(t *testing.T) {
			t.Parallel()
			settingstest.Run(t, func(t *testing.T) settingstest.Fixture { return suiteFixture(t, c.name, c.watch) })
		})
	}
}

func suiteFixture(t *testing.T, name string, watch bool) settingstest.Fixture {
	home := homeAt(t, t.TempDir())
	path := filepath.Join(home.Root(), name)
	provider := func(t *testing.T) settings.Provider {
		return prepared(t, Config{Home: home, Path: path, Watch: watch}, nil).Provider
	}
	return settingstest.Fixture{
		Provider: provider(t),
		Reopen:   provider,
		External: func(t *testing.T, sections map[string]any) {
			tree, err := jsontree.From(sections)
			must(t, err, os.WriteFile(path+".editor", append(jsontree.Encode(tree), '\n'), 0o600), os.Rename(path+".editor", path))
		},
		Stored: func(t *testing.T) map[string]any {
			data, err := os.ReadFile(path)
			if os.IsNotExist(err) {
				return nil
			}
			must(t, err)
			format, err := document.FormatOf(path)
			must(t, err)
			doc, err := document.Parse(path, format, data)
			must(t, err)
			return doc.Tree()
		},
		Stamp: func(t *testing.T) string {
			info, err := os.Lstat(path)
			if os.IsNotExist(err) {
				return "absent"
			}
			must(t, err)
			return fmt.Sprint(stampOf(info))
		},
		Watches: watch,
	}
}
