package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hardshell"
	"hardshell/compose"
	"hardshell/internal/state"
	tooljobs "hardshell/tool/jobs"
)

// killedDocument is what jobs kill prints.
type killedDocument struct {
	Jobs []killedJob `json:"jobs"`
}

// killedJob is what became of the wish to end a job.
type killedJob struct {
	Outcome tooljobs.KillOutcome `json:"outcome"`
	Job     compose.JobInfo      `json:"job"`
}

func (a *app) jobsKillCommand() *cobra.Command {
	var reason string
	var wait bool
	cmd := &cobra.Command{
		Use:   "kill ID...",
		Short: "End jobs",
		Long: `End jobs: all processes of each get SIGTERM, and after a grace SIGKILL. It returns
at once; with --wait it does when they have settled. The model is told.`,
		Example: `  hardshell jobs kill bash-1 --session s
  hardshell jobs kill bash-1 bash-2 --session s --reason 'wrong branch' --wait`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("kill needs the ids of jobs: %s", firstExample(cmd))
			}
			return nil
		},
		ValidArgsFunction: a.completeJobs(true, 64),
		RunE: func(cmd *cobra.Command, args []string) error {
			home, err := a.jobHome()
			if err != nil {
				return err
			}
			return a.killJobs(cmd.Context(), home, args, reason, wait)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why: jobs list and jobs wait show it")
	cmd.Flags().BoolVar(&wait, "wait", false, "return when the jobs have settled")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) killJobs(ctx context.Context, home state.Home, ids []string, reason string, wait bool) error {
	signals := watchSignals(ctx)
	defer signals.stop()
	<-signals.ready
	document := killedDocument{Jobs: []killedJob{}}
	var failed error
	if len(ids) == 1 { // nothing is opened for what is not there
		if _, err := a.readJob(home, ids[0]); err != nil {
			return err
		}
	}
	err := a.withJobs(signals.ctx, func(h *hardshell.Harness) error {
		for _, id := range ids {
			killed, err := a.killJob(signals.ctx, h, home, id, reason)
			if err != nil {
				if failed != nil {
					a.tell("%v", failed)
				}
				failed = err
				continue
			}
			document.Jobs = append(document.Jobs, killed)
			if !a.json {
				fmt.Fprintln(a.streams.Out, killed.text())
			}
		}
		if !wait {
			return nil
		}
		for i, killed := range document.Jobs {
			info, err := a.settled(signals.ctx, h, home, killed.Job.ID)
			if err != nil {
				return err
			}
			document.Jobs[i].Job = info
			if killed.Outcome == tooljobs.CancellationRequested && !a.json && info.Status.Terminal() {
				fmt.Fprintf(a.streams.Out, "%s %s\n", info.ID, statusAndReason(info))
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return signals.explain(err)
	case failed != nil:
		return signals.explain(failed)
	case a.json:
		err = a.printJSON(document)
	}
	if err == nil {
		err = signals.explain(nil)
	}
	return err
}

func (k killedJob) text() string {
	if k.Outcome == tooljobs.AlreadyFinished {
		return "job " + k.Job.ID + " had already finished " + clean(k.Job.StatusLine())
	}
	return "requested cancellation of job " + k.Job.ID
}

// killJob begins the end of a job. The record of one of which the host is dead is
// completed instead.
func (a *app) killJob(ctx context.Context, h *hardshell.Harness, home state.Home, id, reason string) (killedJob, error) {
	info, err := a.readJob(home, id)
	if err != nil {
		return killedJob{}, err
	}
	outcome := tooljobs.AlreadyFinished
	if !info.Status.Terminal() {
		_, work, err := h.FollowJob(id)
		if err != nil {
			return killedJob{}, a.explainJob(err, id)
		}
		if err := work.Cancel(reason); err == nil {
			outcome = tooljobs.CancellationRequested
		} else if !settlesWithin(ctx, work.Done(), settling) {
			return killedJob{}, err
		}
		if info, err = a.readJob(home, id); err != nil {
			return killedJob{}, err
		}
	}
	if info.Lost {
		bounded, cancel := context.WithTimeout(ctx, settling)
		defer cancel()
		if info, err = a.settled(bounded, h, home, id); err != nil {
			return killedJob{}, err
		}
	}
	return killedJob{Outcome: outcome, Job: info}, nil
}

// settling is longer than it takes to complete a record.
const settling = 10 * time.Second

func settlesWithin(ctx context.Context, done <-chan struct{}, bound time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}
