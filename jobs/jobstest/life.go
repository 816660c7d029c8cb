package jobstest

import (
	"context"
	"slices"
	"sync"
	"testing"

	"hardshell/internal/fault"
	"hardshell/jobs"
)

// order also checks that the listeners find the registry as they are told.
func (s suite) order(t *testing.T) {
	f := s.open(t, Options{})
	var mu sync.Mutex
	var heard []string
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, what+" "+string(f.Registry.List(f.Owner)[0].Status))
	}
	defer f.Registry.OnChanged(func(owner *jobs.Owner) {
		if owner != f.Owner {
			t.Errorf("a change was told for the owner %v", owner)
		}
		note("changed")
	})()
	finished := make(chan struct{})
	defer f.Registry.OnDone(func(job jobs.Job, _ *jobs.Owner) {
		note("done")
		close(finished)
	})()
	removed := f.Registry.OnDone(func(jobs.Job, *jobs.Owner) { t.Error("a removed listener was called") })
	removed()
	removed()

	job, work := f.start()
	work.Exit(0)
	wantStatus(t, f.news(), jobs.Completed, false)
	<-finished
	if want := []string{"changed running", "changed completed", "done completed"}; !slices.Equal(heard, want) &&
		// A job may settle before its start is told.
		!slices.Equal(heard, []string{"changed completed", "changed completed", "done completed"}) {
		t.Errorf("the listeners heard %q of %s", heard, job.ID)
	}
}

func (s suite) end(t *testing.T) {
	f := s.open(t, Options{})
	f.start()
	f.start()
	stopping, work := f.startWith(Ask{Label: "work", Stubborn: true})
	if _, _, err := f.Registry.Kill(stopping.ID, "", f.Owner); err != nil {
		t.Fatal(err)
	}
	go work.Exit(0)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := f.Registry.End(ctx, f.Owner); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if news := f.news(); !news.Reported || !news.Status.Terminal() {
			t.Errorf("the end of the owner left %+v", news)
		}
	}
	f.silent()
	if list := f.Registry.List(f.Owner); len(list) != 0 {
		t.Errorf("after the end of the owner there are %+v", list)
	}
	if err := f.Registry.End(ctx, f.Owner); err != nil {
		t.Errorf("a second end: %v", err)
	}
}

func (s suite) closed(t *testing.T) {
	f := s.open(t, Options{})
	job, _ := f.start()
	if err := f.Registry.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	_, _, err := f.Start(Ask{Label: "work"})
	wantError(t, err, fault.Aborted, "background jobs unavailable: the job registry was closed")
	_, err = f.Registry.Get(job.ID, f.Owner)
	wantError(t, err, fault.UnknownJob, "unknown job "+job.ID)
	if list := f.Registry.List(f.Owner); len(list) != 0 {
		t.Errorf("a closed registry has %+v", list)
	}
	f.silent()
	if err := f.Registry.Close(context.Background()); err != nil {
		t.Errorf("a second close: %v", err)
	}
}

// other is another registry of the same session.
func (f *fixture) other(t *testing.T) *fixture {
	t.Helper()
	if f.Again == nil {
		t.Skip("these jobs end with their registry")
	}
	return watched(t, f.Again(t))
}

func (s suite) again(t *testing.T) {
	f := s.open(t, Options{})
	b := f.other(t)
	job, work := f.start()
	killed, _ := f.start()
	if list := b.Registry.List(b.Owner); len(list) != 2 || list[0].ID != job.ID || list[0].Label != job.Label {
		t.Fatalf("the other registry lists %+v", list)
	}
	work.Print("a\n")
	b.wantRead(job.ID, "a\n")
	work.Print("b\n")
	f.wantRead(job.ID, "b\n")
	if requested, _, err := b.Registry.Kill(killed.ID, "", b.Owner); err != nil || !requested {
		t.Fatalf("kill through the other registry: %v, %v", requested, err)
	}
	wantStatus(t, f.settled(killed.ID), jobs.Killed, true)
	work.Exit(7)
	end := b.settled(job.ID)
	wantStatus(t, end, jobs.Completed, true)
	if got := f.settled(job.ID); got.Detail != end.Detail || got.FinishedAt != end.FinishedAt {
		t.Errorf("the registries say %+v and %+v", got, end)
	}
}

func (s suite) later(t *testing.T) {
	f := s.open(t, Options{})
	if f.Again == nil {
		t.Skip("these jobs end with their registry")
	}
	known, work := f.start()
	work.Exit(0)
	f.settled(known.ID)
	job, work := f.start()
	work.Exit(0)
	f.news()
	if news := f.news(); news.ID != job.ID || news.Reported {
		t.Fatalf("the news is %+v", news)
	}
	b := f.other(t)
	for range 2 {
		if list := b.Registry.List(b.Owner); len(list) != 2 {
			t.Fatalf("the other registry lists %+v", list)
		}
	}
	if news := b.news(); news.ID != job.ID || news.Reported {
		t.Errorf("what nobody knew of is told as %+v", news)
	}
	b.silent()
	must[jobs.Job](t)(b.Registry.MarkReported(job.ID, b.Owner))
	c := f.other(t)
	for _, job := range c.Registry.List(c.Owner) {
		wantStatus(t, job, jobs.Completed, true)
	}
	c.silent()
}

func (s suite) outlive(t *testing.T) {
	f := s.open(t, Options{})
	if f.Again == nil {
		t.Skip("these jobs end with their registry")
	}
	job, work := f.start()
	waited := make(chan error, 1)
	go func() {
		_, err := f.Registry.Wait(context.Background(), job.ID, patience, f.Owner)
		waited <- err
	}()
	if err := f.Registry.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err == nil {
		t.Error("a wait in a closed registry ends without an error")
	}
	b := f.other(t)
	wantStatus(t, must[jobs.Job](t)(b.Registry.Get(job.ID, b.Owner)), jobs.Running, false)
	work.Print("a\n")
	work.Exit(0)
	wantStatus(t, b.settled(job.ID), jobs.Completed, true)
	b.wantRead(job.ID, "a\n")
	f.silent()
}
