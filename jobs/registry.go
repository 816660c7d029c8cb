package jobs

import (
	"log/slog"
	"sync"
	"time"
)

// Options are the settings of a Registry.
type Options struct {
	// Limit is how many live jobs an owner may have; 0 is 10. All jobs without
	// an owner share one allowance.
	Limit int
	// Keep is how many settled jobs of an owner stay known, besides those that
	// Records keeps; 0 is 100. The oldest whose end was reported go first.
	Keep int
	// CancelBound says how long a job may take to settle that is cancelled now,
	// before it counts as failed; nil is 8 s.
	CancelBound func() time.Duration
	// Records keeps durable jobs, nil for none: every job then ends with this
	// process. One registry serves one session's records, and RecordsOwner owns
	// all jobs in them.
	Records      Records
	RecordsOwner *Owner
	// Log gets what nobody is told otherwise, nil for nothing.
	Log *slog.Logger
}

// Registry is the registry of background jobs. It is safe for concurrent use.
type Registry struct {
	options Options
	log     *slog.Logger

	// records orders the looks at Options.Records. It is taken before mu.
	records sync.Mutex
	seen    []string // the ids of the last look; guarded by records

	mu       sync.Mutex // guards what follows, and the facts of every entry
	closed   bool
	entries  map[string]*entry
	order    []*entry            // as they were registered
	numbers  map[string]*numbers // by kind
	places   map[*Owner]int      // taken by live jobs of this process and by starts
	starting map[*admission]bool // starts whose Run has not returned
	settled  int                 // how many jobs have settled

	events     []event // not yet told, the oldest first
	telling    bool
	changed    []*listener[func(*Owner)]
	ended      []*listener[func(Job, *Owner)]
	done       []*listener[func(Job, *Owner)]
	controller []*listener[string]
}

// New returns a registry without jobs and without controllers. It takes over
// its options.
func New(options Options) *Registry {
	if options.Limit == 0 {
		options.Limit = 10
	}
	if options.Keep == 0 {
		options.Keep = 100
	}
	if options.CancelBound == nil {
		options.CancelBound = func() time.Duration { return 8 * time.Second }
	}
	log := options.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Registry{
		options: options, log: log,
		entries: map[string]*entry{}, numbers: map[string]*numbers{},
		places: map[*Owner]int{}, starting: map[*admission]bool{},
	}
}

// AddController says that somebody can show and end jobs; without one nothing
// starts. Controllers of the same label are independent. Remove takes it back,
// once; what runs then runs on.
func (r *Registry) AddController(label string) (remove func()) {
	return add(r, &r.controller, label)
}

// OnChanged calls f after a job was registered, told to stop, or has settled,
// and after jobs were removed. Owner is that of the job, nil for none.
//
// Listeners are called one at a time, in the order of what happened, by
// whatever goroutine caused it, and without a lock: they may use the registry,
// but must not call End or Close, and should return soon. One that panics is
// logged. Remove takes the listener away, once.
func (r *Registry) OnChanged(f func(owner *Owner)) (remove func()) {
	return add(r, &r.changed, f)
}

// OnDone calls f once for each job that settles, after OnChanged, in the order
// of their ends. Job.Reported says whether the end is known to its owner
// already. Jobs that Records held settled and unreported count as settling when
// they are found. Listeners are called as those of OnChanged are.
func (r *Registry) OnDone(f func(job Job, owner *Owner)) (remove func()) {
	return add(r, &r.done, f)
}

// OnSettled calls f once for each job that settles, before OnDone, and once for
// each that Records held settled when it was found, whether its end was reported or
// not. It is also called while Close ends jobs. Listeners are called as those of
// OnChanged are.
func (r *Registry) OnSettled(f func(job Job, owner *Owner)) (remove func()) {
	return add(r, &r.ended, f)
}
