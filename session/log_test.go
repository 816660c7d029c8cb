package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hardshell/internal/state"
)

func newLog(t testing.TB) *Log {
	t.Helper()
	home, err := state.ResolveHome(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	return NewLog(home, "s")
}

func job(typ Type, id, key string) Event {
	return Event{Type: typ, Job: &Job{ID: id, Key: key, Kind: "bash", Label: "true"}}
}

func TestAnEventFollowsTheLastOneOfTheLog(t *testing.T) {
	t.Parallel()
	event := func(seq int, label string) string {
		return fmt.Sprintf(`{"seq":%d,"at":1,"type":"job/started","job":{"id":"bash-1","kind":"bash","label":"%s"}}`, seq, label) + "\n"
	}
	for name, c := range map[string]struct {
		log  string
		want int64
	}{
		"no log":                          {"", 1},
		"one event":                       {event(1, ""), 2},
		"an event longer than one glance": {event(1, "") + event(2, strings.Repeat("x", 3*glance)), 3},
		"a torn line at the end":          {event(7, "") + `{"seq":8,"at":1,"type":"job/st`, 8},
		"a long torn line at the end":     {event(7, "") + `{"seq":8,` + strings.Repeat("x", 99*glance), 8},
		"a last line without its newline": {strings.TrimSuffix(event(7, ""), "\n"), 8},
		"broken lines alone":              {"x\n\x00\n{}\n", 1},
		"a line that is no event":         {event(7, "") + "{\"a\":1}\n\n", 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog(t)
			if c.log != "" {
				if err := l.home.Ensure(l.home.Session("s")); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(l.path, []byte(c.log), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for i := range int64(2) {
				if seq, err := l.Append(job(JobStarted, "bash-2", "k")); err != nil || seq != c.want+i {
					t.Errorf("it has the number %d, %v; want %d", seq, err, c.want+i)
				}
			}
		})
	}
}

func TestAnEventThatIsThereIsNotAppendedOnceMore(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	for i, c := range []struct {
		event Event
		want  int64
	}{
		{job(JobStarted, "bash-1", "a"), 1},
		{job(JobFinished, "bash-1", "a"), 2},
		{job(JobFinished, "bash-1", "a"), 2},
		{job(JobFinished, "bash-1", "b"), 3}, // another job of the same id
		{job(JobFinished, "bash-1", ""), 4},
		{job(JobFinished, "bash-1", ""), 4},
		{job(JobFinished, "bash-10", ""), 5},
		{job(JobFinished, "bash-1", "a"), 2},
	} {
		if seq, err := l.AppendOnce(c.event); err != nil || seq != c.want {
			t.Errorf("event %d has the number %d, %v; want %d", i, seq, err, c.want)
		}
	}
}

func TestManyAppendOneEventOnce(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for i := range 5 {
				if _, err := NewLog(l.home, l.id).AppendOnce(job(JobFinished, "bash-1", fmt.Sprint("key", i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	var seqs []int64
	for e, err := range l.Events() {
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, e.Seq)
	}
	if fmt.Sprint(seqs) != "[1 2 3 4 5]" {
		t.Errorf("the log has the events %v", seqs)
	}
}

// What an event costs must not grow with the log.
func BenchmarkAppend(b *testing.B) {
	for _, events := range []int{10, 3000} {
		b.Run(fmt.Sprint(events), func(b *testing.B) {
			l := newLog(b)
			for range events {
				if _, err := l.Append(job(JobStarted, "bash-1", strings.Repeat("k", 32))); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if _, err := l.Append(job(JobStarted, "bash-1", strings.Repeat("k", 32))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
