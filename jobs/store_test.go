package jobs_test

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"hardshell/internal/fault"
	"hardshell/jobs"
	"hardshell/jobs/jobstest"
)

// finished is when the jobs of a store ended.
var finished = time.UnixMilli(1_800_000_000_000)

// store is jobs.Records in memory: several registries over it are as several
// processes over the same directory.
type store struct {
	mu       sync.Mutex
	last     int
	reserved int
	order    []string
	jobs     map[string]*keptJob

	lists, opens int
	failing      error // of List
}

var _ jobs.Records = (*store)(nil)

// keptJob is one job of a store, and its work.
type keptJob struct {
	*jobstest.Stream
	facts jobs.Job
	there bool

	mu       sync.Mutex
	reported bool
}

var _ jobs.Remembering = (*keptJob)(nil)

func newStore() *store { return &store{jobs: map[string]*keptJob{}} }

func (s *store) Reserve(kind string, limit int) (*jobs.Slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := s.reserved
	for _, k := range s.jobs {
		if k.there && !k.over() {
			live++
		}
	}
	if live >= limit {
		return nil, fault.New(fault.JobLimit, "no place is left")
	}
	s.reserved++
	s.last++
	n := s.last
	id := fmt.Sprintf("%s-%d", kind, n)
	return &jobs.Slot{
		ID: id, Dir: "/store/" + id,
		Keep: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.reserved--
			s.mention(id)
		},
		Release: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.reserved--
			if s.last == n {
				s.last--
			}
		},
	}, nil
}

// write is what the start of a job does in its directory.
func (s *store) write(slot jobs.Slot, label string, work *jobstest.Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[slot.ID] = &keptJob{Stream: work, facts: jobs.Job{Kind: "bash", Label: label, Status: jobs.Running, StartedAt: 1}}
	return nil
}

func (s *store) List() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	return slices.Clone(s.order), s.failing
}

func (s *store) Open(id string) (jobs.Job, jobs.Producer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opens++
	k := s.jobs[id]
	if k == nil || !k.there {
		return jobs.Job{}, nil, fault.New(fault.UnknownJob, "unknown job %s", id)
	}
	return k.facts, k, nil
}

// show lists a job before its start is over.
func (s *store) show(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mention(id)
}

// mention lists a job, once. The caller holds mu.
func (s *store) mention(id string) {
	s.jobs[id].there = true
	if !slices.Contains(s.order, id) {
		s.order = append(s.order, id)
	}
}

// prune removes a job.
func (s *store) prune(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs, id)
	s.order = slices.DeleteFunc(s.order, func(have string) bool { return have == id })
}

func (k *keptJob) over() bool {
	select {
	case <-k.Done():
		return true
	default:
		return false
	}
}

func (k *keptJob) Outcome() jobs.Outcome {
	o := k.Stream.Outcome()
	o.Finished = finished
	return o
}

func (k *keptJob) Reported() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.reported
}

func (k *keptJob) MarkReported() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reported = true
}

func (k *keptJob) UnmarkReported() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reported = false
}
