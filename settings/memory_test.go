package settings_test

import (
	"fmt"
	"testing"

	"hardshell/settings"
	"hardshell/settings/settingstest"
)

func TestMemoryIsAProvider(t *testing.T) {
	t.Parallel()
	settingstest.Run(t, func(t *testing.T) settingstest.Fixture {
		m := settings.NewMemory(nil)
		return settingstest.Fixture{
			Provider: m,
			Reopen:   func(*testing.T) settings.Provider { return m.Beside() },
			External: func(_ *testing.T, sections map[string]any) { m.Edit(sections) },
			Stored:   func(*testing.T) map[string]any { return m.Stored() },
			Stamp:    func(*testing.T) string { return fmt.Sprint(m.Version()) },
			Watches:  true,
		}
	})
}

func TestAReadOnlyMemoryReads(t *testing.T) {
	t.Parallel()
	settingstest.ReadOnly(t, settings.NewReadOnlyMemory(map[string]any{"look": map[string]any{"size": 20}}))
}
