package jobs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hardshell/internal/fault"
	"hardshell/jobs"
	"hardshell/jobs/jobstest"
)

func TestTheEndOfAnOwner(t *testing.T) {
	for name, c := range map[string]struct {
		work   func() *jobstest.Stream
		want   jobs.Job // status and detail
		took   time.Duration
		logged bool
	}{
		"work that complies is killed": {
			work: func() *jobstest.Stream { return jobstest.NewStream(nil) },
			want: jobs.Job{Status: jobs.Killed, Detail: "signal: SIGTERM"},
		},
		"work that is slow is awaited": {
			work: func() *jobstest.Stream {
				var work *jobstest.Stream
				work = jobstest.NewStream(func(string) error {
					time.AfterFunc(3*time.Second, func() { work.Settle(jobs.Outcome{Status: jobs.Killed, Detail: "signal: SIGKILL"}) })
					return nil
				})
				return work
			},
			want: jobs.Job{Status: jobs.Killed, Detail: "signal: SIGKILL"}, took: 3 * time.Second,
		},
		"work that ignores it counts as failed": {
			work: func() *jobstest.Stream { return jobstest.NewStream(ignore) },
			want: jobs.Job{Status: jobs.Failed, Detail: "cancel did not settle; work may be orphaned"}, took: 8 * time.Second,
		},
		"work that refuses counts as failed at once": {
			work: func() *jobstest.Stream { return jobstest.NewStream(refuse) },
			want: jobs.Job{Status: jobs.Failed, Detail: "cancel threw during teardown; work may be orphaned: no such process"}, logged: true,
		},
		"work that panics counts as failed at once": {
			work: func() *jobstest.Stream { return jobstest.NewStream(func(string) error { panic("broken") }) },
			want: jobs.Job{Status: jobs.Failed, Detail: "cancel threw during teardown; work may be orphaned: panic: broken"}, logged: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, jobs.Options{}, func(b *bench) {
				work := c.work()
				b.start(b.owner, work)
				other := b.start(nil, jobstest.NewFinal())
				successor := jobs.NewOwner(b.owner.ID())
				kept := b.start(successor, jobstest.NewFinal())
				began := time.Now()
				if err := b.End(b.t.Context(), b.owner); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				if reasons := work.Cancels(); !slices.Equal(reasons, []string{"owner disposed"}) {
					t.Errorf("it was cancelled for %q", reasons)
				}
				if len(b.news) != 1 || b.news[0].Status != c.want.Status || b.news[0].Detail != c.want.Detail || !b.news[0].Reported {
					t.Errorf("the news is %+v", b.news)
				}
				if strings.Contains(b.log.String(), "level=WARN") != c.logged {
					t.Errorf("the log is %q", b.log.String())
				}
				if list := b.List(successor); len(list) != 2 || list[0].ID != other.ID || list[1].ID != kept.ID || list[1].Status != jobs.Running {
					t.Errorf("what is left is %+v", list)
				}
				work.Settle(ended(jobs.Completed))
				synctest.Wait()
				if len(b.news) != 1 {
					t.Errorf("a late end is news: %+v", b.news)
				}
			})
		})
	}
}

func TestTheEndOfAnOwnerIsToldOnce(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		b.start(b.owner, done(ended(jobs.Completed)))
		b.start(b.owner, jobstest.NewFinal())
		synctest.Wait()
		b.heard = nil
		if err := b.End(b.t.Context(), b.owner); err != nil {
			t.Fatal(err)
		}
		// Whether a job that ends at once was seen stopping is open.
		heard := strings.Join(b.heard, ", ")
		if want := "changed session, done bash-2, changed session"; heard != want && heard != "changed session, "+want {
			t.Errorf("the listeners heard %q", b.heard)
		}
		b.heard = nil
		if err := b.End(b.t.Context(), jobs.NewOwner("idle")); err != nil || len(b.heard) != 0 {
			t.Errorf("the end of an owner without jobs: %v, the listeners heard %q", err, b.heard)
		}
	})
}

func TestAnOwnerThatEndsWhileItsJobStarts(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		running, goOn := make(chan struct{}), make(chan struct{})
		work := jobstest.NewStream(nil)
		go func() {
			_, err := b.Start(jobs.Start{Kind: "bash", Label: "work", Owner: b.owner, Run: func(jobs.Slot) (jobs.Producer, error) {
				close(running)
				<-goOn
				return work, nil
			}})
			if err != nil {
				t.Error(err)
			}
		}()
		<-running
		time.AfterFunc(time.Second, func() { close(goOn) })
		if err := b.End(b.t.Context(), b.owner); err != nil {
			t.Fatal(err)
		}
		if reasons := work.Cancels(); !slices.Equal(reasons, []string{"owner disposed"}) {
			t.Errorf("it was cancelled for %q", reasons)
		}
		if list := b.List(b.owner); len(list) != 0 {
			t.Errorf("there are %+v", list)
		}
	})
}

func TestAnImpatientEndCanBeRepeated(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		b.start(b.owner, jobstest.NewStream(ignore))
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		defer cancel()
		if err := b.End(ctx, b.owner); !errors.Is(err, fault.Aborted) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the end fails with %v", err)
		}
		if err := b.End(b.t.Context(), b.owner); err != nil {
			t.Error(err)
		}
		if err := b.End(b.t.Context(), nil); !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("the end of nobody: %v", err)
		}
	})
}

func TestCloseTellsOfNoEnd(t *testing.T) {
	inBubble(t, jobs.Options{}, func(b *bench) {
		slow := jobstest.NewStream(ignore)
		b.start(b.owner, slow)
		b.start(nil, jobstest.NewFinal())
		b.start(b.owner, done(ended(jobs.Completed)))
		synctest.Wait()
		b.heard, b.news = nil, nil
		if err := b.Close(b.t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(b.news) != 0 {
			t.Errorf("there was news of %+v", b.news)
		}
		if last := b.heard[len(b.heard)-2:]; !slices.Contains(last, "changed session") || !slices.Contains(last, "changed nobody") {
			t.Errorf("the listeners heard %q", b.heard)
		}
		if reasons := slow.Cancels(); !slices.Equal(reasons, []string{"jobs service disposed"}) {
			t.Errorf("it was cancelled for %q", reasons)
		}
		heard := len(b.heard)
		if err := b.End(b.t.Context(), b.owner); err != nil || len(b.heard) != heard || len(slow.Cancels()) != 1 {
			t.Errorf("the end of an owner after it: %v, %q", err, b.heard[heard:])
		}
	})
}

func TestSettledJobsAreForgottenBeyondTheNumberToKeep(t *testing.T) {
	inBubble(t, jobs.Options{Keep: 3}, func(b *bench) {
		settle := func(reported bool) string {
			job := b.start(b.owner, done(ended(jobs.Completed)))
			synctest.Wait()
			if reported {
				if _, _, err := b.Read(job.ID, b.owner); err != nil {
					t.Fatal(err)
				}
			}
			return job.ID
		}
		live := b.start(b.owner, jobstest.NewFinal())
		other := b.start(nil, done(ended(jobs.Completed)))
		want := []string{live.ID, other.ID}
		settle(true)                                      // goes first
		want = append(want, settle(false), settle(false)) // stay
		settle(true)                                      // goes second
		want = append(want, settle(false))                // stays
		var got []string
		for _, job := range b.List(b.owner) {
			got = append(got, job.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("there are %q, want %q", got, want)
		}
		for range 100 {
			settle(false)
		}
		if list := b.List(b.owner); len(list) != 2+3 {
			t.Errorf("%d jobs are known", len(list))
		}
	})
}
