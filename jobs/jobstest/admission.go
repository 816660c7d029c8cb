package jobstest

import (
	"context"
	"testing"

	"hardshell/internal/fault"
	"hardshell/jobs"
)

func (s suite) ids(t *testing.T) {
	f := s.open(t, Options{Limit: 2})
	zero := int64(0)
	if _, _, err := f.Start(Ask{Label: "work", OutputLimitBytes: &zero}); err == nil {
		t.Error("a limit of 0 bytes is accepted")
	}
	first, work := f.start()
	second, _ := f.start()
	if _, _, err := f.Start(Ask{Label: "work"}); err == nil {
		t.Error("a job beyond the limit was started")
	}
	work.Exit(0)
	f.settled(first.ID)
	third, _ := f.start()
	for i, job := range []jobs.Job{first, second, third} {
		if want := []string{"bash-1", "bash-2", "bash-3"}[i]; job.ID != want {
			t.Errorf("a job is called %s, want %s", job.ID, want)
		}
		wantStatus(t, job, jobs.Running, false)
	}
	if job := first; job.Kind != "bash" || job.Label != "work" || job.OwnerSession != f.Owner.ID() || job.StartedAt == 0 {
		t.Errorf("a job starts as %+v", job)
	}
}

func (s suite) refusals(t *testing.T) {
	bare := s.newFixture(t, Options{})
	_, _, err := bare.Start(Ask{Label: "work"})
	wantError(t, err, fault.InvalidArgument,
		"background jobs unavailable: no job controller serves this agent (load @deepseek-ai/dsh-tool-jobs in its composition)")
	f := watched(t, bare)
	_, _, err = f.Start(Ask{})
	wantError(t, err, fault.InvalidArgument, "invalid job label: expected a non-empty string")
	unsafe := int64(1 << 53)
	_, _, err = f.Start(Ask{Label: "work", OutputLimitBytes: &unsafe})
	wantError(t, err, fault.InvalidArgument, "invalid outputLimitBytes: expected a positive safe integer, got 9007199254740992")
	if list := f.Registry.List(f.Owner); len(list) != 0 {
		t.Errorf("refused starts left %+v", list)
	}
	if err := f.Registry.End(context.Background(), f.Owner); err != nil {
		t.Fatal(err)
	}
	_, _, err = f.Start(Ask{Label: "work"})
	wantError(t, err, fault.InvalidArgument,
		`agent "`+f.Owner.ID()+`" is not the registered agent instance (background job owner must be live)`)
}

func (s suite) limit(t *testing.T) {
	f := s.open(t, Options{Limit: 1})
	job, work := f.start()
	_, _, err := f.Start(Ask{Label: "work"})
	wantError(t, err, fault.JobLimit, limitText)
	work.Exit(0)
	f.settled(job.ID)
	f.start()
}

func (s suite) stoppingKeepsPlace(t *testing.T) {
	f := s.open(t, Options{Limit: 1})
	job, work := f.startWith(Ask{Label: "work", Stubborn: true})
	for range 2 {
		requested, stopping, err := f.Registry.Kill(job.ID, "enough", f.Owner)
		if err != nil || !requested {
			t.Fatalf("kill: %v, %v", requested, err)
		}
		wantStatus(t, stopping, jobs.Stopping, true)
	}
	_, _, err := f.Start(Ask{Label: "work"})
	wantError(t, err, fault.JobLimit, limitText)
	work.Exit(0)
	f.settled(job.ID)
	f.start()
}

func (s suite) unknown(t *testing.T) {
	f := s.open(t, Options{})
	_, err := f.Registry.Get("bash-1", f.Owner)
	wantError(t, err, fault.UnknownJob, "unknown job bash-1")
	_, err = f.Registry.Wait(context.Background(), "", -1, f.Owner)
	wantError(t, err, fault.UnknownJob, "unknown job ")
}

func (s suite) fence(t *testing.T) {
	f := s.open(t, Options{})
	job, work := f.start()
	work.Print("mine\n")
	r := f.Registry
	for _, caller := range []*jobs.Owner{nil, jobs.NewOwner("somebody-else")} {
		_, getErr := r.Get(job.ID, caller)
		_, _, readErr := r.Read(job.ID, caller)
		_, _, pieceErr := r.ReadFrom(job.ID, "stdout", -1, 0, caller)
		_, inputErr := r.Input(context.Background(), job.ID, "x", false, caller)
		_, _, killErr := r.Kill(job.ID, "", caller)
		_, waitErr := r.Wait(context.Background(), job.ID, -1, caller)
		_, untilErr := r.Until(context.Background(), job.ID, jobs.Until{}, 0, caller)
		_, markErr := r.MarkReported(job.ID, caller)
		for _, err := range []error{getErr, readErr, pieceErr, inputErr, killErr, waitErr, untilErr, markErr} {
			wantError(t, err, fault.ForeignJob, "job "+job.ID+" belongs to another session")
		}
		if list := r.List(caller); len(list) != 0 {
			t.Errorf("a stranger sees %+v", list)
		}
	}
	wantStatus(t, f.wantRead(job.ID, "mine\n"), jobs.Running, false)
}

func (s suite) resumed(t *testing.T) {
	f := s.open(t, Options{})
	job, work := f.start()
	work.Print("mine\n")
	resumed := jobs.NewOwner(f.Owner.ID())
	if text, _, err := f.Registry.Read(job.ID, resumed); err != nil || text != "mine\n" {
		t.Errorf("a resumed session reads %q, %v", text, err)
	}
	if requested, _, err := f.Registry.Kill(job.ID, "", resumed); err != nil || !requested {
		t.Errorf("a resumed session kills: %v, %v", requested, err)
	}
	if err := f.Registry.End(context.Background(), resumed); err != nil {
		t.Fatal(err)
	}
	if list := f.Registry.List(resumed); len(list) != 1 {
		t.Errorf("the end of a handle that owns nothing left %+v", list)
	}
}
