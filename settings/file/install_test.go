package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hardshell/internal/fault"
	"hardshell/settings"
)

func TestATextIsInstalledAsItIs(t *testing.T) {
	t.Parallel()
	home := homeAt(t, filepath.Join(t.TempDir(), "home"))
	path := filepath.Join(home.Root(), "settings.yaml")
	unopened, err := New(Config{Home: home, Debounce: -1})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := unopened.Content(); text != nil || err != nil {
		t.Fatalf("the content of what is absent is %q, %v", text, err)
	}
	first := "# mine\nshell:   {timeoutMs: 1}\n"
	if err := unopened.Install(bg, nil, []byte(first)); err != nil {
		t.Fatal(err)
	}
	if text, err := unopened.Content(); string(text) != first || err != nil {
		t.Fatalf("the content is %q, %v", text, err)
	}

	open, err := New(Config{Home: home, Debounce: -1})
	if err != nil {
		t.Fatal(err)
	}
	published := make(chan settings.Document, 1)
	before, err := open.Open(bg, func(d settings.Document) { published <- d })
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close(bg)
	second := "shell: {timeoutMs: 2}\n"
	if err := open.Install(bg, []byte(first), []byte(second)); err != nil {
		t.Fatal(err)
	}
	after := <-published
	if was, now := before.Sections["shell"].Revision, after.Sections["shell"].Revision; now != was+1 {
		t.Errorf("the revision was %d and is %d", was, now)
	}
	// Comments are no news to anybody.
	if err := open.Install(bg, []byte(second), []byte("# new\n"+second)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-published:
		t.Error("a comment was published")
	default:
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the document is %v, %v", info.Mode(), err)
	}
	err = open.Change(bg, "shell", func(s settings.Section) (map[string]any, error) {
		return map[string]any{"timeoutMs": "3"}, nil
	}, func(settings.Section) {})
	if text, _ := open.Content(); err != nil || string(text) != "# new\nshell: {timeoutMs: \"3\"}\n" {
		t.Errorf("after a change it is %q, %v", text, err)
	}
}

func TestATextIsNotInstalledOverAnother(t *testing.T) {
	t.Parallel()
	const stands, broken = "shell: {a: 1}\n", "shell: [\n"
	for _, c := range []struct {
		name      string
		there     string // "" is absent
		old, text []byte
		want      error
	}{
		{"another text", stands, []byte("shell: {a: 0}\n"), []byte("x: 1\n"), fault.SettingsConflict},
		{"one that came", stands, nil, []byte("x: 1\n"), fault.SettingsConflict},
		{"one that went", "", []byte(stands), []byte("x: 1\n"), fault.SettingsConflict},
		{"one that is empty now", "", []byte{}, []byte("x: 1\n"), fault.SettingsConflict},
		{"by what is no document", stands, []byte(stands), []byte(broken), fault.DocumentInvalid},
		{"a broken one is mended", broken, []byte(broken), []byte("x: 1\n"), nil},
	} {
		home := homeAt(t, filepath.Join(t.TempDir(), "home"))
		path := filepath.Join(home.Root(), "settings.yaml")
		if err := home.Ensure(); err != nil {
			t.Fatal(err)
		}
		if c.there != "" {
			if err := os.WriteFile(path, []byte(c.there), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, err := New(Config{Home: home, Debounce: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Install(bg, c.old, c.text); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		want := c.there
		if c.want == nil {
			want = string(c.text)
		}
		if data, _ := os.ReadFile(path); string(data) != want {
			t.Errorf("%s: the document is %q", c.name, data)
		}
	}
}

func TestAnInstallIsGivenUpBeforeItBegins(t *testing.T) {
	t.Parallel()
	p, err := New(Config{Home: homeAt(t, filepath.Join(t.TempDir(), "home")), Debounce: -1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if err := p.Install(ctx, nil, []byte("x: 1\n")); !errors.Is(err, fault.Aborted) {
		t.Errorf("the error is %v", err)
	}
	if text, _ := p.Content(); text != nil {
		t.Errorf("it was installed: %q", text)
	}
}
