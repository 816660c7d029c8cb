package jobs_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"hardshell/internal/fault"
	"hardshell/jobs"
	"hardshell/jobs/jobstest"
)

// settlements records what OnSettled tells.
type settlements struct {
	mu  sync.Mutex
	ids []string
}

func (s *settlements) note(job jobs.Job, _ *jobs.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = append(s.ids, job.ID)
}

func (s *settlements) expect(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	times := map[string]int{}
	for _, id := range s.ids {
		times[id]++
	}
	for _, id := range want {
		if times[id] != 1 {
			t.Errorf("the end of %s was told %d times", id, times[id])
		}
	}
	if len(s.ids) != len(want) {
		t.Errorf("told were the ends of %v, want %v", s.ids, want)
	}
}

func TestEveryEndIsToldToWhoKeepsThem(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	s := &settlements{}
	k.OnSettled(s.note)
	read, reported, live := k.addEnded(t), k.addEnded(t), jobstest.NewStream(nil)
	k.jobs[reported].MarkReported()
	killed := k.add(t, live)
	if _, _, err := k.Read(read, k.owner); err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.Kill(killed, "", k.owner); err != nil {
		t.Fatal(err)
	}
	k.list()
	if err := k.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.expect(t, read, reported, killed)
	for _, job := range k.news {
		if job.ID != killed {
			t.Errorf("the news is %+v", k.news)
		}
	}
}

// A listener that is busy when Close comes must not make the next ends be lost.
func TestAnEndBeforeCloseIsToldBeforeItReturns(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	s := &settlements{}
	busy, goOn := make(chan struct{}), make(chan struct{})
	first := true
	k.OnSettled(func(job jobs.Job, owner *jobs.Owner) {
		if first {
			first = false
			close(busy)
			<-goOn
		}
		s.note(job, owner)
	})
	one := k.addEnded(t)
	go k.list()
	<-busy
	work := jobstest.NewStream(nil)
	two := k.add(t, work)
	k.list()
	work.Settle(ended(jobs.Completed))
	if job, err := k.Get(two, k.owner); err != nil || !job.Status.Terminal() {
		t.Fatalf("%+v, %v", job, err)
	}
	closed := make(chan error, 1)
	go func() { closed <- k.Close(context.Background()) }()
	close(goOn)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	s.expect(t, one, two)
}

func TestAKillIsAnnouncedBeforeItBegins(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails, before bool
		want          bool
	}{
		"a kill":                               {want: true},
		"one that fails":                       {fails: true},
		"one that fails of a job that is told": {fails: true, before: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := openStore(t, newStore())
			var id string
			work := jobstest.NewStream(func(string) error {
				if !k.jobs[id].Reported() {
					t.Error("another process would tell of the end")
				}
				if c.fails {
					return errors.New("no such process")
				}
				return nil
			})
			id = k.add(t, work)
			if c.before {
				k.jobs[id].MarkReported()
			}
			_, _, err := k.Kill(id, "", k.owner)
			if c.fails == (err == nil) {
				t.Errorf("the kill: %v", err)
			}
			if k.jobs[id].Reported() != c.want {
				t.Errorf("afterwards it counts as told: %v", !c.want)
			}
			if job, err := k.Get(id, k.owner); err != nil || job.Reported != (c.want && !c.before) {
				t.Errorf("afterwards it is %+v, %v", job, err)
			}
			work.Settle(ended(jobs.Completed))
		})
	}
}

func TestTheEndOfAnOwnerTellsAllJobsAtOnce(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	const n = 8
	var together sync.WaitGroup
	together.Add(n)
	for range n {
		var work *jobstest.Stream
		work = jobstest.NewStream(func(string) error {
			together.Done()
			together.Wait()
			work.Settle(ended(jobs.Killed))
			return nil
		})
		k.add(t, work)
	}
	if err := k.End(t.Context(), k.owner); err != nil {
		t.Fatal(err)
	}
}

func TestTheEndOfAnOwnerWaitsForNobodyAfterItsContext(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	goOn, asked := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var work *jobstest.Stream
	work = jobstest.NewStream(func(string) error {
		once.Do(func() { close(asked) })
		<-goOn // a host that stands still
		work.Settle(ended(jobs.Killed))
		return nil
	})
	k.add(t, work)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if err := k.End(ctx, k.owner); !errors.Is(err, fault.Aborted) {
		t.Errorf("it ends with %v", err)
	}
	close(goOn)
	if err := k.End(t.Context(), k.owner); err != nil {
		t.Error(err)
	}
}
