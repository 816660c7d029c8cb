package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hardshell"
	"hardshell/compose"
	"hardshell/internal/fault"
	"hardshell/internal/signame"
	"hardshell/internal/state"
	"hardshell/jobs"
	"hardshell/shell"
)

func (a *app) jobsWaitCommand() *cobra.Command {
	var timeout string
	cmd := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait until a job has settled",
		Long: `Wait until a job has settled, and print how it ended. The model is told of it all
the same.

The exit status is that of the job, as with the wait of a shell: its exit code, or
128+N when signal N ended it, also when it was killed or passed a limit (143 when it
was, and ended by itself then). It is 125 when the job failed: it never ran, or its
host died; 124 when --timeout passed before the job had settled; and 127 when there
is no such job.`,
		Example: `  hardshell jobs wait bash-1 --session s
  hardshell jobs wait bash-1 --session s --timeout 5m --json`,
		Args:              oneJob,
		ValidArgsFunction: a.completeJobs(true, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			home, err := a.jobHome()
			if err != nil {
				return err
			}
			bound := shell.NoTimeout
			if cmd.Flags().Changed("timeout") && timeout != "none" {
				var err error
				if bound, err = readDuration(timeout); err != nil {
					return err
				}
			}
			return a.waitForJob(cmd.Context(), home, args[0], bound)
		},
	}
	cmd.Flags().StringVar(&timeout, "timeout", "", "longest wait: "+durationWords+" (default none)")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) waitForJob(ctx context.Context, home state.Home, id string, timeout time.Duration) error {
	signals := watchSignals(ctx)
	defer signals.stop()
	<-signals.ready
	bounded, cancel := context.WithTimeout(signals.ctx, timeout)
	defer cancel()
	info, err := a.readJob(home, id)
	if err == nil && (!info.Status.Terminal() || info.Lost) {
		err = a.withJobs(signals.ctx, func(h *hardshell.Harness) error {
			info, err = a.settled(bounded, h, home, id)
			return err
		})
	}
	switch {
	case fault.CodeOf(err) == fault.UnknownJob:
		return signals.explain(statusError{exitNoJob, err})
	case err != nil:
		return signals.explain(err)
	case signals.ctx.Err() != nil:
		return exitStatus(signals.interruption())
	}
	settled := info.Status.Terminal() && !info.Lost
	switch {
	case a.json:
		err = a.printJSON(info)
	case settled:
		_, err = fmt.Fprintf(a.streams.Out, "%s %s\n", info.ID, statusAndReason(info))
	default:
		a.tell("job %s has not settled within %s: it is %s", info.ID, timeout, info.Status)
	}
	if err != nil {
		return err
	}
	status := exitTimedOut
	if settled {
		status = waitStatus(info)
	}
	if status == 0 {
		return nil
	}
	return exitStatus(status)
}

// waitStatus is the exit status of a shell that has waited for a settled job. One
// that was killed has not succeeded, whatever it made of that itself.
func waitStatus(info compose.JobInfo) int {
	switch {
	case info.Status == jobs.Failed:
		return exitFailed
	case info.Signal != "":
		return 128 + signame.Number(info.Signal)
	case info.Status == jobs.Killed:
		return 128 + int(syscall.SIGTERM)
	case info.ExitCode != nil:
		return *info.ExitCode
	}
	return 0
}

// withJobs hands over a harness of the session, which may see its jobs settle.
func (a *app) withJobs(ctx context.Context, use func(*hardshell.Harness) error) error {
	h, err := a.open(ctx, hardshell.Options{})
	if err != nil {
		return err
	}
	defer h.Close(ctx)
	return use(h)
}

// settled waits until a job has settled, and completes the record of one of which
// the host is dead. When ctx ends first the job is as it is then.
func (a *app) settled(ctx context.Context, h *hardshell.Harness, home state.Home, id string) (compose.JobInfo, error) {
	_, work, err := h.FollowJob(id)
	if err != nil {
		return compose.JobInfo{}, a.explainJob(err, id)
	}
	select {
	case <-work.Done():
	case <-ctx.Done():
	}
	info, err := a.readJob(home, id)
	if err == nil && (!info.Status.Terminal() || info.Lost) && isDone(work) {
		// It has ended, and that could not be written down.
		o := work.Outcome()
		info.Status, info.Detail, info.FinishedAt, info.Lost = o.Status, o.Detail, o.Finished.UnixMilli(), false
		info.ExitCode, info.Signal = endOf(o.Detail)
	}
	return info, err
}

// endOf reads the exit code or the signal in the words of jobs.Detail.
func endOf(detail string) (exitCode *int, signal string) {
	words, _, _ := strings.Cut(detail, ";")
	if text, ok := strings.CutPrefix(words, "exit code: "); ok {
		if code, err := strconv.Atoi(text); err == nil {
			return &code, ""
		}
	}
	signal, _ = strings.CutPrefix(words, "signal: ")
	if signal == words {
		return nil, ""
	}
	return nil, signal
}

func isDone(work jobs.Producer) bool {
	select {
	case <-work.Done():
		return true
	default:
		return false
	}
}
