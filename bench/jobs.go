package bench

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/jobs"
	"hardshell/jobs/durable"
	"hardshell/shell"
)

// jobs are the pairs of background jobs: one that is started through a running
// host, and the output of one that is kept.
func (p *place) jobs(o Options) []measurement {
	if o.Self == "" {
		return nil
	}
	open := sync.OnceValues(func() (*background, error) { return p.background(o.Self) })
	writer := fmt.Sprintf("exec dd if=/dev/zero bs=64k count=%d status=none", o.Bytes>>16)
	file := filepath.Join(p.workspace, "output")
	var last *background
	settle := func() error {
		if last == nil {
			return nil
		}
		return last.settle()
	}
	start := func(command string) func(context.Context) error {
		return func(context.Context) (err error) {
			if last, err = open(); err != nil {
				return err
			}
			return last.start(command)
		}
	}
	return []measurement{
		{
			name: "job-start", runs: o.Runs, optional: true,
			prepare: func(ctx context.Context) error { // the host is there, and its sandbox made
				if err := start("true")(ctx); err != nil {
					return err
				}
				return settle()
			},
			aName: "start of a background job", a: start("true"),
			bName: bareTrueName, b: bareTrue, after: settle,
		},
		{
			name: "job-output", runs: max(o.Runs/20, 5), optional: true,
			aName: "a job that writes", a: func(ctx context.Context) error {
				if err := start(writer)(ctx); err != nil {
					return err
				}
				return settle()
			},
			bName: "the same into a file",
			b:     func(context.Context) error { return exec.Command("bash", "-c", writer+" > "+file).Run() },
			after: func() error { return nil },
		},
	}
}

// background is a session whose jobs are measured.
type background struct {
	executor shell.Executor
	store    *durable.Store
	registry *jobs.Registry
	owner    *jobs.Owner
	id       string
}

// jobSession is the session of the jobs. Its name is not that of another one that
// is measured.
const jobSession = "bench-jobs"

func (p *place) background(self string) (*background, error) {
	home, err := state.ResolveHome(p.home)
	if err != nil {
		return nil, err
	}
	executor, runtime, err := p.through(jobSession, self)
	if err != nil {
		return nil, err
	}
	p.jobHost = runtime
	b := &background{executor: executor, owner: jobs.NewOwner(jobSession)}
	b.store = durable.New(durable.Config{
		Home: home, SessionID: jobSession, MaxOutputBytes: 64000, MaxLogBytes: 64 << 20, Keep: 1000,
		Watch: func(path string) (durable.Command, error) { return runtime.Watch(path) },
	})
	b.registry = jobs.New(jobs.Options{Records: b.store, RecordsOwner: b.owner, Limit: 1 << 20})
	b.registry.AddController("bench")
	return b, nil
}

// start starts a job, as the bash tool does.
func (b *background) start(command string) error {
	spec, err := b.executor.Resolve(shell.Request{Command: command, Workdir: "/"})
	if err != nil {
		return err
	}
	job, err := b.registry.Start(jobs.Start{
		Kind: "bash", Label: command, Owner: b.owner, Durable: true,
		Run: func(slot jobs.Slot) (jobs.Producer, error) {
			if err := b.store.Write(slot.Dir, durable.Work{Kind: "bash", Label: command, Command: command, Workdir: "/"}); err != nil {
				return nil, err
			}
			recorded := spec
			recorded.Record = slot.Dir
			process, err := b.executor.Start(context.Background(), recorded)
			if err != nil {
				return nil, err
			}
			return nil, process.State().Failure
		},
	})
	b.id = job.ID
	return err
}

// longest bounds the wait for a job.
const longest = 10 * time.Minute

// settle waits for the end of the last job, and takes its record away.
func (b *background) settle() error {
	job, err := b.registry.Wait(context.Background(), b.id, longest, b.owner)
	if err != nil {
		return err
	}
	if job.Status != jobs.Completed {
		return fault.New(fault.Invariant, "a measured job ended with %s", job.StatusLine())
	}
	_, err = b.store.Prune(true)
	return err
}
