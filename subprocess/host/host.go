//go:build unix

package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hardshell/internal/capture"
	"hardshell/internal/command"
	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/sandbox"
	"hardshell/subprocess"
)

// Runtime spawns children of the session's host. Its zero value is not usable.
type Runtime struct {
	config  Config
	spills  capture.SpillDir
	sandbox provider

	// closing ends the watches over trees that went on in the background.
	closing context.Context
	close   context.CancelFunc

	mu          sync.Mutex
	closed      bool
	entered     sync.WaitGroup // Add under mu, so that Close sees every command
	live        map[*command.Command]struct{}
	watched     map[string]*Recorded // recorded commands that are followed, by key
	link        *link                // the last one, perhaps dead
	orphanAfter time.Duration
	opening     *opening // under way, else nil

	closeOnce sync.Once
	closeErr  error
}

var _ subprocess.Runtime = (*Runtime)(nil)

// New returns a runtime. It starts nothing.
func New(config Config) *Runtime {
	closing, cancel := context.WithCancel(context.Background())
	r := &Runtime{
		config:  config,
		spills:  capture.SpillDir{Given: config.SpillDir},
		closing: closing, close: cancel,
		live: map[*command.Command]struct{}{}, watched: map[string]*Recorded{},
	}
	r.sandbox = provider{runtime: r, known: map[string]*confinement{}}
	return r
}

// Sandbox is the provider whose confinements this runtime can spawn under. The
// host holds what it makes, so that closing it does nothing.
func (r *Runtime) Sandbox() sandbox.Provider { return &r.sandbox }

// SetOrphanAfter says how long recorded commands run on with nobody attached, 0
// for ever. It counts from the next attach on.
func (r *Runtime) SetOrphanAfter(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orphanAfter = d
}

// Spilled reports whether any spill file was made.
func (r *Runtime) Spilled() bool { return r.spills.Used() }

// ResolveExecutable implements subprocess.Runtime.
func (r *Runtime) ResolveExecutable(ctx context.Context, name string, env map[string]string) (string, error) {
	return command.Resolve(ctx, name, func() []string {
		return subprocess.Environ(r.config.ambient(), env, nil, subprocess.DshEnvironment{})
	})
}

// Close implements subprocess.Runtime: it ends what this runtime started, and
// detaches. The host ends when nobody else needs it.
func (r *Runtime) Close(ctx context.Context) error {
	r.closeOnce.Do(func() { r.closeErr = r.shutDown(ctx) })
	return r.closeErr
}

func (r *Runtime) shutDown(ctx context.Context) error {
	defer r.loseStuck(ctx)()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.entered.Wait()

	r.mu.Lock()
	link := r.link
	commands := make([]*command.Command, 0, len(r.live))
	for c := range r.live {
		commands = append(commands, c)
	}
	r.mu.Unlock()

	for _, c := range commands {
		c.Terminate()
	}
	defer context.AfterFunc(ctx, func() {
		for _, c := range commands {
			c.Kill()
		}
		if link != nil { // also what it finds by tags alone
			link.conn.Send(&hostwire.Message{Close: &hostwire.Close{Hurry: true}})
		}
	})()
	err := endThere(link)
	if err == nil {
		err = leftAlive(commands)
	}
	r.close()
	for _, c := range commands {
		<-c.Finished()
	}
	if link != nil {
		link.conn.Close()
		<-link.over
	}
	return err
}

// loseStuck takes a host for dead that does not answer long after ctx has ended,
// so that what it holds is ended from here. The returned function ends the
// watch.
func (r *Runtime) loseStuck(ctx context.Context) (quiet func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		bound := time.NewTimer(2 * patience)
		defer bound.Stop()
		select {
		case <-bound.C:
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.link != nil {
				r.link.conn.Close()
			}
		case <-done:
		}
	})
	return func() {
		stop()
		close(done)
	}
}

// endThere has the host end everything of this runtime. What a dead host left
// is ended from here: leftAlive tells.
func endThere(link *link) error {
	if link == nil {
		return nil
	}
	m, err := link.call(&hostwire.Message{Close: &hostwire.Close{}})
	switch {
	case err != nil:
		return nil
	case m.Failure != nil:
		return m.Failure.Err()
	case m.Closed == nil:
		return errAnswer
	default:
		return m.Closed.Failure.Err()
	}
}

// leftAlive waits for the end of terminated commands and names what resisted.
func leftAlive(commands []*command.Command) error {
	var failures []error
	for _, c := range commands {
		<-c.Done()
		if left := c.Survivors(); len(left) > 0 {
			failures = append(failures, fault.New(fault.Invariant, "processes still alive after SIGKILL: %s", fmt.Sprint(left)))
		}
	}
	if len(failures) == 1 {
		return failures[0]
	}
	if joined := errors.Join(failures...); joined != nil {
		return &fault.Error{Code: fault.Invariant, Message: "not every command could be ended: " + joined.Error(), Err: joined}
	}
	return nil
}

// errClosed refuses a spawn of a closed runtime.
var errClosed = fault.New(fault.SpawnFailed, "the subprocess runtime is closed: no more commands are run")

// enter counts a spawn in, before anything is spawned.
func (r *Runtime) enter() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed
	}
	r.entered.Add(1)
	return nil
}

// follow follows a command to its end.
func (r *Runtime) follow(ctx context.Context, c *command.Command, t *tree) {
	c.Follow(ctx, r.closing)
	t.link.forget(t.id)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, c)
}
