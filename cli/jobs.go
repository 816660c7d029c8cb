package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hardshell/compose"
	"hardshell/internal/fault"
	"hardshell/internal/state"
	"hardshell/jobs"
)

func (a *app) jobsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "Look after the background jobs of a session",
		Long: `Look after the background jobs of a session (--session).

A job belongs to its session and outlives the process that started it. Whatever
is done here takes nothing away from the model: its place in the output stays
where it is, and it is told of every end that it has not seen.`,
		Example: `  hardshell jobs list --session s
  hardshell jobs output bash-1 --session s --follow`,
		Args: cobra.NoArgs, // a command that runs nothing accepts any
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.jobsListCommand(), a.jobsOutputCommand(), a.jobsWaitCommand(), a.jobsKillCommand(), a.jobsPruneCommand())
	return cmd
}

// stateHome is the home of this invocation.
func (a *app) stateHome() (state.Home, error) {
	home, err := state.ResolveHome(a.home)
	if err != nil {
		return home, usageError{err}
	}
	return home, nil
}

// jobHome is the home, once --session names a session in it.
func (a *app) jobHome() (state.Home, error) {
	if a.session == "" {
		return state.Home{}, usagef("jobs belong to a session: name it with --session ID (hardshell sessions list shows them)")
	}
	if err := state.ValidateSessionID(a.session); err != nil {
		return state.Home{}, usageError{err}
	}
	return a.stateHome()
}

// readJob reads the record of a job of the session.
func (a *app) readJob(home state.Home, id string) (compose.JobInfo, error) {
	info, err := compose.ReadJob(home, a.session, id)
	return info, a.explainJob(err, id)
}

// explainJob says where to look for a job that is not there.
func (a *app) explainJob(err error, id string) error {
	if errors.Is(err, fault.UnknownJob) {
		return fault.New(fault.UnknownJob, "unknown job %s in session %s: see hardshell jobs list --session %s", clean(id), a.session, a.session)
	}
	return err
}

// oneJob demands the id of a job.
func oneJob(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s needs the id of one job: %s", cmd.Name(), firstExample(cmd))
	}
	return nil
}

// firstExample is the first line of a command's examples.
func firstExample(cmd *cobra.Command) string {
	line, _, _ := strings.Cut(cmd.Example, "\n")
	return strings.TrimSpace(line)
}

// statusWords are how a job is, in words, for a line.
func statusWords(job jobs.Job) string {
	words := string(job.Status)
	if job.Detail != "" {
		words += ", " + job.Detail
	}
	return clean(words)
}

// maxReason is how many characters of a reason stand in a line.
const maxReason = 80

// statusAndReason are statusWords, and why somebody ended the job.
func statusAndReason(info compose.JobInfo) string {
	words := statusWords(info.Job)
	if reason := clean(info.Reason); reason != "" {
		words += " (" + cut(reason, maxReason) + ")"
	}
	return words
}

// completeJobs offers the ids of the session's jobs, with alive only of those
// that live, up to most on a line.
func (a *app) completeJobs(alive bool, most int) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		home, err := a.jobHome()
		if err != nil || len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, err := compose.ReadJobs(home, a.session)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var ids []string
		for _, info := range list {
			if alive && info.Status.Terminal() {
				continue
			}
			ids = append(ids, fmt.Sprintf("%s\t%s: %s", info.ID, info.Status, cut(clean(info.Label), 60)))
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeSessions offers the ids of the sessions of the home.
func (a *app) completeSessions(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	home, err := a.stateHome()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := compose.ReadSessions(home)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, info := range list {
		ids = append(ids, info.ID)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
