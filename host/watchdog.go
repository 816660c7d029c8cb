//go:build unix

package host

import (
	"sync"
	"time"

	"hardshell/internal/proctree"
	"hardshell/internal/record"
)

// watch ends the command when it passes a limit of its record, until unwatch is
// called.
func (r *recorded) watch() (unwatch func()) {
	var stops []func()
	if limit := r.ask.Runtime.Duration(); limit > 0 {
		timer := time.AfterFunc(limit, func() { r.stop(record.CauseRuntime, "", false) })
		stops = append(stops, func() { timer.Stop() })
	}
	if limit := r.ask.Silence.Duration(); limit > 0 {
		stops = append(stops, r.watchSilence(limit))
	}
	if r.ask.OutputLimit > 0 || r.ask.Memory > 0 {
		r.records.samples.add(r)
		stops = append(stops, func() { r.records.samples.remove(r) })
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// watchSilence ends the command when nothing was written for the limit.
func (r *recorded) watchSilence(limit time.Duration) (stop func()) {
	began := time.Now()
	done := make(chan struct{})
	go func() {
		defer r.records.server.guard(nil)
		timer := time.NewTimer(limit)
		defer timer.Stop()
		for {
			select {
			case <-done:
				return
			case <-timer.C:
			}
			last := began
			for i := range 2 {
				if at := r.logs.Stream(i).LastWrite(); at.After(last) {
					last = at
				}
			}
			quiet := time.Since(last)
			if quiet >= limit {
				r.stop(record.CauseSilence, "", false)
				return
			}
			timer.Reset(limit - quiet)
		}
	}()
	return sync.OnceFunc(func() { close(done) })
}

// sampling is how often memory and output are looked at.
const sampling = 500 * time.Millisecond

// sampler looks at the commands that have a limit of memory or output. It runs
// only while there are any.
type sampler struct {
	mu       sync.Mutex
	running  bool
	commands map[*recorded]struct{}
}

func (s *sampler) add(r *recorded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.commands == nil {
		s.commands = map[*recorded]struct{}{}
	}
	s.commands[r] = struct{}{}
	if !s.running {
		s.running = true
		go s.run(r.records.server)
	}
}

func (s *sampler) remove(r *recorded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.commands, r)
}

func (s *sampler) run(server *server) {
	ticker := time.NewTicker(sampling)
	defer ticker.Stop()
	for range ticker.C {
		s.mu.Lock()
		commands := make([]*recorded, 0, len(s.commands))
		for r := range s.commands {
			commands = append(commands, r)
		}
		if len(commands) == 0 {
			// Under the lock: whoever adds the next one starts another.
			s.running, s.commands = false, nil
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		for _, r := range commands {
			func() {
				defer server.guard(nil)
				r.sample()
			}()
		}
	}
}

// sample ends the command when it holds more memory, or has written more, than
// it may.
func (r *recorded) sample() {
	written := r.logs.Stream(record.Stdout).Total() + r.logs.Stream(record.Stderr).Total()
	if r.ask.OutputLimit > 0 && written > r.ask.OutputLimit {
		r.stop(record.CauseOutput, "", false)
		return
	}
	if r.ask.Memory <= 0 {
		return
	}
	if held, measure := r.memory(); held > r.ask.Memory {
		r.stop(record.CauseMemory, measure, false)
	}
}

// memory is how many bytes the command holds, and how that was found out: "" for
// a look at each of its processes.
func (r *recorded) memory() (bytes int64, measure string) {
	if r.group != nil {
		if held, ok := r.group.Memory(); ok {
			return held, "measured by its control group"
		}
	}
	if tree, ok := r.command.Tree.(*proctree.Tree); ok {
		return tree.Memory(), ""
	}
	return 0, ""
}
