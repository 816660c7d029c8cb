package file

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/settings"
)

// steps are all steps of a write, in their order: the content is on the disk
// before the name leads to it, and the name is before the write is reported.
var steps = []string{
	"open-directory", "create", "own", "mode", "write", "sync", "close", "check", "rename", "sync-directory",
	"ledger-open-directory", "ledger-create", "ledger-own", "ledger-mode", "ledger-write", "ledger-sync", "ledger-close",
	"ledger-check", "ledger-rename", "ledger-sync-directory",
}

func TestTheStepsOfAWrite(t *testing.T) {
	t.Parallel()
	var seen []string
	f := opened(t, Config{}, nil)
	f.mustSet("alpha", "a", 1)
	f.hooks.step = func(step string) error { seen = append(seen, step); return nil }
	must(t, f.Change(t.Context(), "alpha",
		func(settings.Section) (map[string]any, error) { return tree("a", 2), nil },
		func(settings.Section) { seen = append(seen, "commit") }))
	if want := append(slices.Clone(steps), "commit"); !slices.Equal(seen, want) {
		t.Errorf("the steps were %q", seen)
	}
}

func TestAStepThatFails(t *testing.T) {
	t.Parallel()
	for i, step := range steps {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := opened(t, Config{}, nil)
			f.mustSet("alpha", "a", 1)
			before := identityOf(t, f.path)
			boom := errors.New("no space left")
			f.hooks.step = func(name string) error {
				if name == step {
					return boom
				}
				return nil
			}
			_, err := f.set("alpha", "a", 2)
			landed := i > slices.Index(steps, "rename")
			switch {
			case landed && err != nil:
				t.Errorf("a write that landed: %v", err)
			case !landed && (!errors.Is(err, fault.SettingsReadOnly) || !errors.Is(err, boom)):
				t.Errorf("a write that failed: %v", err)
			case !landed && identityOf(t, f.path) != before:
				t.Error("the file was touched")
			}
			f.noTemps()
			f.quiet()
			want := `alpha={"a":1}`
			if landed {
				want = `alpha={"a":2}`
			}
			if got := show(settings.Document{Sections: f.known.sections}); got != want {
				t.Errorf("known is %q", got)
			}
			f.holds(want)
			f.hooks.step = nil
			last := f.mustSet("alpha", "a", 3)
			if landed && last.Revision != 3 || !landed && last.Revision != 2 {
				t.Errorf("the next revision is %d", last.Revision)
			}
			f.holds(`alpha={"a":3}`)
		})
	}
}

func init() {
	// A writer that stops for ever before a step, to be killed there.
	roles["stop-at"] = func(args []string) error {
		home, err := state.ResolveHome(args[0])
		if err != nil {
			return err
		}
		p, err := New(Config{Home: home, Debounce: -1})
		if err != nil {
			return err
		}
		p.hooks.step = func(step string) error {
			if step == args[1] {
				fmt.Println("here")
				select {}
			}
			return nil
		}
		if _, err := p.Open(bg, func(settings.Document) {}); err != nil {
			return err
		}
		go io.Copy(io.Discard, os.Stdin) // keeps the runtime from finding a deadlock
		_, err = set(bg, p, "alpha", "a", 2)
		return err
	}
}

func TestAWriterThatIsKilledAtAnyStep(t *testing.T) {
	t.Parallel()
	for i, step := range steps {
		f := prepared(t, Config{}, nil)
		f.open()
		f.mustSet("alpha", "a", 1)
		f.mustSet("beta", "b", 1)
		cmd := process(t, "stop-at", f.home.Root(), step)
		cmd.Stderr = os.Stderr
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		must(t, err, cmd.Start())
		if said, err := bufio.NewReader(out).ReadString('\n'); said != "here\n" {
			t.Fatalf("%s: it said %q, %v", step, said, err)
		}
		must(t, cmd.Process.Kill())
		cmd.Wait()

		want := `alpha={"a":1} beta={"b":1}`
		if i > slices.Index(steps, "rename") {
			want = `alpha={"a":2} beta={"b":1}`
		}
		f.holds(want)
		began := time.Now()
		f.mustSet("beta", "b", 2)
		if took := time.Since(began); took > time.Second {
			t.Errorf("%s: the next writer took %v", step, took)
		}
		f.holds(strings.Replace(want, `"b":1`, `"b":2`, 1))
		f.noTemps()
		doc := prepared(t, Config{Home: f.home}, nil).open()
		if revision := doc.Sections["alpha"].Revision; (revision == 2) != strings.Contains(want, `"a":2`) {
			t.Errorf("%s: the revision is %d of %s", step, revision, show(doc))
		}
	}
}
