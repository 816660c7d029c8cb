//go:build unix

package command

import (
	"context"
	"time"

	"hardshell/internal/capture"
	"hardshell/internal/proctree"
)

// Tree is a process tree, here or in another process.
type Tree interface {
	PID() int
	Grace() time.Duration
	// AwaitExit returns when the leader has ended or was given up. It also
	// reports whether the tree is known to need watching after that: without
	// it, nothing suggests that anything is left but what its tag finds when
	// somebody asks. It is called once.
	AwaitExit() (exit proctree.Exit, left bool)
	// Terminate and Kill begin the end of the tree, and return at once.
	Terminate()
	Kill()
	// Begun is closed by the first of them, Ended when all is over.
	Begun() <-chan struct{}
	Ended() <-chan struct{}
	// Gone is closed when the tree was seen gone.
	Gone() <-chan struct{}
	// AwaitEnd waits until the tree is gone (true) or ctx ends (false), looking
	// again at least every maxPause where it must poll.
	AwaitEnd(ctx context.Context, maxPause time.Duration) bool
	Survivors() []int
}

// Command is one spawned tree with its streams. Its methods keep what
// subprocess.Handle promises.
type Command struct {
	Tree    Tree
	Streams *capture.Streams

	exited   chan struct{} // closed when the leader has ended
	done     chan struct{} // closed after exit is set
	exit     proctree.Exit
	finished chan struct{} // closed when nothing of the command runs here any more
}

// New returns the command of a tree that was just spawned. Follow sets it going.
func New(tree Tree, streams *capture.Streams) *Command {
	return &Command{
		Tree: tree, Streams: streams,
		exited: make(chan struct{}), done: make(chan struct{}), finished: make(chan struct{}),
	}
}

// PID is the leader's process id.
func (c *Command) PID() int { return c.Tree.PID() }

// Terminate begins the end of the tree.
func (c *Command) Terminate() { c.Tree.Terminate() }

// Kill ends the tree without a grace.
func (c *Command) Kill() { c.Tree.Kill() }

// Survivors lists what resisted a termination.
func (c *Command) Survivors() []int { return c.Tree.Survivors() }

// Exited is closed when the leader has ended.
func (c *Command) Exited() <-chan struct{} { return c.exited }

// Done is closed when the collected streams are final.
func (c *Command) Done() <-chan struct{} { return c.done }

// Finished is closed when nothing of the command runs in this process any more.
func (c *Command) Finished() <-chan struct{} { return c.finished }

// Exit is how the leader ended, the zero Exit before Done.
func (c *Command) Exit() proctree.Exit {
	select {
	case <-c.done:
		return c.exit
	default:
		return proctree.Exit{}
	}
}

// WaitTree returns nil when the tree is gone, or the context's error.
func (c *Command) WaitTree(ctx context.Context) error {
	select {
	case <-c.Tree.Gone():
		return nil
	case <-c.finished:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !c.Tree.AwaitEnd(ctx, 100*time.Millisecond) {
		return ctx.Err()
	}
	return nil
}

// Follow follows the command from its spawn to the end of its tree, or, after
// Done, until closing ends. It runs on a goroutine of its own; when ctx ends
// while the leader runs, the tree is terminated.
func (c *Command) Follow(ctx, closing context.Context) {
	defer close(c.finished)
	stopWatching := context.AfterFunc(ctx, c.Terminate)
	c.Streams.Run()
	exit, left := c.Tree.AwaitExit()
	if !stopWatching() {
		// What ends the context after this moment cuts nothing short.
		exit.Cause = context.Cause(ctx)
		c.Terminate()
	}
	close(c.exited)
	c.Streams.Drain(ctx, c.Tree.Grace(), c.Tree.Begun(), c.Tree.Ended())
	// Nothing suggests that anything is left. A daemon that left its session and
	// its streams may be: the tag finds it when somebody asks, and at the end.
	presumed := !c.terminating() && !left && c.Streams.Ended()
	c.exit = exit
	close(c.done)

	if !presumed {
		c.Tree.AwaitEnd(closing, 10*time.Second)
	}
	c.Streams.Stop()
}

func (c *Command) terminating() bool {
	select {
	case <-c.Tree.Begun():
		return true
	default:
		return false
	}
}
