package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"hardshell/internal/fault"
)

// watched returns an open provider whose watch has looked at its file.
func watched(t *testing.T, c Config, change func(*Provider)) *fixture {
	t.Helper()
	c.Watch = true
	if c.Debounce == 0 {
		c.Debounce = 5 * time.Millisecond
	}
	looked := make(chan struct{}, 1)
	f := opened(t, c, func(p *Provider) {
		p.times.grace = 2 * time.Second // a test may be held up in the middle of a save
		p.hooks.looked = func() {
			select {
			case looked <- struct{}{}:
			default:
			}
		}
		if change != nil {
			change(p)
		}
	})
	select {
	case <-looked:
	case <-time.After(longest):
		t.Fatal("the watch does not look")
	}
	return f
}

// saves are the ways in which editors write.
var saves = map[string]func(path, data string) error{
	"in place": func(path, data string) error { return os.WriteFile(path, []byte(data), 0o600) },
	"to a temporary file, then rename": func(path, data string) error {
		return errors.Join(os.WriteFile(path+".swp", []byte(data), 0o600), os.Rename(path+".swp", path))
	},
	"rename to a backup, then create": func(path, data string) error {
		return errors.Join(os.Rename(path, path+"~"), os.WriteFile(path, []byte(data), 0o600))
	},
	"copy to a backup, then truncate and write": func(path, data string) error {
		old, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(path+"~", old, 0o600), os.WriteFile(path, []byte(data), 0o600), os.Remove(path+"~"))
	},
	"remove, then create": func(path, data string) error {
		return errors.Join(os.Remove(path), os.WriteFile(path, []byte(data), 0o600))
	},
	"in two halves": func(path, data string) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return err
		}
		_, first := f.WriteString(data[:len(data)/2])
		_, second := f.WriteString(data[len(data)/2:])
		return errors.Join(first, second, f.Close())
	},
	"keeping size and time": func(path, data string) error {
		info, err := os.Stat(path)
		return errors.Join(err, os.WriteFile(path, []byte(data), 0o600), os.Chtimes(path, info.ModTime(), info.ModTime()))
	},
}

func TestEveryWayOfSavingIsSeenOnce(t *testing.T) {
	t.Parallel()
	for name, save := range saves {
		for _, linked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, linked %v", name, linked), func(t *testing.T) {
				t.Parallel()
				home := homeAt(t, t.TempDir())
				path := filepath.Join(home.Root(), "settings.yaml")
				target := path
				if linked {
					target = filepath.Join(t.TempDir(), "mine.yaml")
					must(t, os.Symlink(target, path))
				}
				put(t, target, "alpha: {a: 0}\n")
				f := watched(t, Config{Home: home}, nil)
				for i := 1; i <= 3; i++ {
					must(t, save(target, fmt.Sprintf("alpha: {a: %d}\n", i)))
					shows(t, f.next(), fmt.Sprintf(`alpha={"a":%d}`, i))
				}
				f.quiet()
			})
		}
	}
}

func TestOwnWritesAreNotNews(t *testing.T) {
	t.Parallel()
	f := watched(t, Config{}, nil)
	for i := range 20 {
		f.mustSet("alpha", "a", i)
	}
	// What comes next is the edit of another, and nothing of ours before it.
	must(t, saves["to a temporary file, then rename"](f.path, "alpha: {a: edited}\n"))
	shows(t, f.next(), `alpha={"a":"edited"}`)
	f.quiet()
}

func TestTheWatchFollowsDirectoriesAndLinks(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "a", "b")
	path := filepath.Join(dir, "settings.yaml")
	f := watched(t, Config{Path: path}, nil)
	expect := func(want string) {
		t.Helper()
		shows(t, f.next(), want)
	}
	must(t, os.MkdirAll(dir, 0o700))
	put(t, path, "alpha: {a: 1}\n")
	expect(`alpha={"a":1}`)
	must(t, os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700))
	put(t, path, "alpha: {a: 2}\n")
	expect(`alpha={"a":2}`)
	must(t, os.RemoveAll(filepath.Join(top, "a")))
	expect("")
	must(t, os.MkdirAll(dir, 0o700))
	put(t, path, "alpha: {a: 3}\n")
	expect(`alpha={"a":3}`)
	// The file becomes a link, and then another one.
	one, two := filepath.Join(top, "one.yaml"), filepath.Join(top, "two.yaml")
	put(t, one, "alpha: {a: 4}\n")
	put(t, two, "alpha: {a: 5}\n")
	must(t, os.Symlink(one, path+".new"), os.Rename(path+".new", path))
	expect(`alpha={"a":4}`)
	put(t, one, "alpha: {a: 6}\n")
	expect(`alpha={"a":6}`)
	must(t, os.Symlink(two, path+".new"), os.Rename(path+".new", path))
	expect(`alpha={"a":5}`)
	put(t, two, "alpha: {a: 7}\n")
	expect(`alpha={"a":7}`)
	f.quiet()
}

func TestWhatCannotBeUsedIsReportedOnceAndChangesNothing(t *testing.T) {
	t.Parallel()
	reported := make(chan struct{}, 100)
	f := watched(t, Config{}, nil)
	f.log.tell(reported)
	f.mustSet("alpha", "a", 1)
	for i, damage := range []func() error{
		func() error { return os.WriteFile(f.path, []byte("alpha: [s3cret"), 0o600) },
		func() error { return os.WriteFile(f.path, []byte("- s3cret"), 0o600) },
		func() error { return errors.Join(os.Remove(f.path), os.Mkdir(f.path, 0o700)) },
	} {
		must(t, damage())
		select {
		case <-reported:
		case <-time.After(longest):
			t.Fatalf("damage %d was not reported", i)
		}
		if _, err := f.set("alpha", "a", 2); !errors.Is(err, fault.DocumentInvalid) {
			t.Errorf("damage %d: a write: %v", i, err)
		}
		f.quiet()
		must(t, os.RemoveAll(f.path))
		put(t, f.path, fmt.Sprintf("alpha: {a: 1, b: %d}\n", i))
		shows(t, f.next(), fmt.Sprintf(`alpha={"a":1,"b":%d}`, i))
	}
	if n := strings.Count(f.log.String(), "level=WARN"); n != 3 || strings.Contains(f.log.String(), "s3cret") {
		t.Errorf("the log has %d warnings:\n%s", n, f.log)
	}
}

func TestManyFilesBesideTheDocument(t *testing.T) {
	t.Parallel()
	f := watched(t, Config{}, nil)
	for i := range 10_000 {
		put(t, filepath.Join(f.home.Root(), fmt.Sprintf("sibling-%d", i)), "")
	}
	put(t, f.path, "alpha: {a: 1}\n")
	shows(t, f.next(), `alpha={"a":1}`)
	f.quiet()
}

func TestWithoutEventsTheFileIsLookedAt(t *testing.T) {
	t.Parallel()
	f := watched(t, Config{}, func(p *Provider) {
		p.times.blind = time.Millisecond
		p.hooks.watcher = func() error { return errors.New("too many open files") }
	})
	put(t, f.path, "alpha: {a: 1}\n")
	shows(t, f.next(), `alpha={"a":1}`)
	if n := strings.Count(f.log.String(), "level=WARN"); n != 1 {
		t.Errorf("the log:\n%s", f.log)
	}
}

func TestAfterCloseNothingIsPublished(t *testing.T) {
	t.Parallel()
	f := watched(t, Config{}, nil)
	must(t, f.Close(t.Context()), f.Close(t.Context()))
	put(t, f.path, "alpha: {a: 1}\n")
	select {
	case <-f.stopped:
	default:
		t.Error("the watch goes on")
	}
	f.quiet()
}

func TestALookThatFallsInTheMiddle(t *testing.T) {
	t.Parallel()
	f := opened(t, Config{}, nil)
	f.mustSet("alpha", "a", 1)
	f.times.debounce = time.Hour // as if it had just been written
	put(t, f.path, "alpha: {a: 2}\n")
	wait, err := f.refresh(false)
	if wait <= 0 || err != nil {
		t.Errorf("a file that changed right now: %v, %v", wait, err)
	}
	if wait, err := f.refresh(true); wait > 0 || err != nil {
		t.Errorf("forced: %v, %v", wait, err)
	}
	shows(t, f.next(), `alpha={"a":2}`)
	f.times.grace = time.Hour
	must(t, os.Truncate(f.path, 0))
	if wait, err := f.refresh(true); wait <= 0 || err != nil {
		t.Errorf("an empty file: %v, %v", wait, err)
	}
	must(t, os.Remove(f.path))
	if wait, err := f.refresh(true); wait <= 0 || err != nil {
		t.Errorf("an absent file: %v, %v", wait, err)
	}
	f.quiet()
}

func TestLostEventsAreALookAndNewWatches(t *testing.T) {
	t.Parallel()
	f := prepared(t, Config{}, nil)
	a := f.newArms()
	defer a.close()
	a.update([]string{f.path})
	if len(a.dirs) != 1 {
		t.Fatalf("watched: %v", a.dirs)
	}
	go func() { a.watcher.Errors <- fsnotify.ErrEventOverflow }()
	if !a.await(t.Context(), make(chan time.Time)) || len(a.dirs) != 0 {
		t.Errorf("watched after a loss: %v", a.dirs)
	}
	a.update([]string{f.path})
	put(t, filepath.Join(f.home.Root(), "sibling"), "")
	put(t, f.path, "")
	if !a.await(t.Context(), make(chan time.Time)) {
		t.Error("no event")
	}
	// A directory that comes back may have the number of the one that went.
	must(t, os.RemoveAll(f.home.Root()), os.Mkdir(f.home.Root(), 0o700))
	for len(a.dirs) > 0 {
		if !a.await(t.Context(), time.After(longest)) {
			t.Fatal("no event")
		}
	}
	if text := f.log.String(); text != "" {
		t.Errorf("the log: %s", text)
	}
}
