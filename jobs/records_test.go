package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"hardshell/internal/fault"
	"hardshell/jobs"
	"hardshell/jobs/jobstest"
)

// keeping is a registry over a store.
type keeping struct {
	*jobs.Registry
	*store
	t     *testing.T
	owner *jobs.Owner
	log   bytes.Buffer
	mu    sync.Mutex
	news  []jobs.Job
	moved int
}

func openStore(t *testing.T, s *store) *keeping {
	k := &keeping{store: s, t: t, owner: jobs.NewOwner("session")}
	k.Registry = jobs.New(jobs.Options{Records: s, RecordsOwner: k.owner, Log: slog.New(slog.NewTextHandler(&k.log, nil))})
	closeAtEnd(t, k.Registry)
	k.AddController("test")
	k.OnDone(func(job jobs.Job, _ *jobs.Owner) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.news = append(k.news, job)
	})
	k.OnChanged(func(owner *jobs.Owner) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if owner != k.owner {
			t.Errorf("a change was told for %v", owner)
		}
		k.moved++
	})
	return k
}

func (k *keeping) list() []jobs.Job { return k.Registry.List(k.owner) }

// add puts a job there as another process would.
func (s *store) add(t testing.TB, work *jobstest.Stream) string {
	t.Helper()
	slot, err := s.Reserve("bash", 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.write(*slot, "work", work); err != nil {
		t.Fatal(err)
	}
	slot.Keep()
	return slot.ID
}

func (s *store) addEnded(t testing.TB) string {
	work := jobstest.NewStream(nil)
	work.Settle(ended(jobs.Completed))
	return s.add(t, work)
}

func TestRecordsAreOpenedOnce(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	for range 3 {
		k.addEnded(t)
	}
	for range 5 {
		if list := k.list(); len(list) != 3 {
			t.Fatalf("there are %+v", list)
		}
	}
	if k.opens != 3 || k.lists < 5 {
		t.Errorf("%d jobs were opened, in %d looks", k.opens, k.lists)
	}
	if len(k.news) != 3 || k.news[0].FinishedAt != finished.UnixMilli() || k.moved != 3 {
		t.Errorf("told were %+v and %d changes", k.news, k.moved)
	}
}

// Who reads a job in the same breath needs no notice of it.
func TestAJobThatIsReadAsItIsFoundIsNoNews(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	id := k.addEnded(t)
	if _, job, err := k.Read(id, k.owner); err != nil || !job.Reported {
		t.Errorf("read %+v, %v", job, err)
	}
	if len(k.news) != 0 || !k.jobs[id].Reported() {
		t.Errorf("the news is %+v; it counts as reported: %v", k.news, k.jobs[id].Reported())
	}
}

func TestWhatAnotherProcessReportedIsReported(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	id := k.addEnded(t)
	if list := k.list(); list[0].Reported {
		t.Errorf("the job is %+v", list[0])
	}
	k.jobs[id].MarkReported()
	if list := k.list(); !list[0].Reported {
		t.Errorf("the job is %+v", list[0])
	}
}

func TestAJobThatIsGoneIsForgotten(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	id, live := k.addEnded(t), k.add(t, jobstest.NewStream(nil))
	k.list()
	moved := k.moved
	k.prune(id)
	if _, err := k.Get(id, k.owner); !errors.Is(err, fault.UnknownJob) {
		t.Errorf("the job: %v", err)
	}
	if list := k.list(); len(list) != 1 || list[0].ID != live || k.moved != moved+1 {
		t.Errorf("there are %+v after %d changes", list, k.moved-moved)
	}
}

func TestRecordsThatCannotBeListedHideNothingThatIsKnown(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	id := k.addEnded(t)
	k.list()
	k.failing = errors.New("disk gone")
	if list := k.list(); len(list) != 1 || !strings.Contains(k.log.String(), "disk gone") {
		t.Errorf("there are %+v, the log is %s", list, k.log.String())
	}
	if _, err := k.Get(id, k.owner); err != nil {
		t.Error(err)
	}
	if _, err := k.Get("bash-9", k.owner); err != k.failing {
		t.Errorf("an unknown job: %v", err)
	}
}

func TestAStartThatFailsGivesItsIDBack(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	broken := errors.New("no bash")
	start := func(owner *jobs.Owner, kind string, run func(jobs.Slot) (jobs.Producer, error)) (jobs.Job, error) {
		return k.Start(jobs.Start{Kind: kind, Label: "work", Owner: owner, Durable: true, Run: run})
	}
	if _, err := start(k.owner, "bash", func(jobs.Slot) (jobs.Producer, error) { return nil, broken }); err != broken {
		t.Errorf("the start fails with %v", err)
	}
	unwritten := jobstest.NewStream(nil)
	_, err := start(k.owner, "bash", func(slot jobs.Slot) (jobs.Producer, error) {
		if slot.ID != "bash-1" || slot.Dir == "" {
			t.Errorf("the slot is %+v", slot)
		}
		k.jobs[slot.ID] = &keptJob{}
		return unwritten, errors.New("cannot write")
	})
	if err == nil {
		t.Error("the start did not fail")
	}
	if _, err := start(jobs.NewOwner("session"), "bash", nil); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("a start for another handle: %v", err)
	}
	if list := k.list(); len(list) != 0 || k.reserved != 0 {
		t.Errorf("there are %+v, and %d places taken", list, k.reserved)
	}
}

// Another goroutine may look at the records between the writing of one and the
// end of its start.
func TestAJobThatIsFoundWhileItStartsIsRegisteredOnce(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	job, err := k.Start(jobs.Start{Kind: "bash", Label: "work", Owner: k.owner, Durable: true, Run: func(slot jobs.Slot) (jobs.Producer, error) {
		if err := k.write(slot, "work", jobstest.NewStream(nil)); err != nil {
			return nil, err
		}
		k.show(slot.ID)
		if list := k.list(); len(list) != 1 {
			t.Errorf("while it starts there are %+v", list)
		}
		return nil, nil
	}})
	if list := k.list(); err != nil || len(list) != 1 || list[0] != job || k.opens != 1 || k.moved != 1 {
		t.Errorf("started %+v, %v; there are %+v, after %d opens and %d changes", job, err, list, k.opens, k.moved)
	}
}

func TestJobsOfOneKindAreNumberedTogether(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	k.addEnded(t)
	k.list()
	here := jobs.Start{Kind: "bash", Label: "work", Owner: k.owner, Run: func(jobs.Slot) (jobs.Producer, error) { return jobstest.NewFinal(), nil }}
	if _, err := k.Start(here); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("a job of this process beside those in records: %v", err)
	}
	here.Kind = "agent"
	if job, err := k.Start(here); err != nil || job.ID != "agent-1" {
		t.Errorf("a job of another kind: %+v, %v", job, err)
	}
}

func TestTheEndOfAnOwnerEndsWhatOthersStarted(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	work := jobstest.NewStream(nil)
	id := k.add(t, work)
	if err := k.End(context.Background(), k.owner); err != nil {
		t.Fatal(err)
	}
	if len(work.Cancels()) != 1 || !k.jobs[id].Reported() || len(k.list()) != 0 {
		t.Errorf("it was cancelled for %q, reported %v; there are %+v", work.Cancels(), k.jobs[id].Reported(), k.list())
	}
}

func TestAKillIsKnownToOtherProcessesBeforeTheEnd(t *testing.T) {
	t.Parallel()
	k := openStore(t, newStore())
	work := jobstest.NewStream(ignore)
	id := k.add(t, work)
	if _, _, err := k.Kill(id, "", k.owner); err != nil {
		t.Fatal(err)
	}
	if !k.jobs[id].Reported() {
		t.Error("it does not count as reported")
	}
	work.Settle(ended(jobs.Killed))
}

func TestCloseLeavesDurableJobsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := openStore(t, newStore())
		work := jobstest.NewStream(ignore)
		id := k.add(t, work)
		settled := k.addEnded(t)
		k.list()
		k.news = nil
		if err := k.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // nothing follows it any more
		if len(work.Cancels()) != 0 || k.jobs[id].Reported() || k.jobs[settled].Reported() || len(k.news) != 0 {
			t.Errorf("it was cancelled for %q, the news is %+v", work.Cancels(), k.news)
		}
	})
}

func TestAThousandJobsAreCheap(t *testing.T) {
	s := newStore()
	for range 500 {
		s.addEnded(t)
		s.add(t, jobstest.NewStream(nil))
	}
	k := openStore(t, s)
	before := runtime.NumGoroutine()
	k.list()
	if n := runtime.NumGoroutine() - before; n > 500+20 { // some of other tests
		t.Errorf("500 live jobs and 500 settled ones have %d goroutines", n)
	}
	if n := testing.AllocsPerRun(10, func() { k.list() }); n > 500 { // those of what else goes on count too
		t.Errorf("a list of 1,000 jobs makes %v allocations", n)
	}
}

func BenchmarkListOf1000(b *testing.B) {
	for _, live := range []bool{true, false} {
		b.Run(fmt.Sprintf("live=%v", live), func(b *testing.B) {
			s := newStore()
			for range 1000 {
				if live {
					s.add(b, jobstest.NewStream(nil))
				} else {
					s.addEnded(b)
				}
			}
			owner := jobs.NewOwner("session")
			r := jobs.New(jobs.Options{Records: s, RecordsOwner: owner})
			closeAtEnd(b, r)
			r.List(owner)
			for b.Loop() {
				r.List(owner)
			}
		})
	}
}
