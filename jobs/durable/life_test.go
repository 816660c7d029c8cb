//go:build unix

package durable_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/record"
	"hardshell/internal/state"
	"hardshell/jobs"
	"hardshell/jobs/durable"
)

// command is a recorded command that a test controls.
type command struct {
	done    chan struct{}
	promote error

	mu       sync.Mutex
	stops    []string
	promoted []string
}

func newCommand() *command { return &command{done: make(chan struct{})} }

func (c *command) Done() <-chan struct{}                     { return c.done }
func (c *command) Status() *record.Status                    { return &record.Status{Status: record.Completed} }
func (c *command) Input(context.Context, []byte, bool) error { return nil }

func (c *command) Stop(reason string, _ bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stops = append(c.stops, reason)
	return nil
}

func (c *command) Promote(_ context.Context, path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.promoted = append(c.promoted, path)
	return c.promote
}

// openStore returns records of which every command is c, none when that is nil.
func openStore(home state.Home, c *command, change func(*durable.Config)) *durable.Store {
	config := durable.Config{
		Home: home, SessionID: session, MaxOutputBytes: 64000, Keep: 100, Grace: func() time.Duration { return time.Second },
		Limits: durable.Limits{Runtime: time.Hour, Silence: time.Minute, Memory: 1 << 20, Output: 1 << 20},
	}
	if c != nil {
		config.Watch = func(string) (durable.Command, error) { return c, nil }
	}
	if change != nil {
		change(&config)
	}
	return durable.New(config)
}

func reserve(t *testing.T, s *durable.Store, limit int) *jobs.Slot {
	t.Helper()
	slot, err := s.Reserve("bash", limit)
	if err != nil {
		t.Fatal(err)
	}
	return slot
}

func TestTheJobsOfADeadHostTakeNoPlaces(t *testing.T) {
	t.Parallel()
	for name, lives := range map[string]bool{"a host that lives": true, "a dead host": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			for _, id := range []string{"bash-1", "bash-2"} {
				dir, _ := ask(t, home, id, "sleep 600")
				if err := dir.WriteProcess(&record.Process{PID: os.Getpid(), Boot: record.BootID(), Started: time.Now().UnixMilli()}); err != nil {
					t.Fatal(err)
				}
			}
			if lives {
				hold(t, home)
			}
			slot, err := openStore(home, nil, nil).Reserve("bash", 2)
			switch {
			case lives && !errors.Is(err, fault.JobLimit):
				t.Errorf("the limit is passed: %v", err)
			case !lives && (err != nil || slot.ID != "bash-3"):
				t.Errorf("the slot is %+v, %v", slot, err)
			}
			if slot != nil {
				slot.Release()
			}
		})
	}
}

func TestWhoRemovesTheRecordsMakesNoIDBeGivenAgain(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := openStore(home, nil, nil)
	slot := reserve(t, s, 10)
	if err := s.Write(slot.Dir, durable.Work{Kind: "bash", Label: "true"}); err != nil {
		t.Fatal(err)
	}
	slot.Keep()
	s.Skip("bash-1", 9, 9)
	s.MarkNoticed("bash-1")
	if info, err := durable.ReadOne(home, session, "bash-1"); err != nil || !info.Reported {
		t.Errorf("before: %+v, %v", info, err)
	}
	if err := os.RemoveAll(home.Jobs(session)); err != nil {
		t.Fatal(err)
	}
	if slot := reserve(t, s, 10); slot.ID != "bash-2" {
		t.Errorf("the next id is %s", slot.ID)
	} else {
		slot.Release()
	}
	// Even if it were, it is another job.
	settle(t, home, "bash-1", "true")
	if info, err := durable.ReadOne(home, session, "bash-1"); err != nil || info.Reported {
		t.Errorf("after: %+v, %v", info, err)
	}
}

func TestAFailedStartGivesItsNumberBackUnlessSomebodySawIt(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := openStore(home, nil, nil)
	reserve(t, s, 10).Release()
	slot := reserve(t, s, 10)
	if slot.ID != "bash-1" {
		t.Errorf("the number of a start that failed early is lost: %s", slot.ID)
	}
	if err := s.Write(slot.Dir, durable.Work{Kind: "bash", Label: "true"}); err != nil {
		t.Fatal(err)
	}
	slot.Release()
	if slot := reserve(t, s, 10); slot.ID != "bash-2" {
		t.Errorf("an id that was seen is given again: %s", slot.ID)
	} else {
		slot.Release()
	}
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Errorf("there are %v, %v", list, err)
	}
}

func TestPruneKeepsWhatLives(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := openStore(home, nil, nil)
	settle(t, home, "bash-1", "true")
	settle(t, home, "bash-2", "true")
	reserve(t, s, 10).Release() // it has seen them settled
	if err := os.RemoveAll(filepath.Join(home.Jobs(session), "bash-1")); err != nil {
		t.Fatal(err)
	}
	ask(t, home, "bash-1", "sleep 600")
	gone, err := s.Prune(true)
	if err != nil || len(gone) != 1 || gone[0] != "bash-2" {
		t.Errorf("gone are %v, %v", gone, err)
	}
	if slot := reserve(t, s, 10); slot.ID != "bash-3" {
		t.Errorf("the next id is %s", slot.ID)
	} else {
		slot.Release()
	}
}

func TestARunOfWhichTheHostDiesWhileItIsAdoptedIsAJob(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	c := newCommand()
	c.promote = errors.New("the session host died")
	s := openStore(home, c, nil)
	run, err := s.NewRun(durable.Work{Kind: "bash", Label: "true"})
	if err != nil {
		t.Fatal(err)
	}
	slot := reserve(t, s, 10)
	if err := s.Adopt(t.Context(), run, slot.Dir); err != nil {
		t.Errorf("it is refused: %v", err)
	}
	slot.Keep()
	if list, err := s.List(); err != nil || len(list) != 1 || list[0] != "bash-1" {
		t.Errorf("there are %v, %v", list, err)
	}
	if len(c.promoted) != 1 || c.promoted[0] != slot.Dir || len(c.stops) != 1 || !strings.Contains(c.stops[0], "host died") {
		t.Errorf("promoted to %q, stopped for %q", c.promoted, c.stops)
	}
}

func TestARunHasItsDeadlineAndNoWatchdog(t *testing.T) {
	t.Parallel()
	s := openStore(newHome(t), nil, nil)
	for name, want := range map[string]time.Duration{"a deadline": time.Second, "none": 0} {
		run, err := s.NewRun(durable.Work{Kind: "bash", Label: "true", Runtime: want})
		if err != nil {
			t.Fatal(err)
		}
		dir, err := record.Open(run)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		a, err := dir.ReadAsk()
		if err != nil || a.Runtime.Duration() != want || a.Silence != 0 || a.Memory != 0 || a.OutputLimit != 0 {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

func TestTheOutputOfAJobThatIsNotStartedYetIsEmpty(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	dir, a := ask(t, home, "bash-1", "true")
	_, producer, err := openStore(home, newCommand(), nil).Open("bash-1")
	if err != nil {
		t.Fatal(err)
	}
	stream := producer.(jobs.Streaming)
	if text, err := stream.ReadOutput(); text != "" || err != nil {
		t.Errorf("it is %q, %v", text, err)
	}
	// Who waits for output gets it once there is some.
	wrote := make(chan error, 1)
	err = stream.Unread(t.Context(), func(text string) bool {
		if text == "" {
			logs, err := dir.CreateLogs(a)
			if err == nil {
				_, err = logs.Stream(record.Stdout).Write([]byte("text"))
				logs.Close()
			}
			wrote <- err
		}
		return text == "text"
	})
	if err != nil || <-wrote != nil {
		t.Error(err)
	}
	if err := dir.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.ReadOutput(); !errors.Is(err, fault.UnknownJob) {
		t.Errorf("a record that is gone: %v", err)
	}
}

func TestAnEndIsLoggedOnceAndKnownToBe(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	_, a := ask(t, home, "bash-1", "true")
	calls := 0
	broken := errors.New("disk full")
	for i, c := range []struct {
		key   string
		err   error
		calls int
	}{{a.Key, broken, 1}, {a.Key, nil, 2}, {a.Key, nil, 2}, {"another", nil, 3}} {
		seq, err := openStore(home, nil, nil).LogEnd("bash-1", c.key, func() (int64, error) {
			calls++
			return 7, c.err
		})
		if err != c.err || err == nil && seq != 7 || calls != c.calls {
			t.Errorf("%d: %d, %v after %d calls", i, seq, err, calls)
		}
	}
}

func TestWhatRunsHaveLeftIsPruned(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	for _, c := range []struct {
		name       string
		settled    bool
		process    bool
		lives      bool
		watched    bool
		age        time.Duration
		everything bool
		tidy       bool
		gone       bool
	}{
		{name: "a settled one that is young stays", settled: true, age: hour},
		{name: "a settled one that is old goes", settled: true, age: 25 * hour, gone: true},
		{name: "a settled one that is old goes as a harness closes", settled: true, age: 25 * hour, tidy: true, gone: true},
		{name: "with everything a young one goes", settled: true, age: hour, everything: true, gone: true},
		{name: "but not one that is being read", settled: true, everything: true},
		{name: "one that runs stays", process: true, lives: true, age: 25 * hour, everything: true},
		{name: "one of a dead host is ended and goes", process: true, watched: true, age: 25 * hour, gone: true},
		{name: "one of which something may be left stays", process: true, age: 25 * hour},
		{name: "one that was never started goes", age: 25 * hour, gone: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			watched := newCommand()
			close(watched.done)
			s := openStore(home, nil, func(config *durable.Config) {
				config.Retention = 24 * time.Hour
				if c.watched {
					config.Watch = func(path string) (durable.Command, error) {
						dir, err := record.Open(path)
						if err != nil {
							return nil, err
						}
						defer dir.Close()
						_, err = dir.WriteStatus(&record.Status{Status: record.Failed})
						return watched, err
					}
				}
			})
			path, err := s.NewRun(durable.Work{Kind: "bash", Label: "true"})
			if err != nil {
				t.Fatal(err)
			}
			dir, err := record.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			if c.process {
				err = dir.WriteProcess(&record.Process{PID: os.Getpid(), Boot: record.BootID(), Started: time.Now().UnixMilli()})
			}
			if c.settled {
				_, err = dir.WriteStatus(&record.Status{Status: record.Completed})
			}
			if c.lives {
				hold(t, home)
			}
			then := time.Now().Add(-c.age)
			if err := errors.Join(err, os.Chtimes(path, then, then)); err != nil {
				t.Fatal(err)
			}
			if c.tidy {
				err = s.Tidy()
			} else {
				_, err = s.Prune(c.everything)
			}
			if _, stat := os.Lstat(path); err != nil || os.IsNotExist(stat) != c.gone {
				t.Errorf("%v, gone is %v", err, stat)
			}
		})
	}
}

func TestTidyingIsDoneOnceADay(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := openStore(home, nil, func(config *durable.Config) { config.Retention = time.Hour })
	if err := s.Tidy(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(home.Root()); !os.IsNotExist(err) {
		t.Errorf("the home was made: %v", err)
	}
	there := func() int {
		list, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	reserve(t, s, 10).Release()
	settle(t, home, "bash-1", "true") // in 1970
	if err := s.Tidy(); err != nil || there() != 0 {
		t.Errorf("an old job stays: %v", err)
	}
	settle(t, home, "bash-2", "true")
	if err := s.Tidy(); err != nil || there() != 1 {
		t.Errorf("it is done again at once: %v", err)
	}
	mark := filepath.Join(hostwire.FilesOf(home.Run(), session).Jobs, ".tidied")
	then := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(mark, then, then); err != nil {
		t.Fatal(err)
	}
	if err := s.Tidy(); err != nil || there() != 0 {
		t.Errorf("it is not done the next day: %v", err)
	}
}
