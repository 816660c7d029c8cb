package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hardshell"
	"hardshell/compose"
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

The exit status is 0 when the job has settled, however it ended, and 124 when
--timeout passed before.`,
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
				d, ok := positiveDuration(timeout)
				if !ok {
					return usagef("--timeout %q is no positive duration: use 90s, 5m, bare milliseconds, or none", timeout)
				}
				bound = d
			}
			return a.waitForJob(cmd.Context(), home, args[0], bound)
		},
	}
	cmd.Flags().StringVar(&timeout, "timeout", "", "longest wait: a duration such as 90s or 5m, bare milliseconds, or none (default none)")
	a.jsonFlag(cmd)
	return cmd
}

// positiveDuration reads a Go duration or bare milliseconds.
func positiveDuration(text string) (time.Duration, bool) {
	d, err := time.ParseDuration(text)
	if ms, msErr := strconv.ParseInt(text, 10, 64); msErr == nil && ms < int64(shell.NoTimeout/time.Millisecond) {
		d, err = time.Duration(ms)*time.Millisecond, nil
	}
	return d, err == nil && d > 0
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
		_, err = fmt.Fprintf(a.streams.Out, "%s %s\n", info.ID, clean(statusWords(info.Job)))
	default:
		a.tell("job %s has not settled within %s: it is %s", info.ID, timeout, info.Status)
	}
	if err == nil && !settled {
		return exitStatus(exitTimedOut)
	}
	return err
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
	}
	return info, err
}

func isDone(work jobs.Producer) bool {
	select {
	case <-work.Done():
		return true
	default:
		return false
	}
}
