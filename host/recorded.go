//go:build unix

package host

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"hardshell/internal/capture"
	"hardshell/internal/cgroup"
	"hardshell/internal/command"
	"hardshell/internal/fault"
	"hardshell/internal/hostwire"
	"hardshell/internal/proctree"
	"hardshell/internal/record"
	"hardshell/internal/spawn"
	"hardshell/sandbox"
)

// recorded is one command of which the host keeps the output and the end.
type recorded struct {
	records *records
	dir     *record.Dir
	ask     *record.Ask
	logs    *record.Logs
	process record.Process
	command *command.Command
	group   *cgroup.Group // nil without one

	confinement sandbox.Confinement // nil without one
	workdir     string

	mu     sync.Mutex
	stdin  *inlet  // nil without input, and before the spawn
	kill   bool    // at once
	owner  *client // with which it ends, nil for the session's own
	cause  string  // why it is ended, "" while it is not
	reason string
}

// stopped is the cause of an end that somebody asked for.
const stopped = record.CauseStopped

// spawnRecorded spawns a command whose record is at s.Record. Files are its
// descriptors from 3 on.
func (c *client) spawnRecorded(s *hostwire.Spawn, files []int) (pid int, err error) {
	path := string(s.Record)
	if !c.server.records.contains(path) {
		return 0, fault.New(fault.InvalidArgument, "%s is no record of this session", path)
	}
	dir, err := record.Open(path)
	if err != nil {
		return 0, fault.New(fault.InvalidArgument, "the record of the command cannot be opened: %w", err)
	}
	r := &recorded{records: c.server.records, dir: dir, workdir: string(s.Dir)}
	if r.ask, err = dir.ReadAsk(); err != nil {
		dir.Close()
		return 0, err
	}
	if r.ask.Foreground {
		r.owner = c
	}
	if err := r.records.enter(r); err != nil {
		dir.Close()
		return 0, err
	}
	started := false
	defer func() {
		if !started {
			dir.Close()
			r.records.leave(r)
			c.server.announce(&hostwire.Message{Cleared: &hostwire.Cleared{Key: r.ask.Key, Unstarted: true}})
		}
	}()
	if err := r.start(c, s, files); err != nil {
		return 0, err
	}
	started = true
	go r.follow()
	return r.command.PID(), nil
}

// start spawns the command. After an error nothing of it is open or running.
func (r *recorded) start(c *client, s *hostwire.Spawn, files []int) (err error) {
	starter := spawn.Start
	if s.Policy != nil {
		if r.confinement, err = c.announced(s.Policy, s.Report); err != nil {
			return err
		}
		confined, ok := r.confinement.(spawn.Starter)
		if !ok {
			return fault.New(fault.SandboxUnavailable, "the session host cannot confine by %s", r.confinement.Confines())
		}
		starter = confined.Start
	}
	group, place := r.makeGroup(s.Policy)
	defer func() {
		place.Close()
		if r.group == nil {
			group.Remove()
		}
	}()
	trees := r.records.trees
	if err := trees.Enter(); err != nil {
		return err
	}
	defer trees.Leave()
	if r.logs, err = r.dir.CreateLogs(r.ask); err != nil {
		return fault.New(fault.SpawnFailed, "the log of the command cannot be made: %w", err)
	}
	streams, err := r.open()
	if err != nil {
		r.logs.Close()
		return fault.New(fault.SpawnFailed, "cannot open the command's streams: %w", err)
	}
	// Written before the spawn, so that a host that dies in between leaves
	// nothing that could not be found.
	r.process = record.Process{
		Tag: trees.NextTag(), Grace: r.ask.Grace, Boot: record.BootID(), Started: time.Now().UnixMilli(),
	}
	if err = r.dir.WriteProcess(&r.process); err != nil {
		err = fault.New(fault.SpawnFailed, "the record of the command cannot be written: %w", err)
	}
	var tree *proctree.Tree
	if err == nil {
		tree, err = trees.Start(starter, &spawn.Attr{
			Path: string(s.Path), Argv: s.Argv, Env: s.Env, Dir: string(s.Dir),
			Files: append(streams.Files(), files...), Tag: r.process.Tag, Cgroup: descriptor(place),
		}, r.grace(s))
	}
	streams.CloseChildEnds()
	if err != nil {
		streams.CloseOwnEnds()
		r.logs.Close()
		return command.Explain(err)
	}
	if tree.InCgroup() {
		r.group = group
	}
	var stdin *inlet
	if f := streams.Stdin(); f != nil {
		stdin = newInlet(r.records.server, f)
	}
	r.born(command.New(tree, streams), stdin)
	r.process.PID = tree.PID()
	if err := r.dir.WriteProcess(&r.process); err != nil {
		r.records.server.log.Warn("a process id was not recorded", "record", r.dir.Path(), "error", err)
	}
	return nil
}

// makeGroup makes a control group for a command whose memory is watched, nil
// where there is none. What is confined gets none that it could leave.
func (r *recorded) makeGroup(data json.RawMessage) (*cgroup.Group, *os.File) {
	if r.ask.Memory <= 0 {
		return nil, nil
	}
	var policy sandbox.Policy
	if data != nil && json.Unmarshal(data, &policy) != nil { // it was read before
		return nil, nil
	}
	var writable []string
	if policy.Mode == sandbox.WorkspaceWrite {
		writable = append(policy.WritableRoots, policy.WorkspaceRoot)
	}
	group, place, err := r.records.groups.New(writable)
	if err != nil && !errors.Is(err, cgroup.ErrNotDelegated) {
		r.records.server.log.Warn("the memory of a command is looked at without a control group", "record", r.dir.Path(), "error", err)
	}
	return group, place
}

// descriptor is the number of a file, 0 for none.
func descriptor(file *os.File) int {
	if file == nil {
		return 0
	}
	return int(file.Fd())
}

func (r *recorded) grace(s *hostwire.Spawn) time.Duration {
	if r.ask.Grace > 0 {
		return r.ask.Grace.Duration()
	}
	return s.Grace
}

// open opens the streams: the outputs go to the logs.
func (r *recorded) open() (*capture.Streams, error) {
	in := capture.Input{Kind: capture.Null}
	if r.ask.Interactive {
		in.Kind = capture.Pipe
	}
	var outs [2]capture.Output
	for i := range outs {
		outs[i] = capture.Output{Kind: capture.Keep, Log: sealed{r.logs.Stream(i)}}
	}
	return capture.Open(in, outs, nil, nil)
}

// sealed is a log that stays open for its status.
type sealed struct{ *record.Writer }

// Seal implements capture.Log.
func (sealed) Seal() {}

// follow follows the command until nothing is left of it.
func (r *recorded) follow() {
	defer r.records.leave(r)
	defer r.group.Remove()
	defer r.dir.Close()
	defer r.guard()
	unwatch := r.watch()
	go r.command.Follow(context.Background(), r.records.server.ending)
	<-r.command.Exited()
	unwatch()
	if r.stdin != nil {
		r.stdin.close()
	}
	<-r.command.Done()
	status := r.status()
	r.logs.Close()
	data, _ := json.Marshal(status) // it holds nothing that cannot be encoded
	written := r.write(status)
	r.records.server.announce(&hostwire.Message{Recorded: &hostwire.Recorded{Key: r.ask.Key, Status: data}})
	if !written {
		r.writeLater(status)
	}
	<-r.command.Finished()
	if tree, ok := r.command.Tree.(*proctree.Tree); ok {
		r.records.trees.Forget(tree)
	}
	r.records.server.announce(&hostwire.Message{Cleared: &hostwire.Cleared{Key: r.ask.Key}})
}

// guard contains a panic: the command is ended, and those who wait are told.
func (r *recorded) guard() {
	v := recover()
	if v == nil {
		return
	}
	r.records.server.panicked(v)
	r.command.Kill()
	status := &record.Status{
		Status: record.Failed, Detail: "the session host failed: see its log", Cause: record.CauseLost,
		Started: r.process.Started, Finished: time.Now().UnixMilli(),
	}
	r.write(status)
	data, _ := json.Marshal(status)
	r.records.server.announce(&hostwire.Message{Recorded: &hostwire.Recorded{Key: r.ask.Key, Status: data}})
	r.records.server.announce(&hostwire.Message{Cleared: &hostwire.Cleared{Key: r.ask.Key}})
}

// write records how the command ended. It is false when that should be tried
// again: the disk is full, say.
func (r *recorded) write(status *record.Status) (done bool) {
	_, err := r.dir.WriteStatus(status)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist): // the record was removed
		return true
	}
	r.records.server.log.Error("how a command ended was not recorded", "record", r.dir.Path(), "error", err)
	return false
}

// retries is how often, and retryAfter how long after each other, a status is
// tried to be written that could not be. The host lives on for as long.
const (
	retries    = 600
	retryAfter = time.Second
)

// writeLater writes a status when the disk takes it again, until the host is told
// to end.
func (r *recorded) writeLater(status *record.Status) {
	timer := time.NewTicker(retryAfter)
	defer timer.Stop()
	for range retries {
		select {
		case <-timer.C:
		case <-r.records.server.ending.Done():
			r.write(status)
			return
		}
		if r.write(status) {
			return
		}
	}
}

// stop ends the command for a cause. The first cause stays.
func (r *recorded) stop(cause, reason string, kill bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.command != nil && isClosed(r.command.Exited()) {
		// What ends it was not this.
	} else if r.cause == "" {
		r.cause, r.reason = cause, reason
	}
	switch {
	case r.command == nil: // it is just being spawned
		r.kill = r.kill || kill
	case kill:
		r.command.Kill()
	default:
		r.command.Terminate()
	}
}

// born tells the record its command, which somebody may want to end already.
func (r *recorded) born(c *command.Command, stdin *inlet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.command, r.stdin = c, stdin
	switch {
	case r.kill:
		c.Kill()
	case r.cause != "":
		c.Terminate()
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// promote makes the command the session's own.
func (r *recorded) promote() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owner = nil
}

// endsWith reports whether the command ends with a client.
func (r *recorded) endsWith(c *client) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owner == c
}

// status is how the command ended. What cannot be said because of a defect here
// is not said, and the rest is.
func (r *recorded) status() *record.Status {
	exit := r.command.Exit()
	now := time.Now()
	s := &record.Status{
		Status: record.Completed, Signal: exit.Signal,
		Started: r.process.Started, Finished: now.UnixMilli(), DurationMs: exit.Duration.Milliseconds(),
		Usage: &record.Usage{
			UserMs: exit.UserTime.Milliseconds(), SystemMs: exit.SystemTime.Milliseconds(), MaxRSS: exit.MaxRSS,
		},
		Stdout: r.logs.Stream(record.Stdout).Status(), Stderr: r.logs.Stream(record.Stderr).Status(),
		Survivors: r.command.Survivors(),
	}
	if exit.Code >= 0 {
		s.ExitCode = &exit.Code
	}
	r.mu.Lock()
	s.Cause, s.Reason = r.cause, r.reason
	r.mu.Unlock()
	if s.Cause != "" || exit.Signal != "" || exit.Code < 0 {
		s.Status = record.Killed
	}
	if r.confinement != nil {
		func() {
			defer r.records.server.guard(nil)
			// The report holds nothing that cannot be encoded.
			s.Sandbox, _ = json.Marshal(r.info(s.ExitCode))
		}()
	}
	return s
}

// maxErrorText bounds how much of the standard error is looked through for a
// denial: its beginning and its end.
const maxErrorText = 256 << 10

// info says how the command was confined, and whether something was denied.
func (r *recorded) info(exitCode *int) *sandbox.Info {
	outcome := sandbox.Outcome{Workdir: r.workdir, ExitCode: exitCode}
	denied := false
	if exitCode != nil && *exitCode != 0 {
		if log, err := r.dir.OpenLog(r.ask, record.Stderr); err == nil {
			head, _ := log.ReadAt(0, maxErrorText)
			tail, _ := log.Tail(head.Next, maxErrorText)
			outcome.Stderr = string(head.Data) + string(tail.Data)
			log.Close()
		}
		denied = r.confinement.Denied(outcome)
	}
	report := r.confinement.Report()
	return report.Info(denied)
}
