//go:build unix

package local

import (
	"context"
	"io"
	"os"
	"time"

	"hardshell/internal/spawn"
	"hardshell/subprocess"
)

// drainWindow bounds the wait for streams that a background process holds open
// after the leader's end, so that "server & echo ok" answers quickly.
const drainWindow = 500 * time.Millisecond

// child is one spawned tree with its streams.
type child struct {
	runtime *Runtime
	proc    *spawn.Child
	tree    *tree
	started time.Time

	stdin   *os.File
	data    io.Reader // fed to stdin, nil for StdinPipe
	outputs [2]*os.File
	windows [2]*window
	pumps   [2]*pump

	exited   chan struct{} // closed when the leader has ended
	done     chan struct{} // closed after exit is set
	exit     subprocess.Exit
	finished chan struct{} // closed when nothing of the child runs here any more
}

var _ subprocess.Handle = (*child)(nil)

// PID implements subprocess.Handle.
func (c *child) PID() int { return c.tree.pid }

// Stdin implements subprocess.Handle.
func (c *child) Stdin() io.WriteCloser {
	if c.stdin == nil || c.data != nil {
		return nil
	}
	return c.stdin
}

// Output implements subprocess.Handle.
func (c *child) Output(stream subprocess.Stream) io.ReadCloser {
	if f := c.outputs[index(stream)]; f != nil && c.windows[index(stream)] == nil {
		return f
	}
	return nil
}

// Reader implements subprocess.Handle.
func (c *child) Reader(stream subprocess.Stream) subprocess.Reader {
	if w := c.windows[index(stream)]; w != nil {
		return w
	}
	return nil
}

func index(stream subprocess.Stream) int {
	if stream == subprocess.Stdout {
		return 0
	}
	return 1
}

// Exited implements subprocess.Handle.
func (c *child) Exited() <-chan struct{} { return c.exited }

// Done implements subprocess.Handle.
func (c *child) Done() <-chan struct{} { return c.done }

// Exit implements subprocess.Handle.
func (c *child) Exit() subprocess.Exit {
	select {
	case <-c.done:
		return c.exit
	default:
		return subprocess.Exit{}
	}
}

// Terminate implements subprocess.Handle.
func (c *child) Terminate() { c.tree.terminate() }

// Kill implements subprocess.Handle.
func (c *child) Kill() { c.tree.kill() }

// WaitTree implements subprocess.Handle.
func (c *child) WaitTree(ctx context.Context) error {
	select {
	case <-c.tree.gone:
		return nil
	case <-c.finished:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !isClosed(c.tree.gone) && !c.tree.awaitEnd(ctx, 100*time.Millisecond) {
		return ctx.Err()
	}
	c.tree.markGone()
	return nil
}

// Survivors implements subprocess.Handle.
func (c *child) Survivors() []int { return c.tree.resisted() }

// supervise follows the child from its start to the end of its tree. It runs on
// a goroutine of its own.
func (c *child) supervise(ctx context.Context) {
	defer close(c.finished)
	stopWatching := context.AfterFunc(ctx, c.Terminate)
	c.startStreams()
	exit, groupAlive := c.awaitExit()
	if !stopWatching() {
		// What ends the context after this moment cuts nothing short.
		exit.Cause = context.Cause(ctx)
		c.Terminate()
	}
	close(c.exited)
	c.drain(ctx)
	if c.data != nil {
		c.stdin.Close() // releases a writer whose reader is a background process
	}
	// Nothing suggests that anything is left. A daemon that left its session and
	// its streams may be: the tag finds it when somebody asks, and at the end.
	presumed := !isClosed(c.tree.begun) && !groupAlive && c.streamsEnded() && c.tree.tag != 0
	c.exit = exit
	close(c.done)

	if !presumed && c.tree.awaitEnd(c.runtime.closing, 10*time.Second) {
		c.tree.markGone()
	}
	for _, p := range c.pumps {
		if p == nil {
			continue
		}
		p.stop()
		if p.tee == nil { // a tee may be stuck for as long as it likes
			<-p.done
		}
	}
	c.runtime.forget(c)
}

// awaitExit waits for the end of the leader, reaps it, and reports whether its
// group has members left. A leader that outlives a termination is given up: how
// it ended is not known, and it is reaped whenever it does.
func (c *child) awaitExit() (exit subprocess.Exit, groupAlive bool) {
	exited := make(chan struct{})
	go func() {
		c.proc.WaitExit()
		close(exited)
	}()
	select {
	case <-exited:
	case <-c.tree.ended:
		if !isClosed(c.tree.gone) && !isClosed(exited) {
			go func() {
				<-exited
				c.tree.reap(c.proc)
			}()
			return subprocess.Exit{Code: -1, Duration: time.Since(c.started)}, true
		}
		<-exited
	}
	status, groupAlive := c.tree.reap(c.proc)
	return subprocess.Exit{Code: status.Code, Signal: status.Signal, Duration: time.Since(c.started)}, groupAlive
}

// startStreams sets the goroutines of the streams going.
func (c *child) startStreams() {
	for _, p := range c.pumps {
		if p != nil {
			go p.run()
		}
	}
	if c.data != nil {
		go feed(c.stdin, c.data)
	}
}

// drain waits until the collected streams are complete. They end with the last
// process that holds them; while a background process does, they are cut at the
// drain window, or when ctx ends. A termination is waited for instead.
func (c *child) drain(ctx context.Context) {
	stdout, stderr := c.pumps[0].sealing(), c.pumps[1].sealing()
	begun, ended := c.tree.begun, chan struct{}(nil)
	aborted := ctx.Done()
	window := time.NewTimer(min(c.tree.grace, drainWindow))
	defer window.Stop()
	abandon := false // the next end of the window does not wait for a tee

	if isClosed(begun) {
		begun, ended, aborted = nil, c.tree.ended, nil
		window.Stop()
	}
	for stdout != nil || stderr != nil || ended != nil {
		select {
		case <-stdout:
			stdout = nil
		case <-stderr:
			stderr = nil
		case <-begun:
			begun, ended, aborted = nil, c.tree.ended, nil
			window.Stop()
		case <-ended:
			ended, abandon = nil, true
			c.cutStreams()
			window.Reset(drainWindow)
		case <-window.C:
			c.cutStreams()
			if abandon {
				c.abandonStreams()
				return
			}
		case <-aborted:
			aborted, abandon = nil, true
			c.cutStreams()
			window.Reset(drainWindow)
		}
	}
}

// cutStreams ends the collected streams at what their pipes hold.
func (c *child) cutStreams() {
	for _, p := range c.pumps {
		if p != nil {
			p.cut()
		}
	}
}

// abandonStreams seals the windows of streams whose tee is stuck.
func (c *child) abandonStreams() {
	for _, p := range c.pumps {
		if p != nil {
			p.stop()
			p.window.seal()
		}
	}
}

// streamsEnded reports whether no process holds a collected stream any more.
func (c *child) streamsEnded() bool {
	for _, p := range c.pumps {
		if p != nil && !p.eof.Load() {
			return false
		}
	}
	return true
}

// awaitQuiet waits for the end of a terminated child, and reports what resisted
// it.
func (c *child) awaitQuiet() error {
	<-c.done
	select {
	case <-c.tree.gone:
		return nil
	case <-c.tree.ended:
	}
	if left := c.tree.resisted(); len(left) > 0 {
		return stillAlive(left)
	}
	return nil
}
