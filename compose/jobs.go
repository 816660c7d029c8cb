package compose

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"hardshell/internal/fault"
	"hardshell/jobs"
	"hardshell/jobs/durable"
	"hardshell/plugin"
	"hardshell/session"
	"hardshell/shell"
	"hardshell/tool"
	toolbash "hardshell/tool/bash"
	tooljobs "hardshell/tool/jobs"
)

// JobsConfig is the configuration of the row "jobs", and the settings "jobs".
// Zero is no limit where the name ends in a limit of one job.
type JobsConfig struct {
	MaxConcurrentJobsPerOwner int     `json:"maxConcurrentJobsPerOwner" default:"10" minimum:"1" doc:"How many background jobs of a session may live at once."`
	KeepRecords               int     `json:"keepRecords" default:"100" minimum:"1" doc:"How many jobs that have ended are kept."`
	RetentionMs               float64 `json:"retentionMs" default:"604800000" minimum:"0" maximum:"9000000000000" doc:"How long they are kept, in milliseconds."`
	MaxLogBytes               int64   `json:"maxLogBytes" default:"67108864" minimum:"65536" doc:"How much of each stream of a job is kept on the disk: its head and its tail."`
	OrphanAfterMs             float64 `json:"orphanAfterMs" default:"86400000" minimum:"0" maximum:"9000000000000" doc:"Jobs end when nobody has been attached to their session for as long, in milliseconds; 0 keeps them."`
	// A call that went on as a job has none of these: it keeps its own deadline.
	MaxRuntimeMs        float64 `json:"maxRuntimeMs" default:"0" minimum:"0" maximum:"9000000000000" doc:"How long a job may run, in milliseconds; 0 is no limit."`
	MaxSilenceMs        float64 `json:"maxSilenceMs" default:"0" minimum:"0" maximum:"9000000000000" doc:"How long a job may write nothing, in milliseconds; 0 is no limit."`
	MaxMemoryBytes      int64   `json:"maxMemoryBytes" default:"0" minimum:"0" doc:"How much memory the processes of a job may use that is not shared with files; 0 is no limit."`
	MaxTotalOutputBytes int64   `json:"maxTotalOutputBytes" default:"0" minimum:"0" doc:"How much a job may write; 0 is no limit."`
}

func defaultJobs() JobsConfig {
	return JobsConfig{
		MaxConcurrentJobsPerOwner: 10,
		KeepRecords:               100,
		RetentionMs:               shell.Milliseconds(7 * 24 * time.Hour),
		MaxLogBytes:               64 << 20,
		OrphanAfterMs:             shell.Milliseconds(24 * time.Hour),
	}
}

func (c JobsConfig) check() error {
	switch {
	case c.MaxConcurrentJobsPerOwner < 1:
		return fault.New(fault.InvalidArgument, "jobs: maxConcurrentJobsPerOwner must be 1 or more")
	case c.KeepRecords < 1:
		return fault.New(fault.InvalidArgument, "jobs: keepRecords must be 1 or more")
	case c.MaxLogBytes < 64<<10:
		return fault.New(fault.InvalidArgument, "jobs: maxLogBytes must be 65536 or more")
	}
	for name, value := range map[string]float64{
		"retentionMs": c.RetentionMs, "orphanAfterMs": c.OrphanAfterMs, "maxRuntimeMs": c.MaxRuntimeMs,
		"maxSilenceMs": c.MaxSilenceMs, "maxMemoryBytes": float64(c.MaxMemoryBytes), "maxTotalOutputBytes": float64(c.MaxTotalOutputBytes),
	} {
		if !(value >= 0) || milliseconds(value) < 0 {
			return fault.New(fault.InvalidArgument, "jobs: %s must be 0 or more", name)
		}
	}
	return nil
}

// Store returns the records of a session's jobs. With a nil watch they can be
// looked at and pruned.
func (c JobsConfig) Store(in Surroundings, maxOutputBytes int64, grace func() time.Duration, watch func(string) (durable.Command, error)) *durable.Store {
	return durable.New(durable.Config{
		Home: in.Home, SessionID: in.SessionID, Watch: watch,
		MaxOutputBytes: int(min(maxOutputBytes, 1<<30)), MaxLogBytes: c.MaxLogBytes,
		Keep: c.KeepRecords, Retention: milliseconds(c.RetentionMs), Grace: grace,
		Limits: durable.Limits{
			Runtime: milliseconds(c.MaxRuntimeMs), Silence: milliseconds(c.MaxSilenceMs),
			Memory: c.MaxMemoryBytes, Output: c.MaxTotalOutputBytes,
		},
		Escalation: true,
	})
}

// ToolJobsConfig is the configuration of the row "tool-jobs".
type ToolJobsConfig struct {
	WaitTimeoutMs    float64 `json:"waitTimeoutMs" default:"30000" exclusiveMinimum:"0" maximum:"9000000000000" doc:"How long job_output waits that names no time, in milliseconds."`
	MaxWaitTimeoutMs float64 `json:"maxWaitTimeoutMs" default:"600000" exclusiveMinimum:"0" maximum:"9000000000000" doc:"The longest wait that job_output may ask for, in milliseconds."`
}

func defaultToolJobs() ToolJobsConfig {
	return ToolJobsConfig{WaitTimeoutMs: 30_000, MaxWaitTimeoutMs: 600_000}
}

// keeping is the service of the row "jobs".
type keeping struct {
	owner    *jobs.Owner
	registry *jobs.Registry
	records  *durable.Store // nil when jobs end with this process
	history  *history       // nil without records
}

// applyJobs adds the registry, and what keeps its jobs where the session has a
// host.
func (c *Composition) applyJobs(_ context.Context, a *plugin.Activation) error {
	settled, err := follow(c, a, jobsSettings())
	if err != nil {
		return err
	}
	config := settled.get()
	if c.in.Overrides.MaxJobs != 0 {
		config.MaxConcurrentJobsPerOwner = c.in.Overrides.MaxJobs
	}
	if err := config.check(); err != nil {
		return err
	}
	k := keeping{owner: jobs.NewOwner(c.in.SessionID)}
	options := jobs.Options{
		Limit: config.MaxConcurrentJobsPerOwner, Keep: config.KeepRecords, Log: c.in.Log,
		CancelBound: func() time.Duration { return c.grace() + 5*time.Second },
	}
	if host := plugin.Get(a, runtimeKey).host; host != nil {
		host.SetOrphanAfter(milliseconds(config.OrphanAfterMs))
		k.records = config.Store(c.in, c.shellConfig().MaxOutputBytes, c.grace, func(path string) (durable.Command, error) { return host.Watch(path) })
		options.Records, options.RecordsOwner = k.records, k.owner
	}
	k.registry = jobs.New(options)
	if k.records != nil {
		k.history = &history{log: session.NewLog(c.in.Home, c.in.SessionID), records: k.records, seqs: map[string]int64{}, warn: c.in.Log.Warn}
		k.registry.OnSettled(k.history.finished)
	}
	err = a.Scope.Defer(func(ctx context.Context) error {
		// What it does not wait for any longer ends with its runtime.
		err := k.registry.Close(ctx)
		if ctx.Err() != nil {
			err = nil
		}
		if k.records != nil {
			if err := k.records.Tidy(); err != nil {
				c.in.Log.Debug("old jobs were not all removed", "error", err)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return plugin.Provide(a.Scope, jobsKey, k)
}

func (c *Composition) applyToolJobs(_ context.Context, a *plugin.Activation) error {
	config := a.Config.(ToolJobsConfig)
	tools, err := tooljobs.New(plugin.Get(a, jobsKey).registry, tooljobs.Config{
		WaitTimeout: milliseconds(config.WaitTimeoutMs), MaxWaitTimeout: milliseconds(config.MaxWaitTimeoutMs),
		Owner: c.ownerOf,
	})
	if err != nil {
		return err
	}
	remove, err := tools.Register(c.Tools)
	if err != nil {
		return err
	}
	bound := tools.Bound(c.Pipeline)
	deliver := tools.Deliver()
	return a.Scope.Defer(func(context.Context) error {
		deliver()
		bound()
		remove()
		return nil
	})
}

// grace is the time between SIGTERM and SIGKILL as it stands.
func (c *Composition) grace() time.Duration { return milliseconds(c.shellConfig().GraceMs) }

// ownerOf is the owner behind a session of this composition, nil for another.
func (c *Composition) ownerOf(s tool.Session) *jobs.Owner {
	owner := c.Owner()
	if s == nil || owner == nil || s.ID() != owner.ID() {
		return nil
	}
	return owner
}

// Notices returns what has not been told yet of jobs that have settled. Whoever
// takes them tells them, and then calls Told: what was not told when this process
// ends, the next one of the session tells.
func (c *Composition) Notices() []jobs.Notice {
	k := c.keeping()
	if k.owner == nil {
		return nil
	}
	var notices []jobs.Notice
	for _, n := range k.owner.Take() {
		if job, err := k.registry.Get(n.JobID, k.owner); err == nil && job.Reported {
			continue // it was read meanwhile
		}
		if k.history != nil {
			n.Seq = k.history.seq(n.JobID)
		}
		notices = append(notices, n)
	}
	return notices
}

// Told says that notices have reached whom they are for.
func (c *Composition) Told(notices []jobs.Notice) {
	records := c.Records()
	if records == nil {
		return
	}
	for _, n := range notices {
		records.MarkNoticed(n.JobID)
	}
}

// history writes what happens to jobs that are kept into the session's log.
type history struct {
	log     *session.Log
	records *durable.Store
	warn    func(msg string, args ...any)

	mu   sync.Mutex
	seqs map[string]int64 // of the end of a job, by its id
}

// started logs the start of a job.
func (h *history) started(job jobs.Job) {
	_, err := h.log.Append(session.Event{
		Type: session.JobStarted, Job: &session.Job{ID: job.ID, Key: job.Key, Kind: job.Kind, Label: job.Label},
	})
	if err != nil {
		h.warn("the start of a job was not logged", "job", job.ID, "error", err)
	}
}

// finished logs the end of a job once, whatever process of the session learns of
// it.
func (h *history) finished(job jobs.Job, _ *jobs.Owner) {
	seq, err := h.records.LogEnd(job.ID, job.Key, func() (int64, error) {
		return h.log.AppendOnce(session.Event{
			Type: session.JobFinished,
			Job:  &session.Job{ID: job.ID, Key: job.Key, Kind: job.Kind, Label: job.Label, Status: string(job.Status), Detail: job.Detail},
		})
	})
	if err != nil {
		h.warn("the end of a job was not logged", "job", job.ID, "error", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seqs[job.ID] = seq
}

func (h *history) seq(id string) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seqs[id]
}

// commandJobs starts the jobs of the bash tool.
type commandJobs struct {
	parts *Composition
	// keeping is that of the tool's activation: a call that has begun keeps to it.
	keeping keeping
	oneShot bool // what would end with this process is not worth starting
}

var _ toolbash.Jobs = (*commandJobs)(nil)

const bashKind = "bash"

// Start implements toolbash.Jobs.
func (j *commandJobs) Start(ctx context.Context, job toolbash.Job) (string, error) {
	k, records := j.keeping, j.keeping.records
	switch {
	case records == nil && j.oneShot:
		return "", fault.New(fault.InvalidArgs, "background jobs unavailable: this session ends with the call: pass --session to keep jobs")
	case records == nil && job.Interactive:
		return "", fault.New(fault.InvalidArgs, "interactive jobs unavailable: the session has no host")
	}
	started, err := k.registry.Start(jobs.Start{
		Kind: bashKind, Label: job.Label, Owner: j.parts.ownerOf(job.Owner), Durable: records != nil,
		Run: func(slot jobs.Slot) (jobs.Producer, error) {
			if slot.Dir != "" {
				if err := records.Write(slot.Dir, j.work(job)); err != nil {
					return nil, err
				}
			}
			process, err := begin(ctx, job, slot.Dir)
			if err != nil {
				return nil, err
			}
			if slot.Dir == "" {
				return jobs.NewProcess(process, jobs.ProcessOptions{Escalation: true}), nil
			}
			if failure := process.State().Failure; failure != nil {
				return nil, records.Fail(slot.Dir, failure)
			}
			return nil, nil // the record is the job's
		},
	})
	if err != nil {
		return "", err
	}
	if k.history != nil {
		k.history.started(started)
	}
	return started.ID, nil
}

// begin makes the process of a job. Until that is there the call's context ends it,
// and nothing is then left of it; afterwards the job's owner does.
func begin(ctx context.Context, job toolbash.Job, record string) (shell.Process, error) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	starting := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	process, err := job.Begin(own, record)
	if starting() {
		if err != nil {
			cancel(nil)
		}
		return process, err
	}
	if err == nil {
		<-process.Done() // it was told to end, which is bounded by the grace
	}
	return nil, tool.Aborted()
}

func (j *commandJobs) work(job toolbash.Job) durable.Work {
	return durable.Work{
		Kind: bashKind, Label: job.Label, Command: job.Label, Workdir: job.Workdir,
		Interactive: job.Interactive, Runtime: job.Timeout,
	}
}

// Foreground implements toolbash.Jobs.
func (j *commandJobs) Foreground(_ context.Context, job toolbash.Job) (toolbash.Run, bool, error) {
	records := j.keeping.records
	if records == nil {
		return nil, false, nil
	}
	path, err := records.NewRun(j.work(job))
	if err != nil {
		return nil, false, err
	}
	return &run{jobs: j, job: job, path: path}, true, nil
}

// run is the record of a foreground command.
type run struct {
	jobs *commandJobs
	job  toolbash.Job
	path string
}

// Record implements toolbash.Run.
func (r *run) Record() string { return r.path }

// Promote implements toolbash.Run.
func (r *run) Promote(ctx context.Context, shown *shell.Result) (string, error) {
	parts := r.jobs.parts
	k := r.jobs.keeping
	started, err := k.registry.Start(jobs.Start{
		Kind: bashKind, Label: r.job.Label, Owner: parts.ownerOf(r.job.Owner), Durable: true,
		Run: func(slot jobs.Slot) (jobs.Producer, error) {
			if err := k.records.Adopt(ctx, r.path, slot.Dir); err != nil {
				return nil, err
			}
			for _, output := range []*shell.CollectedOutput{&shown.Stdout, &shown.Stderr} {
				if filepath.Dir(output.SpillPath) == r.path {
					output.SpillPath = filepath.Join(slot.Dir, filepath.Base(output.SpillPath))
				}
			}
			// The rest of a character that was not whole yet is still to be read.
			k.records.Skip(slot.ID, shown.Stdout.Next, shown.Stderr.Next)
			return nil, nil
		},
	})
	if err != nil {
		return "", err
	}
	k.history.started(started)
	return started.ID, nil
}

// Discard implements toolbash.Run.
func (r *run) Discard(result *shell.Result) {
	if result != nil && (result.Stdout.SpillPath != "" || result.Stderr.SpillPath != "") {
		return // until it is pruned
	}
	if err := r.jobs.keeping.records.Discard(r.path); err != nil {
		r.jobs.parts.in.Log.Warn("the record of a command was not removed", "error", err)
	}
}
