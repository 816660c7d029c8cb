package durable

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"time"

	"hardshell/internal/record"
)

// Work is what a job is asked to do.
type Work struct {
	Kind, Label string
	// Command is the whole command, Workdir where it runs.
	Command, Workdir string
	Interactive      bool
	// Runtime, when positive, bounds this job instead of the store's limit.
	Runtime time.Duration
}

// Write writes what was asked of a job into its empty directory. What is kept
// there then belongs to the session.
func (s *Store) Write(dir string, w Work) error { return s.write(dir, w, false) }

func (s *Store) write(path string, w Work, foreground bool) error {
	dir, err := record.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	ask := record.NewAsk()
	ask.Kind, ask.Label, ask.Command, ask.Workdir = w.Kind, w.Label, w.Command, w.Workdir
	ask.Interactive, ask.Foreground = w.Interactive, foreground
	ask.MaxBytes, ask.Grace = s.config.MaxLogBytes, record.MillisOf(s.config.Grace())
	limits := s.config.Limits
	if foreground {
		limits = Limits{} // what runs in the foreground has its deadline, also as a job
	}
	if w.Runtime > 0 {
		limits.Runtime = w.Runtime
	}
	ask.Runtime, ask.Silence = record.MillisOf(limits.Runtime), record.MillisOf(limits.Silence)
	ask.Memory, ask.OutputLimit = limits.Memory, limits.Output
	return dir.WriteAsk(ask)
}

// Fail records that a job's command could not be started.
func (s *Store) Fail(path string, cause error) error {
	dir, err := record.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	now := time.Now().UnixMilli()
	_, err = dir.WriteStatus(&record.Status{
		Status: record.Failed, Detail: "spawn failed: " + oneLine(cause.Error()), Started: now, Finished: now,
	})
	return err
}

// runPrefix begins the names of the records of foreground runs that may become
// jobs.
const runPrefix = ".run-"

// NewRun makes the record of a foreground run, and returns its path. No limit but
// Work.Runtime ends the run, also when it goes on as a job.
func (s *Store) NewRun(w Work) (string, error) {
	if err := s.ensure(); err != nil {
		return "", err
	}
	var random [8]byte
	rand.Read(random[:])
	path := s.path(runPrefix + hex.EncodeToString(random[:]))
	if err := os.Mkdir(path, 0o700); err != nil {
		return "", err
	}
	if err := s.write(path, w, true); err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, nil
}

// Adopt makes the record of a run that of a job whose directory is empty. After an
// error nothing has changed. Otherwise the record is the job's; a command that
// cannot go on, because its host died for instance, is a job that failed.
func (s *Store) Adopt(ctx context.Context, run, dir string) error {
	command, err := s.config.Watch(run)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// The host goes on writing: it holds the directory, not its name.
	if err := record.Move(run, dir); err != nil {
		return err
	}
	// There is no way back from here.
	if err := command.Promote(context.WithoutCancel(ctx), dir); err != nil {
		_ = command.Stop("it could not go on as a background job: "+oneLine(err.Error()), true)
	}
	return nil
}

// Discard takes the record of a run away that has ended.
func (s *Store) Discard(run string) error {
	dir, err := record.Open(run)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove()
}
