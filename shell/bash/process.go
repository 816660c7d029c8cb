package bash

import (
	"strings"
	"sync"

	"hardshell/sandbox"
	"hardshell/shell"
	"hardshell/subprocess"
)

// process is a command in the background.
type process struct {
	child subprocess.Handle // nil when the command never started
	stamp func() *sandbox.Info
	done  chan struct{}

	mu      sync.Mutex // guards what follows, and the order of reads
	state   shell.ProcessState
	killed  bool
	settled bool
	note    string // delivered once: why the command never started
	stdout  int64  // offsets of the next read
	stderr  int64
}

var _ shell.Process = (*process)(nil)

// startedProcess follows a child until it settles.
func startedProcess(child subprocess.Handle, stamp func() *sandbox.Info) *process {
	p := &process{child: child, stamp: stamp, done: make(chan struct{}), state: shell.ProcessState{Status: shell.Running}}
	go func() {
		<-child.Done()
		p.settle()
	}()
	return p
}

// failedProcess is a command that was never started.
func failedProcess(err error) *process {
	p := &process{
		done:  make(chan struct{}),
		state: shell.ProcessState{Status: shell.Killed, Failure: err},
		note:  "spawn failed: " + err.Error() + "\n",
	}
	close(p.done)
	return p
}

// settle records how the child ended, once.
func (p *process) settle() {
	exit := p.child.Exit()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.settled {
		return
	}
	p.settled = true
	if p.killed || exit.Cause != nil || exit.Signal != "" {
		p.state.Status = shell.Killed
	} else {
		p.state.Status = shell.Completed
	}
	p.state.Signal = exit.Signal
	if exit.Code >= 0 {
		p.state.ExitCode = &exit.Code
	}
	if exit.Usage != (subprocess.Usage{}) {
		p.state.Usage = &exit.Usage
	}
	p.state.Limit = exit.Limit
	p.state.Survivors = p.child.Survivors()
	p.state.Sandbox = p.stamp()
	close(p.done)
}

// State implements shell.Process.
func (p *process) State() shell.ProcessState {
	p.catchUp()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Done implements shell.Process.
func (p *process) Done() <-chan struct{} {
	p.catchUp()
	return p.done
}

// catchUp settles a process whose child has ended, so that what the runtime
// knows after its Close is known here too.
func (p *process) catchUp() {
	if p.child == nil {
		return
	}
	select {
	case <-p.child.Done():
		p.settle()
	default:
	}
}

// Kill implements shell.Process.
func (p *process) Kill() bool {
	p.catchUp()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.Status != shell.Running {
		return false
	}
	p.killed = true
	p.state.Status = shell.Killed
	p.child.Terminate()
	return true
}

// ReadOutput implements shell.Process.
func (p *process) ReadOutput() shell.ProcessRead {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child == nil {
		read := shell.ProcessRead{Delta: merge("", p.note)}
		p.note = ""
		return read
	}
	stdout := p.child.Reader(subprocess.Stdout)
	stderr := p.child.Reader(subprocess.Stderr)
	out, errs := stdout.ReadFrom(p.stdout), stderr.ReadFrom(p.stderr)
	p.stdout, p.stderr = out.Next, errs.Next
	return shell.ProcessRead{
		Delta:           merge(out.Text, errs.Text),
		Lossy:           out.Lossy || errs.Lossy,
		StdoutSpillPath: stdout.SpillPath(),
		StderrSpillPath: stderr.SpillPath(),
	}
}

// merge puts standard error under its heading after standard output.
func merge(stdout, stderr string) string {
	if stderr == "" {
		return stdout
	}
	if stdout != "" && !strings.HasSuffix(stdout, "\n") {
		stdout += "\n"
	}
	return stdout + "[stderr]\n" + stderr
}
