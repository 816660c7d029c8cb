package jobs_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"hardshell/jobs"
	"hardshell/jobs/jobstest"
)

func TestJobsInMemory(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, func(t *testing.T, o jobstest.Options) jobstest.Fixture {
		owner := jobs.NewOwner("session")
		r := jobs.New(jobs.Options{Limit: o.Limit, CancelBound: bound(o.CancelBound)})
		closeAtEnd(t, r)
		return jobstest.Fixture{Registry: r, Owner: owner, Start: starter(r, owner, func(work *jobstest.Stream, _ jobs.Slot) jobs.Producer { return work })}
	})
}

func TestJobsInRecords(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, func(t *testing.T, o jobstest.Options) jobstest.Fixture {
		return keptFixture(t, newStore(), o)
	})
}

// keptFixture is one more registry over a store.
func keptFixture(t *testing.T, s *store, o jobstest.Options) jobstest.Fixture {
	owner := jobs.NewOwner("session")
	r := jobs.New(jobs.Options{Limit: o.Limit, CancelBound: bound(o.CancelBound), Records: s, RecordsOwner: owner})
	closeAtEnd(t, r)
	return jobstest.Fixture{
		Registry: r, Owner: owner,
		Start: func(a jobstest.Ask) (jobs.Job, jobstest.Work, error) {
			work := newWork(a)
			job, err := r.Start(jobs.Start{
				Kind: "bash", Label: a.Label, Owner: owner, OutputLimitBytes: a.OutputLimitBytes, Durable: true,
				Run: func(slot jobs.Slot) (jobs.Producer, error) { return nil, s.write(slot, a.Label, work) },
			})
			return job, driven{work}, err
		},
		Again: func(t *testing.T) jobstest.Fixture { return keptFixture(t, s, o) },
	}
}

// starter starts jobs of this process.
func starter(r *jobs.Registry, owner *jobs.Owner, producer func(*jobstest.Stream, jobs.Slot) jobs.Producer) func(jobstest.Ask) (jobs.Job, jobstest.Work, error) {
	return func(a jobstest.Ask) (jobs.Job, jobstest.Work, error) {
		work := newWork(a)
		job, err := r.Start(jobs.Start{
			Kind: "bash", Label: a.Label, Owner: owner, OutputLimitBytes: a.OutputLimitBytes,
			Run: func(slot jobs.Slot) (jobs.Producer, error) {
				if slot.ID == "" || slot.Dir != "" {
					return nil, errors.New("the slot of a job of this process has an id and no directory")
				}
				return producer(work, slot), nil
			},
		})
		return job, driven{work}, err
	}
}

func newWork(a jobstest.Ask) *jobstest.Stream {
	if a.Stubborn {
		return jobstest.NewStream(func(string) error { return nil })
	}
	return jobstest.NewStream(nil)
}

// driven is a Stream as the suite drives it.
type driven struct{ *jobstest.Stream }

func (d driven) Exit(status int) {
	d.Settle(jobs.Outcome{Status: jobs.Completed, Detail: "exit code: " + strconv.Itoa(status)})
}

// closeAtEnd closes a registry, whose work then ends.
func closeAtEnd(t testing.TB, r *jobs.Registry) {
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// bound is a bound that does not change; 0 is the default.
func bound(d time.Duration) func() time.Duration {
	if d == 0 {
		return nil
	}
	return func() time.Duration { return d }
}
