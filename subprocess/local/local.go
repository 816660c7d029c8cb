//go:build unix

package local

import (
	"context"
	"sync"

	"hardshell/internal/capture"
	"hardshell/internal/command"
	"hardshell/internal/proctree"
	"hardshell/subprocess"
)

// Runtime spawns children of this process. Its zero value is not usable.
type Runtime struct {
	config Config
	spills capture.SpillDir
	trees  *proctree.Set

	// closing ends the watches over trees that went on in the background.
	closing context.Context
	close   context.CancelFunc

	mu   sync.Mutex
	live map[*command.Command]struct{}

	closeOnce sync.Once
	closeErr  error
}

var _ subprocess.Runtime = (*Runtime)(nil)

// New returns a runtime. It starts nothing.
func New(config Config) *Runtime {
	closing, cancel := context.WithCancel(context.Background())
	return &Runtime{
		config:  config,
		spills:  capture.SpillDir{Given: config.SpillDir},
		trees:   proctree.NewSet(),
		closing: closing, close: cancel,
		live: map[*command.Command]struct{}{},
	}
}

// Spilled reports whether any spill file was made.
func (r *Runtime) Spilled() bool { return r.spills.Used() }

// ResolveExecutable implements subprocess.Runtime.
func (r *Runtime) ResolveExecutable(ctx context.Context, name string, env map[string]string) (string, error) {
	return command.Resolve(ctx, name, func() []string {
		return subprocess.Environ(r.config.ambient(), env, nil, subprocess.DshEnvironment{})
	})
}

// Close implements subprocess.Runtime. Beyond the live trees it ends what left
// the session of a command that is long over, as far as tags find it.
func (r *Runtime) Close(ctx context.Context) error {
	r.closeOnce.Do(func() {
		r.closeErr = r.trees.Close(ctx)
		r.close()
		for _, c := range r.commands() {
			<-c.Finished()
		}
	})
	return r.closeErr
}

// commands lists what still runs here.
func (r *Runtime) commands() []*command.Command {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*command.Command, 0, len(r.live))
	for c := range r.live {
		list = append(list, c)
	}
	return list
}

// follow follows a command to its end.
func (r *Runtime) follow(ctx context.Context, c *command.Command, tree *proctree.Tree) {
	c.Follow(ctx, r.closing)
	r.trees.Forget(tree)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, c)
}
