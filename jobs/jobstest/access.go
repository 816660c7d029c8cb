package jobstest

import (
	"context"
	"errors"
	"reflect"
	"regexp"
	"sync"
	"testing"
	"time"

	"hardshell/internal/fault"
	"hardshell/jobs"
)

func (s suite) read(t *testing.T) {
	f := s.open(t, Options{})
	job, work := f.start()
	f.wantRead(job.ID, "")
	work.Print("a\n")
	f.wantRead(job.ID, "a\n")
	work.Print("b\n")
	work.Print("c\n")
	wantStatus(t, f.wantRead(job.ID, "b\nc\n"), jobs.Running, false)
	work.Print("d\n")
	work.Exit(3)
	end := f.settled(job.ID)
	wantStatus(t, end, jobs.Completed, true)
	if line := end.StatusLine(); line != "[status: completed, exit code: 3]" {
		t.Errorf("the status line is %s", line)
	}
	wantStatus(t, f.wantRead(job.ID, "d\n"), jobs.Completed, true)
	f.wantRead(job.ID, "")
}

func (s suite) get(t *testing.T) {
	f := s.open(t, Options{})
	job, work := f.start()
	work.Print("a\n")
	work.Exit(0)
	wantStatus(t, f.news(), jobs.Completed, false)
	for range 2 {
		wantStatus(t, must[jobs.Job](t)(f.Registry.Get(job.ID, f.Owner)), jobs.Completed, false)
		wantStatus(t, f.Registry.List(f.Owner)[0], jobs.Completed, false)
	}
	wantStatus(t, f.wantRead(job.ID, "a\n"), jobs.Completed, true)
	wantStatus(t, must[jobs.Job](t)(f.Registry.Get(job.ID, f.Owner)), jobs.Completed, true)
	f.silent()
}

func (s suite) kill(t *testing.T) {
	f := s.open(t, Options{})
	job, work := f.start()
	work.Print("a\n")
	requested, job, err := f.Registry.Kill(job.ID, "enough", f.Owner)
	if err != nil || !requested || !job.Reported {
		t.Errorf("kill: %v, %+v, %v", requested, job, err)
	}
	wantStatus(t, f.news(), jobs.Killed, true)
	requested, end, err := f.Registry.Kill(job.ID, "again", f.Owner)
	if err != nil || requested {
		t.Errorf("a kill after the end: %v, %v", requested, err)
	}
	wantStatus(t, end, jobs.Killed, true)
	f.wantRead(job.ID, "a\n")
	f.silent()
}

func (s suite) waitTimeout(t *testing.T) {
	f := s.open(t, Options{})
	job, work := f.start()
	for timeout, text := range map[time.Duration]string{0: "0", -1500 * time.Microsecond: "-1.5"} {
		_, err := f.Registry.Wait(context.Background(), job.ID, timeout, f.Owner)
		wantError(t, err, fault.InvalidArgument, "invalid wait timeout: expected a positive number of milliseconds, got "+text)
	}
	for range 3 {
		live := must[jobs.Job](t)(f.Registry.Wait(context.Background(), job.ID, time.Millisecond, f.Owner))
		wantStatus(t, live, jobs.Running, false)
	}
	work.Exit(0)
	wantStatus(t, f.news(), jobs.Completed, false)
}

func (s suite) waitAbort(t *testing.T) {
	f := s.open(t, Options{})
	job, work := f.start()
	work.Print("a\n")
	aborted, abort := context.WithCancel(context.Background())
	abort()
	for _, u := range []jobs.Until{{}, {Idle: time.Hour}, {Pattern: regexp.MustCompile("never")}} {
		_, err := f.Registry.Until(aborted, job.ID, u, patience, f.Owner)
		wantError(t, err, fault.Aborted, "wait aborted")
	}
	f.wantRead(job.ID, "a\n")
	work.Exit(0)
	wantStatus(t, f.news(), jobs.Completed, false)
	end, err := f.Registry.Wait(aborted, job.ID, patience, f.Owner)
	if err != nil {
		t.Fatalf("an aborted wait for a settled job: %v", err)
	}
	wantStatus(t, end, jobs.Completed, true)
}

func (s suite) waitMany(t *testing.T) {
	f := s.open(t, Options{})
	job, work := f.start()
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { wantStatus(t, f.settled(job.ID), jobs.Completed, true) })
	}
	work.Exit(0)
	all.Wait()
	if news := f.news(); news.Status != jobs.Completed {
		t.Errorf("the news is %+v", news)
	}
}

func (s suite) untilPattern(t *testing.T) {
	f := s.open(t, Options{})
	job, work := f.start()
	ready := jobs.Until{Pattern: regexp.MustCompile(`(?m)^listening on \d+$`)}
	work.Print("starting\n")
	live := must[jobs.Job](t)(f.Registry.Until(context.Background(), job.ID, ready, time.Millisecond, f.Owner))
	wantStatus(t, live, jobs.Running, false)
	matched := make(chan struct{})
	go func() {
		defer close(matched)
		job, err := f.Registry.Until(context.Background(), job.ID, ready, patience, f.Owner)
		if err != nil {
			t.Error(err)
		}
		wantStatus(t, job, jobs.Running, false)
	}()
	work.Print("listening on 80\n")
	<-matched
	f.wantRead(job.ID, "starting\nlistening on 80\n")
}

func (s suite) untilIdle(t *testing.T) {
	f := s.open(t, Options{})
	job, work := f.start()
	work.Print("a\n")
	live := must[jobs.Job](t)(f.Registry.Until(context.Background(), job.ID, jobs.Until{Idle: time.Millisecond}, patience, f.Owner))
	wantStatus(t, live, jobs.Running, false)
	f.wantRead(job.ID, "a\n")
}

func (s suite) untilEnd(t *testing.T) {
	f := s.open(t, Options{})
	job, work := f.start()
	work.Exit(0)
	never := jobs.Until{Pattern: regexp.MustCompile("never"), Idle: time.Hour}
	wantStatus(t, must[jobs.Job](t)(f.Registry.Until(context.Background(), job.ID, never, patience, f.Owner)), jobs.Completed, true)
}

func (s suite) copies(t *testing.T) {
	f := s.open(t, Options{})
	job, _ := f.start()
	list := f.Registry.List(f.Owner)
	list[0].Label, list[0].Status = "changed", jobs.Failed
	got := must[jobs.Job](t)(f.Registry.Get(job.ID, f.Owner))
	if !reflect.DeepEqual(got, job) {
		t.Errorf("a changed copy made %+v of %+v", got, job)
	}
}

// killRace lets work end and be killed at the same time: the job settles once,
// and either way its end is no news.
func (s suite) killRace(t *testing.T) {
	f := s.open(t, Options{})
	for range f.rounds() {
		job, work := f.start()
		go work.Exit(0)
		requested, killed, err := f.Registry.Kill(job.ID, "race", f.Owner)
		if err != nil || !killed.Reported || !requested && !killed.Status.Terminal() {
			t.Fatalf("kill: %v, %+v, %v", requested, killed, err)
		}
		end := f.settled(job.ID)
		if killed.Status.Terminal() && !reflect.DeepEqual(killed, end) {
			t.Fatalf("a settled job changed from %+v to %+v", killed, end)
		}
		if news := f.news(); news.ID != job.ID || requested && !news.Reported {
			t.Fatalf("the news is %+v", news)
		}
	}
	f.silent()
}

// abortRace lets work end and a wait be aborted at the same time: either the
// waiter or the listeners know of the end, not both and not none.
func (s suite) abortRace(t *testing.T) {
	f := s.open(t, Options{})
	for range f.rounds() {
		job, work := f.start()
		ctx, abort := context.WithCancel(context.Background())
		waiting := &observed{Context: ctx, seen: func() {
			go abort()
			go work.Exit(0)
		}}
		end, err := f.Registry.Wait(waiting, job.ID, patience, f.Owner)
		if err != nil && !errors.Is(err, fault.Aborted) || err == nil && !end.Status.Terminal() {
			t.Fatalf("the wait gives %+v, %v", end, err)
		}
		if news := f.news(); news.ID != job.ID || news.Reported != (err == nil) {
			t.Fatalf("the wait gives %v, the news is %+v", err, news)
		}
	}
	f.silent()
}

// observed is a context that says when somebody first waits for its end.
type observed struct {
	context.Context
	once sync.Once
	seen func()
}

func (o *observed) Done() <-chan struct{} {
	o.once.Do(o.seen)
	return o.Context.Done()
}
