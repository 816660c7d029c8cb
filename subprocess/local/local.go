//go:build unix

package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/spawn"
	"hardshell/subprocess"
)

// Runtime spawns children of this process. Its zero value is not usable.
type Runtime struct {
	config Config
	spills spillDir
	tags   *spawn.Tags
	born   time.Time

	// closing ends the watches over trees that went on in the background.
	closing context.Context
	close   context.CancelFunc

	mu       sync.Mutex
	closed   bool
	spawning sync.WaitGroup // Add under mu, so that Close sees every tree
	live     map[*child]struct{}
	firstPID int
	maxGrace time.Duration

	closeOnce sync.Once
	closeDone chan struct{}
	closeErr  error
}

var _ subprocess.Runtime = (*Runtime)(nil)

// New returns a runtime. It starts nothing.
func New(config Config) *Runtime {
	closing, cancel := context.WithCancel(context.Background())
	return &Runtime{
		config: config,
		spills: spillDir{given: config.SpillDir},
		tags:   spawn.NewTags(),
		born:   time.Now(),

		closing: closing, close: cancel,
		live:      map[*child]struct{}{},
		closeDone: make(chan struct{}),
	}
}

// Spilled reports whether any spill file was made.
func (r *Runtime) Spilled() bool { return r.spills.used() }

// errClosed refuses a spawn of a closed runtime.
var errClosed = fault.New(fault.SpawnFailed, "the subprocess runtime is closed: no more commands are run")

// admit counts a spawn in, before anything is spawned.
func (r *Runtime) admit() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed
	}
	r.spawning.Add(1)
	return nil
}

// register takes over a spawned child.
func (r *Runtime) register(c *child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live[c] = struct{}{}
	if r.firstPID == 0 || c.PID() < r.firstPID {
		r.firstPID = c.PID()
	}
	r.maxGrace = max(r.maxGrace, c.tree.grace)
}

// forget lets go of a child of which nothing is left.
func (r *Runtime) forget(c *child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, c)
}

// Close implements subprocess.Runtime. Beyond the live trees it ends what left
// the session of a command that is long over, as far as tags find it.
func (r *Runtime) Close(ctx context.Context) error {
	r.closeOnce.Do(func() {
		defer close(r.closeDone)
		r.closeErr = r.shutDown(ctx)
	})
	<-r.closeDone
	return r.closeErr
}

func (r *Runtime) shutDown(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.spawning.Wait()

	r.mu.Lock()
	children := make([]*child, 0, len(r.live))
	for c := range r.live {
		children = append(children, c)
	}
	r.mu.Unlock()

	for _, c := range children {
		c.Terminate()
	}
	cutShort := context.AfterFunc(ctx, func() {
		for _, c := range children {
			c.Kill()
		}
	})
	defer cutShort()

	var failures []error
	for _, c := range children {
		if err := c.awaitQuiet(); err != nil {
			failures = append(failures, err)
		}
	}
	var known []int
	for _, c := range children {
		known = append(known, c.Survivors()...)
	}
	if left := r.endStrays(ctx, known); len(left) > 0 {
		failures = append(failures, stillAlive(left))
	}
	r.close()
	for _, c := range children {
		<-c.finished
	}
	switch len(failures) {
	case 0:
		return nil
	case 1:
		return failures[0]
	default:
		return &fault.Error{Code: fault.Invariant, Message: "local subprocess teardown failed: " + errors.Join(failures...).Error(), Err: errors.Join(failures...)}
	}
}

// stillAlive names processes that outlived SIGKILL.
func stillAlive(pids []int) error {
	return fault.New(fault.Invariant, "processes still alive after SIGKILL: %s", fmt.Sprint(pids))
}
