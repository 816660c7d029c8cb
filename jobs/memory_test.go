package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hardshell/internal/fault"
	"hardshell/jobs"
	"hardshell/jobs/jobstest"
)

// bench is a registry over work of this process, in a bubble of its own time.
type bench struct {
	*jobs.Registry
	t     *testing.T
	owner *jobs.Owner
	log   bytes.Buffer
	news  []jobs.Job
	heard []string
}

// inBubble runs a check with a registry. It is closed before the bubble ends.
func inBubble(t *testing.T, o jobs.Options, check func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, owner: jobs.NewOwner("session")}
		o.Log = slog.New(slog.NewTextHandler(&b.log, nil))
		b.Registry = jobs.New(o)
		b.AddController("test")
		b.OnDone(func(job jobs.Job, _ *jobs.Owner) {
			b.news = append(b.news, job)
			b.heard = append(b.heard, "done "+job.ID)
		})
		b.OnChanged(func(owner *jobs.Owner) {
			name := "nobody"
			if owner != nil {
				name = owner.ID()
			}
			b.heard = append(b.heard, "changed "+name)
		})
		check(b)
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// start starts work for an owner.
func (b *bench) start(owner *jobs.Owner, p jobs.Producer) jobs.Job {
	b.t.Helper()
	job, err := b.Start(jobs.Start{Kind: "bash", Label: "work", Owner: owner, Run: func(jobs.Slot) (jobs.Producer, error) { return p, nil }})
	if err != nil {
		b.t.Fatal(err)
	}
	return job
}

// get returns a job once nothing happens any more.
func (b *bench) get(id string) jobs.Job {
	b.t.Helper()
	synctest.Wait()
	job, err := b.Get(id, b.owner)
	if err != nil {
		b.t.Fatal(err)
	}
	return job
}

func ended(status jobs.Status) jobs.Outcome {
	return jobs.Outcome{Status: status, Detail: "exit code: 0"}
}

func refuse(string) error { return errors.New("no such process") }

func ignore(string) error { return nil }

func TestAFailedStartUsesNoID(t *testing.T) {
	inBubble(t, jobs.Options{Limit: 1}, func(b *bench) {
		broken := errors.New("no bash")
		_, err := b.Start(jobs.Start{Kind: "bash", Label: "work", Owner: b.owner, Run: func(jobs.Slot) (jobs.Producer, error) { return nil, broken }})
		if err != broken {
			t.Errorf("the start fails with %v", err)
		}
		func() {
			defer func() { recover() }()
			b.Start(jobs.Start{Kind: "bash", Label: "work", Owner: b.owner, Run: func(jobs.Slot) (jobs.Producer, error) { panic("broken") }})
		}()
		if _, err := b.Start(jobs.Start{Kind: "bash", Label: "work", Owner: b.owner, Run: func(jobs.Slot) (jobs.Producer, error) { return nil, nil }}); !errors.Is(err, fault.Invariant) {
			t.Errorf("a start without work: %v", err)
		}
		if job := b.start(b.owner, jobstest.NewFinal()); job.ID != "bash-1" {
			t.Errorf("the first job is %s", job.ID)
		}
	})
}

func TestARefusedStartDoesNotRun(t *testing.T) {
	inBubble(t, jobs.Options{Limit: 1}, func(b *bench) {
		negative := int64(-1)
		ended := jobs.NewOwner("gone")
		if err := b.End(b.t.Context(), ended); err != nil {
			t.Fatal(err)
		}
		b.start(b.owner, jobstest.NewFinal())
		for text, s := range map[string]jobs.Start{
			"invalid job kind: expected a non-empty string":                                                                                   {Label: "work"},
			"invalid job label: expected a non-empty string":                                                                                  {Kind: "bash"},
			"invalid outputLimitBytes: expected a positive safe integer, got -1":                                                              {Kind: "bash", Label: "work", OutputLimitBytes: &negative},
			`agent "gone" is not the registered agent instance (background job owner must be live)`:                                           {Kind: "bash", Label: "work", Owner: ended},
			"no job can outlive this process: the job registry has no records":                                                                {Kind: "bash", Label: "work", Owner: b.owner, Durable: true},
			"background job limit reached for this owner (limit: 1); use job_kill to stop an unneeded job, wait for it to finish, then retry": {Kind: "bash", Label: "work", Owner: b.owner},
		} {
			s.Run = func(jobs.Slot) (jobs.Producer, error) { t.Error("it ran"); return nil, nil }
			if _, err := b.Start(s); err == nil || err.Error() != text {
				t.Errorf("%+v: %v, want %s", s, err, text)
			}
		}
	})
}

func TestAStartWithinAStartCannotPassTheLimit(t *testing.T) {
	inBubble(t, jobs.Options{Limit: 1}, func(b *bench) {
		_, err := b.Start(jobs.Start{Kind: "bash", Label: "outer", Owner: b.owner, Run: func(jobs.Slot) (jobs.Producer, error) {
			_, err := b.Start(jobs.Start{Kind: "bash", Label: "inner", Owner: b.owner, Run: func(jobs.Slot) (jobs.Producer, error) {
				t.Error("the inner job ran")
				return nil, nil
			}})
			if !errors.Is(err, fault.JobLimit) {
				t.Errorf("the inner start: %v", err)
			}
			return jobstest.NewFinal(), nil
		}})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestPlacesAreCountedByOwner(t *testing.T) {
	inBubble(t, jobs.Options{Limit: 1}, func(b *bench) {
		work := jobstest.NewFinal()
		b.start(b.owner, work)
		b.start(jobs.NewOwner("session"), jobstest.NewFinal())
		b.start(nil, jobstest.NewFinal())
		if _, err := b.Start(jobs.Start{Kind: "other", Label: "x", Run: func(jobs.Slot) (jobs.Producer, error) { return nil, nil }}); !errors.Is(err, fault.JobLimit) {
			t.Errorf("a second job without an owner: %v", err)
		}
		// The place is free as soon as the work is done.
		work.Settle(ended(jobs.Completed))
		b.start(b.owner, jobstest.NewFinal())
	})
}

func TestKindsAreNumberedApart(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		for _, want := range []string{"bash-1", "agent-1", "bash-2"} {
			kind, _, _ := strings.Cut(want, "-")
			job, err := b.Start(jobs.Start{Kind: kind, Label: "work", Run: func(jobs.Slot) (jobs.Producer, error) { return jobstest.NewFinal(), nil }})
			if err != nil || job.ID != want {
				t.Errorf("the job is %s (%v), want %s", job.ID, err, want)
			}
		}
	})
}

func TestJobsWithoutAnOwnerAreOpenToAll(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		open := b.start(nil, jobstest.NewFinal())
		own := b.start(b.owner, jobstest.NewFinal())
		for _, c := range []struct {
			caller *jobs.Owner
			want   []string
		}{
			{nil, []string{open.ID}}, {b.owner, []string{open.ID, own.ID}}, {jobs.NewOwner("other"), []string{open.ID}},
		} {
			var ids []string
			for _, job := range b.List(c.caller) {
				ids = append(ids, job.ID)
			}
			if !slices.Equal(ids, c.want) {
				t.Errorf("%v sees %q, want %q", c.caller, ids, c.want)
			}
		}
		if _, _, err := b.Kill(open.ID, "", nil); err != nil {
			t.Error(err)
		}
	})
}

func TestWithoutAControllerNothingStarts(t *testing.T) {
	t.Parallel()
	r := jobs.New(jobs.Options{})
	closeAtEnd(t, r)
	first, second := r.AddController("same"), r.AddController("same")
	first()
	first()
	start := func() error {
		_, err := r.Start(jobs.Start{Kind: "bash", Label: "work", Run: func(jobs.Slot) (jobs.Producer, error) { return jobstest.NewFinal(), nil }})
		return err
	}
	if err := start(); err != nil {
		t.Errorf("with one of two controllers: %v", err)
	}
	second()
	if err := start(); err == nil {
		t.Error("a job started without a controller")
	}
	if list := r.List(nil); len(list) != 1 || list[0].Status != jobs.Running {
		t.Errorf("what ran is %+v", list)
	}
}

func TestFinalOutputIsTheSameAtEveryRead(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		work := jobstest.NewFinal()
		work.Text = "out"
		job := b.start(b.owner, work)
		for _, want := range []string{"", "out", "out"} {
			if text, _, err := b.Read(job.ID, b.owner); err != nil || text != want {
				t.Errorf("read %q, %v; want %q", text, err, want)
			}
			work.Settle(ended(jobs.Completed))
		}
		_, _, err := b.ReadFrom(job.ID, "stdout", 0, 10, b.owner)
		_, inputErr := b.Input(b.t.Context(), job.ID, "x", true, b.owner)
		if !errors.Is(err, fault.InvalidArgs) || !errors.Is(inputErr, fault.InvalidArgs) {
			t.Errorf("a read by offset: %v, input: %v", err, inputErr)
		}
	})
}

// A status that tells of the end comes with all of the output.
func TestWhatIsWrittenBetweenAReadAndTheEndIsRead(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		work := jobstest.NewStream(nil)
		job := b.start(b.owner, work)
		work.Print("a")
		work.OnRead = func() {
			work.OnRead = nil
			work.Print("[stderr]\nb")
			work.Settle(ended(jobs.Completed))
		}
		text, job, err := b.Read(job.ID, b.owner)
		if err != nil || text != "a\n[stderr]\nb" || job.Status != jobs.Completed || !job.Reported {
			t.Errorf("read %q, %+v, %v", text, job, err)
		}
	})
}

func TestACancelThatFailsChangesNothing(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		work := jobstest.NewStream(refuse)
		job := b.start(b.owner, work)
		for range 2 {
			if _, _, err := b.Kill(job.ID, "please", b.owner); err == nil || err.Error() != "no such process" {
				t.Errorf("kill: %v", err)
			}
			if job := b.get(job.ID); job.Status != jobs.Running || job.Reported {
				t.Errorf("the job is %+v", job)
			}
		}
		if reasons := work.Cancels(); !slices.Equal(reasons, []string{"please", "please"}) {
			t.Errorf("it was cancelled for %q", reasons)
		}
		work.Settle(ended(jobs.Completed))
		if job := b.get(job.ID); job.Reported || len(b.news) != 1 {
			t.Errorf("the end is %+v, the news %+v", job, b.news)
		}
	})
}

func TestACancelThatDoesNotSettleFailsTheJob(t *testing.T) {
	inBubble(t, jobs.Options{Limit: 1}, func(b *bench) {
		work := jobstest.NewStream(ignore)
		job := b.start(b.owner, work)
		for range 2 { // a second kill does not prolong it
			if requested, _, err := b.Kill(job.ID, "", b.owner); !requested || err != nil {
				t.Fatal(requested, err)
			}
			time.Sleep(4*time.Second - 1)
		}
		if job := b.get(job.ID); job.Status != jobs.Stopping {
			t.Errorf("before the bound the job is %+v", job)
		}
		time.Sleep(2 * time.Nanosecond)
		failed := b.get(job.ID)
		if failed.Status != jobs.Failed || failed.Detail != "cancel did not settle; work may be orphaned" || !failed.Reported {
			t.Errorf("after the bound the job is %+v", failed)
		}
		b.start(b.owner, jobstest.NewFinal())
		work.Settle(ended(jobs.Completed))
		if late := b.get(job.ID); late != failed || len(b.news) != 1 {
			t.Errorf("a late end made %+v, and the news %+v", late, b.news)
		}
	})
}

func TestWorkThatDoesNotTellHowItEndedFails(t *testing.T) {
	for name, c := range map[string]struct {
		producer jobs.Producer
		detail   string
	}{
		"an error":           {done(jobs.Outcome{Status: jobs.Completed, Err: errors.New("boom")}), "boom"},
		"no status":          {done(jobs.Outcome{}), `its work is done and calls itself ""`},
		"a panic":            {panicking{jobstest.NewFinal()}, "panic: broken"},
		"a status of a live": {done(jobs.Outcome{Status: jobs.Stopping}), `its work is done and calls itself "stopping"`},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, jobs.Options{}, func(b *bench) {
				job := b.start(b.owner, c.producer)
				got, err := b.Wait(b.t.Context(), job.ID, time.Hour, b.owner)
				if err != nil || got.Status != jobs.Failed || got.Detail != c.detail {
					t.Errorf("it settles as %+v, %v", got, err)
				}
				synctest.Wait() // whoever settled it may still be writing
				if n := strings.Count(b.log.String(), "level=WARN"); n != 1 {
					t.Errorf("%d warnings: %s", n, b.log.String())
				}
			})
		})
	}
}

func done(o jobs.Outcome) jobs.Producer {
	work := jobstest.NewFinal()
	work.Settle(o)
	return work
}

type panicking struct{ *jobstest.Final }

func (p panicking) Done() <-chan struct{} { p.Settle(ended(jobs.Completed)); return p.Final.Done() }
func (panicking) Outcome() jobs.Outcome   { panic("broken") }

func TestAListenerThatPanicsIsContained(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		b.OnChanged(func(*jobs.Owner) { panic("broken") })
		b.OnDone(func(jobs.Job, *jobs.Owner) { panic("broken") })
		heard := 0
		b.OnDone(func(jobs.Job, *jobs.Owner) { heard++ })
		work := jobstest.NewFinal()
		b.start(b.owner, work)
		work.Settle(ended(jobs.Completed))
		synctest.Wait()
		if heard != 1 || strings.Count(b.log.String(), "level=ERROR") != 3 {
			t.Errorf("the next listener was called %d times; the log is\n%s", heard, b.log.String())
		}
	})
}

func TestAListenerMayUseTheRegistry(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		b.OnDone(func(job jobs.Job, _ *jobs.Owner) {
			if job.ID == "bash-1" {
				b.start(b.owner, done(ended(jobs.Completed)))
			}
			if _, _, err := b.Read(job.ID, b.owner); err != nil {
				t.Error(err)
			}
		})
		b.start(b.owner, done(ended(jobs.Completed)))
		synctest.Wait()
		if want := []string{"changed session", "changed session", "done bash-1", "changed session", "changed session", "done bash-2"}; !slices.Equal(b.heard, want) {
			t.Errorf("the listeners heard %q", b.heard)
		}
	})
}

func TestNewsComesInTheOrderOfTheEnds(t *testing.T) {
	inBubble(t, jobs.Options{Limit: 100}, func(b *bench) {
		var works []*jobstest.Final
		var want []string
		for range 100 {
			works = append(works, jobstest.NewFinal())
			want = append(want, b.start(b.owner, works[len(works)-1]).ID)
		}
		slices.Reverse(works)
		slices.Reverse(want)
		for i, work := range works {
			work.Settle(ended(jobs.Completed))
			b.Get(want[i], b.owner) // records it
		}
		synctest.Wait()
		var got []string
		for _, job := range b.news {
			got = append(got, job.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the news came as %q", got)
		}
	})
}

func TestWaitsLeaveNothingBehind(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		work := jobstest.NewStream(nil)
		job := b.start(b.owner, work)
		synctest.Wait()
		before := runtime.NumGoroutine()
		never := regexp.MustCompile("never")
		for i := range 10_000 {
			u := jobs.Until{}
			if i%2 == 1 {
				u = jobs.Until{Pattern: never, Idle: time.Hour}
			}
			if live, err := b.Until(b.t.Context(), job.ID, u, 10*time.Millisecond, b.owner); err != nil || live.Status != jobs.Running {
				t.Fatalf("wait %d: %+v, %v", i, live, err)
			}
		}
		synctest.Wait()
		if after := runtime.NumGoroutine(); after > before+10 { // a few belong to other tests
			t.Errorf("there were %d goroutines, and are %d", before, after)
		}
		work.Settle(ended(jobs.Completed))
		synctest.Wait()
		if len(b.news) != 1 || b.news[0].Reported {
			t.Errorf("the news is %+v", b.news)
		}
	})
}

func TestSilenceIsCountedFromTheLastOutput(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		work := jobstest.NewStream(nil)
		job := b.start(b.owner, work)
		work.Print("old")
		go func() {
			for range 5 {
				time.Sleep(time.Second)
				work.Print("x")
			}
		}()
		began := time.Now()
		if _, err := b.Until(b.t.Context(), job.ID, jobs.Until{Idle: 1500 * time.Millisecond}, time.Hour, b.owner); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 6500*time.Millisecond {
			t.Errorf("it waited %v", took)
		}
	})
}
