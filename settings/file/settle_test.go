package file

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"hardshell/internal/fault"
	"hardshell/settings"
)

// timed runs a test in which time is its own: it passes only when everything
// waits. The file system's clock, which does not stop, is far ahead of it.
func timed(t *testing.T, c Config, test func(t *testing.T, f *fixture, waited func() time.Duration)) {
	t.Helper()
	c.Home = homeAt(t, t.TempDir())
	put(t, filepath.Join(c.Home.Root(), "settings.yaml"), "alpha: {a: 0}\n")
	c.Debounce = 100 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		f := prepared(t, c, func(p *Provider) {
			p.times.grace = 500 * time.Millisecond
			p.times.blind = 10 * time.Millisecond
			p.hooks.watcher = func() error { return errors.New("events do not know of time") }
		})
		f.open()
		last := time.Now()
		test(t, f, func() time.Duration {
			passed := time.Since(last)
			last = time.Now()
			return passed
		})
	})
}

func TestAFileCountsWhenItHasComeToRest(t *testing.T) {
	timed(t, Config{Watch: true}, func(t *testing.T, f *fixture, waited func() time.Duration) {
		near := func(what string, got, want time.Duration) {
			t.Helper()
			if got < want || got > want+150*time.Millisecond {
				t.Errorf("%s: after %v, want %v", what, got, want)
			}
		}
		synctest.Wait()
		waited()

		put(t, f.path, "alpha: {a: 1}\n")
		shows(t, f.next(), `alpha={"a":1}`)
		near("an edit", waited(), 100*time.Millisecond)

		must(t, os.Truncate(f.path, 0))
		time.Sleep(300 * time.Millisecond)
		put(t, f.path, "alpha: {a: 2}\n")
		shows(t, f.next(), `alpha={"a":2}`)
		near("an edit with a pause", waited(), 400*time.Millisecond)

		must(t, os.Remove(f.path))
		time.Sleep(300 * time.Millisecond)
		put(t, f.path, "alpha: {a: 3}\n")
		shows(t, f.next(), `alpha={"a":3}`)
		near("a removal with a return", waited(), 400*time.Millisecond)

		must(t, os.Truncate(f.path, 0))
		shows(t, f.next(), "")
		near("an emptied file", waited(), 500*time.Millisecond)

		put(t, f.path, "alpha: {a: 4}\n")
		shows(t, f.next(), `alpha={"a":4}`)
		waited()
		must(t, os.Remove(f.path))
		shows(t, f.next(), "")
		near("a removed file", waited(), 500*time.Millisecond)

		put(t, f.path, "alpha: {a: 5}\n")
		shows(t, f.next(), `alpha={"a":5}`)

		// There and back within the time, and broken for a while: no news.
		put(t, f.path, "alpha: {a: 6}\n")
		time.Sleep(50 * time.Millisecond)
		put(t, f.path, "alpha: {a: 5}\n")
		time.Sleep(time.Second)
		put(t, f.path, "alpha: {a: [")
		time.Sleep(time.Second)
		put(t, f.path, "alpha: {a: 5}\n")
		time.Sleep(time.Second)
		f.quiet()

		// One that never rests is read all the same.
		waited()
		for i := range 30 {
			put(t, f.path, "alpha: {a: 7}\n#"+string(rune('a'+i%26))+"\n")
			time.Sleep(90 * time.Millisecond)
		}
		shows(t, f.next(), `alpha={"a":7}`)
		f.quiet()
		if passed := waited(); passed > 3*time.Second {
			t.Errorf("it took %v", passed)
		}
		f.Close(bg)
	})
}

func TestAWriteWaitsForAFileToComeToRest(t *testing.T) {
	timed(t, Config{}, func(t *testing.T, f *fixture, waited func() time.Duration) {
		waited()
		f.mustSet("alpha", "a", 1)
		if passed := waited(); passed != 0 {
			t.Errorf("a write to a file at rest waited %v", passed)
		}
		// An editor truncates, writes half and then the other half. Our write
		// falls in between, and the editor's content survives.
		must(t, os.Truncate(f.path, 0))
		editor := make(chan struct{})
		go func() {
			defer close(editor)
			time.Sleep(300 * time.Millisecond)
			put(t, f.path, "beta: {b: 1}\n")
			time.Sleep(50 * time.Millisecond)
			put(t, f.path, "beta: {b: 1}\ngamma: {c: 1}\n")
		}()
		f.mustSet("alpha", "a", 2)
		<-editor
		if passed := waited(); passed < 450*time.Millisecond || passed > time.Second {
			t.Errorf("the write waited %v", passed)
		}
		shows(t, settings.Document{Sections: f.known.sections}, `alpha={"a":2} beta={"b":1} gamma={"c":1}`)

		// One that is never at rest is not written.
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			for i := range 60 {
				put(t, f.path, "beta: {b: 2}\n#"+string(rune('a'+i%26))+"\n")
				time.Sleep(50 * time.Millisecond)
			}
		}()
		_, err := f.set("alpha", "a", 3)
		if !errors.Is(err, ErrUnrest) || !errors.Is(err, fault.DocumentInvalid) {
			t.Errorf("got %v", err)
		}
		if passed := waited(); passed > 2500*time.Millisecond {
			t.Errorf("it failed after %v", passed)
		}
		<-stop
		f.mustSet("alpha", "a", 4)
		shows(t, settings.Document{Sections: f.known.sections}, `alpha={"a":4} beta={"b":2}`)
	})
}

func TestOpeningWaitsForAFileToComeToRest(t *testing.T) {
	timed(t, Config{}, func(t *testing.T, f *fixture, waited func() time.Duration) {
		must(t, os.Truncate(f.path, 0))
		waited()
		go func() {
			time.Sleep(200 * time.Millisecond)
			put(t, f.path, "alpha: {a: 8}\n")
		}()
		other := prepared(t, Config{Home: f.home, Debounce: 100 * time.Millisecond}, func(p *Provider) { p.times.grace = 500 * time.Millisecond })
		shows(t, other.open(), `alpha={"a":8}`)
		if passed := waited(); passed < 300*time.Millisecond || passed > 600*time.Millisecond {
			t.Errorf("it waited %v", passed)
		}
		f.mustSet("alpha", "a", 9)
		waited()
		shows(t, prepared(t, Config{Home: f.home, Debounce: 100 * time.Millisecond}, nil).open(), `alpha={"a":9}`)
		if passed := waited(); passed != 0 {
			t.Errorf("what one of us wrote was waited for: %v", passed)
		}
	})
}
