package jobstest

import (
	"context"
	"testing"
	"time"

	"hardshell/jobs"
)

// Options are the settings that a check asks a fixture for. A zero field takes
// the registry's default.
type Options struct {
	Limit       int
	CancelBound time.Duration
}

// Fixture is one registry to check, without a job and without a controller.
type Fixture struct {
	Registry *jobs.Registry
	// Owner is the session that starts the jobs.
	Owner *jobs.Owner
	// Start starts a job of Owner, of a kind that is called "bash". After an
	// error there is no work.
	Start func(Ask) (jobs.Job, Work, error)
	// Again opens another registry for the same session, with an Owner of its
	// own, as another process would; its Start may be nil. It is nil itself for
	// jobs that end with their registry.
	Again func(t *testing.T) Fixture
	// Rounds is how often races are tried; 0 is 200.
	Rounds int
}

// Ask says what job a check wants.
type Ask struct {
	Label            string
	OutputLimitBytes *int64
	// Stubborn work does not end when it is told to in a friendly way.
	Stubborn bool
}

// Work is a job's work as a check drives it.
type Work interface {
	// Print writes to the job's output, and returns once it can be read.
	Print(text string)
	// Exit lets the work end by itself, with an exit status. It may return
	// before it has. After it nothing is printed.
	Exit(status int)
}

// patience bounds a wait for what must come.
const patience = 30 * time.Second

// Run checks the jobs of the registries that newFixture builds. It is called
// from parallel subtests, and releases what it builds with t.Cleanup.
func Run(t *testing.T, newFixture func(t *testing.T, o Options) Fixture) {
	s := suite{newFixture}
	for _, c := range []struct {
		name  string
		check func(*testing.T)
	}{
		{"ids count up and a refused start uses none", s.ids},
		{"what cannot start is refused", s.refusals},
		{"the limit holds until a job has settled", s.limit},
		{"a stopping job keeps its place", s.stoppingKeepsPlace},
		{"an unknown id is refused", s.unknown},
		{"another session is refused before all else", s.fence},
		{"a resumed session has its jobs", s.resumed},
		{"output is read once", s.read},
		{"getting a job reports nothing", s.get},
		{"a job is killed once", s.kill},
		{"a wait that is over leaves the job alone", s.waitTimeout},
		{"an aborted wait consumes nothing", s.waitAbort},
		{"all who wait are released", s.waitMany},
		{"a wait for output ends with it", s.untilPattern},
		{"a wait for silence ends with it", s.untilIdle},
		{"a wait for output ends with the job", s.untilEnd},
		{"listeners hear in order", s.order},
		{"facts are copies", s.copies},
		{"the end of an owner ends its jobs", s.end},
		{"a closed registry starts nothing", s.closed},
		{"kill against exit", s.killRace},
		{"abort against exit", s.abortRace},
		{"another registry has the jobs", s.again},
		{"an end that nobody knows of is told later", s.later},
		{"jobs outlive their registry", s.outlive},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

type suite struct {
	newFixture func(t *testing.T, o Options) Fixture
}

// fixture is a Fixture with a controller, whose news are written down.
type fixture struct {
	Fixture
	t     *testing.T
	done  chan jobs.Job
	owner chan *jobs.Owner
}

func (s suite) open(t *testing.T, o Options) *fixture {
	t.Helper()
	return watched(t, s.newFixture(t, o))
}

func watched(t *testing.T, f Fixture) *fixture {
	w := &fixture{Fixture: f, t: t, done: make(chan jobs.Job, 1000), owner: make(chan *jobs.Owner, 1000)}
	t.Cleanup(f.Registry.AddController("jobstest"))
	t.Cleanup(f.Registry.OnDone(func(job jobs.Job, owner *jobs.Owner) {
		w.done <- job
		w.owner <- owner
	}))
	return w
}

// start starts a job that must start.
func (f *fixture) start() (jobs.Job, Work) { return f.startWith(Ask{Label: "work"}) }

func (f *fixture) startWith(a Ask) (jobs.Job, Work) {
	f.t.Helper()
	job, work, err := f.Start(a)
	if err != nil {
		f.t.Fatalf("starting a job: %v", err)
	}
	return job, work
}

// settled waits for a job's end, and reports it.
func (f *fixture) settled(id string) jobs.Job {
	f.t.Helper()
	job, err := f.Registry.Wait(context.Background(), id, patience, f.Owner)
	if err != nil || !job.Status.Terminal() {
		f.t.Fatalf("job %s has not settled: %+v, %v", id, job, err)
	}
	return job
}

// news is the next end that the listeners hear of.
func (f *fixture) news() jobs.Job {
	f.t.Helper()
	select {
	case job := <-f.done:
		if owner := <-f.owner; owner != f.Owner {
			f.t.Errorf("the end of %s was told for the owner %v", job.ID, owner)
		}
		return job
	case <-time.After(patience):
		f.t.Fatal("nobody was told of an end")
		return jobs.Job{}
	}
}

// silent checks that the listeners have heard of nothing more. What precedes it
// must have told all that it tells.
func (f *fixture) silent() {
	f.t.Helper()
	select {
	case job := <-f.done:
		f.t.Errorf("there was news of %+v", job)
	default:
	}
}

func (f *fixture) rounds() int {
	if f.Rounds == 0 {
		return 200
	}
	return f.Rounds
}
