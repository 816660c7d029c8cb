package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/jsontree"
	"hardshell/internal/state"
	"hardshell/settings"
)

func init() {
	// A process that makes many writes to one section, and one in ten to a
	// section that all share, where it adds 1 to what it finds.
	roles["writer"] = func(args []string) error {
		home, err := state.ResolveHome(args[0])
		if err != nil {
			return err
		}
		count, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		p, err := New(Config{Home: home, Watch: args[3] == "watch"})
		if err != nil {
			return err
		}
		if _, err := p.Open(bg, func(settings.Document) {}); err != nil {
			return err
		}
		var revision uint64
		for i := range count {
			stored, err := patiently(func() (settings.Section, error) { return set(bg, p, args[1], "n", i) })
			if err != nil {
				return err
			}
			if stored.Revision != revision+1 {
				return fmt.Errorf("revision %d follows %d", stored.Revision, revision)
			}
			revision = stored.Revision
			if i%10 == 0 {
				if _, err := patiently(func() (settings.Section, error) { return increment(p) }); err != nil {
					return err
				}
			}
		}
		return p.Close(bg)
	}
}

// patiently repeats a write that an editor kept from happening.
func patiently(write func() (settings.Section, error)) (stored settings.Section, err error) {
	for range 100 {
		if stored, err = write(); !errors.Is(err, ErrUnrest) && !errors.Is(err, fault.LockTimeout) {
			break
		}
	}
	return stored, err
}

func increment(p *Provider) (stored settings.Section, err error) {
	err = p.Change(bg, "shared", func(section settings.Section) (map[string]any, error) {
		n, _ := jsontree.Get(section.Data, jsontree.Path{"n"})
		was, _ := strconv.Atoi(fmt.Sprint(n))
		return tree("n", was+1), nil
	}, func(section settings.Section) { stored = section })
	return stored, err
}

func TestProcessesAndAnEditorWriteAtTheSameTime(t *testing.T) {
	t.Parallel()
	count := 500
	if testing.Short() {
		count = 50
	}
	home := homeAt(t, t.TempDir())
	path := filepath.Join(home.Root(), "settings.yaml")
	put(t, path, "# kept\n")
	f := opened(t, Config{Home: home}, nil)
	f.mustSet("mine", "keep", true)
	done := make(chan error, 2)
	for i, name := range []string{"one", "two"} {
		cmd := process(t, "writer", home.Root(), name, strconv.Itoa(count), []string{"watch", "no"}[i])
		go func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			done <- err
		}()
	}
	// The editor reads, adds a line and renames, so that it loses nothing itself
	// unless one of ours writes between its read and its rename: it checks.
	edits := 0
	for finished := 0; finished < 2; {
		select {
		case err := <-done:
			finished++
			if err != nil {
				t.Error(err)
			}
		case <-time.After(100 * time.Millisecond):
			if edits < 5 && edit(t, path, fmt.Sprintf("editor%d: {n: %d}\n", edits, edits)) {
				edits++
			}
		}
	}
	f.mustSet("mine", "keep", false)
	got := f.known.doc.Tree()
	for key, want := range map[string]string{
		"mine": `{"keep":false}`, "one": fmt.Sprintf(`{"n":%d}`, count-1), "two": fmt.Sprintf(`{"n":%d}`, count-1),
		"shared": fmt.Sprintf(`{"n":%d}`, 2*((count+9)/10)),
	} {
		if text := string(jsontree.Encode(got[key])); text != want {
			t.Errorf("%s is %s, want %s", key, text, want)
		}
	}
	if !strings.HasPrefix(get(t, path), "# kept\n") {
		t.Error("the comment is gone")
	}
	if revision := f.known.sections["shared"].Revision; revision != uint64(2*((count+9)/10)) {
		t.Errorf("the shared section has revision %d", revision)
	}
	f.noTemps()
	t.Logf("%d edits", edits)
	for i := range edits {
		if _, ok := got[fmt.Sprintf("editor%d", i)]; !ok {
			t.Errorf("edit %d is gone", i)
		}
	}
}

// edit appends a line to the document as an editor does that notices a change
// behind its back: it exchanges the file and looks at what it took away.
func edit(t *testing.T, path, line string) bool {
	t.Helper()
	before := get(t, path)
	temp := path + ".editor"
	put(t, temp, before+line)
	if get(t, path) != before {
		must(t, os.Remove(temp))
		return false
	}
	must(t, exchange(temp, path))
	if get(t, temp) != before {
		// One of ours wrote in between. Put back what it wrote, unless there is
		// something newer by now.
		if get(t, path) == before+line {
			must(t, exchange(temp, path))
		}
		must(t, os.Remove(temp))
		return false
	}
	must(t, os.Remove(temp))
	return true
}
