package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hardshell/compose"
	"hardshell/internal/state"
	"hardshell/jobs"
)

// jobsDocument is what jobs list prints.
type jobsDocument struct {
	Jobs []compose.JobInfo `json:"jobs"`
}

func (a *app) jobsListCommand() *cobra.Command {
	var all, watch bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the jobs of a session, or of all",
		Long: `List the jobs of a session, or with --all of all sessions, as they were started:
how each is or how it ended, how long it has run, how much it has written, and
its command. A job of which the host died is shown as failed.

With --watch the list is drawn again every second, until Ctrl-C.`,
		Example: `  hardshell jobs list --session s
  hardshell jobs list --all --json
  hardshell jobs list --all --watch`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := a.listHome(all)
			if err != nil {
				return err
			}
			if watch {
				return a.watchJobs(cmd.Context(), home, all)
			}
			list, err := a.readJobs(home, all)
			switch {
			case err != nil:
				return err
			case a.json:
				return a.printJSON(jobsDocument{list})
			case len(list) == 0:
				a.tell("%s", a.noJobs(all))
				return nil
			}
			return jobsTable(list, all, a.screen(), time.Now()).print(a.screen())
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "the jobs of all sessions of this home")
	cmd.Flags().BoolVar(&watch, "watch", false, "draw the list again every second, on a terminal")
	a.jsonFlag(cmd)
	return cmd
}

// listHome is the home, once it is said whose jobs are meant.
func (a *app) listHome(all bool) (state.Home, error) {
	if all {
		return a.stateHome()
	}
	if a.session == "" {
		return state.Home{}, usagef("jobs belong to a session: name it with --session ID, or use --all for all sessions")
	}
	return a.jobHome()
}

// readJobs reads the jobs of the session, or of all.
func (a *app) readJobs(home state.Home, all bool) ([]compose.JobInfo, error) {
	if !all {
		return compose.ReadJobs(home, a.session)
	}
	sessions, err := compose.SessionsWithJobs(home)
	if err != nil {
		return nil, err
	}
	list := []compose.JobInfo{}
	for _, session := range sessions {
		more, err := compose.ReadJobs(home, session)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

func (a *app) noJobs(all bool) string {
	if all {
		return "there are no background jobs"
	}
	return fmt.Sprintf("session %s has no background jobs", a.session)
}

// statusWidth is how many characters the words for a status have at most on a
// terminal: they must leave room for the command.
func statusWidth(width int) int {
	const usual = len("completed, exit code: 0")
	return max(usual, min(width/3, 40))
}

// jobsTable shows jobs as they are at a time.
func jobsTable(list []compose.JobInfo, sessions bool, out screen, now time.Time) *table {
	t := &table{}
	heading := []string{"ID", "STATUS", "TIME", "OUTPUT", "LABEL"}
	if sessions {
		heading = append([]string{"SESSION"}, heading...)
	}
	var cells []cell
	for _, word := range heading {
		cells = append(cells, cell{word, faint})
	}
	t.add(cells...)
	for _, info := range list {
		status := statusAndReason(info)
		if out.width > 0 {
			status = cut(status, statusWidth(out.width))
		}
		cells := []cell{
			{info.ID, plain}, {status, colourOf(info.Job)}, {timeText(info.Job, now), plain},
			{sizeText(info.Stdout.Bytes + info.Stderr.Bytes), plain}, {clean(info.Label), plain},
		}
		if sessions {
			cells = append([]cell{{info.Session, plain}}, cells...)
		}
		t.add(cells...)
	}
	return t
}

// timeText is how long a job has run. How long one ran of which the host died is
// not known.
func timeText(job jobs.Job, now time.Time) string {
	switch {
	case job.FinishedAt > 0:
		return spanText(time.Duration(max(0, job.FinishedAt-job.StartedAt)) * time.Millisecond) // the clock may have been set
	case job.Status.Terminal():
		return "-"
	}
	return spanText(max(0, now.Sub(time.UnixMilli(job.StartedAt))))
}

func colourOf(job jobs.Job) string {
	switch job.Status {
	case jobs.Running:
		return green
	case jobs.Stopping, jobs.Killed:
		return yellow
	case jobs.Failed:
		return red
	}
	if job.Detail != "exit code: 0" {
		return red
	}
	return plain
}

// watchJobs draws the list until it is interrupted.
func (a *app) watchJobs(ctx context.Context, home state.Home, all bool) error {
	if a.json {
		return usagef("--watch and --json exclude each other: choose one")
	}
	if a.screen().width == 0 {
		return usagef("--watch draws on a terminal, and standard output is none: leave it out, or repeat jobs list --json")
	}
	signals := watchSignals(ctx)
	defer signals.stop()
	<-signals.ready
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	drawn := 0
	for {
		list, err := a.readJobs(home, all)
		if err != nil {
			return err
		}
		out := a.screen()
		lines := jobsTable(list, all, out, time.Now()).lines(out)
		if len(list) == 0 {
			lines = []string{a.noJobs(all)}
		}
		lines = fit(lines, out.height-1)
		// ECMA-48: CUU goes up over what was drawn, ED takes it away.
		var draw strings.Builder
		if drawn > 0 {
			fmt.Fprintf(&draw, "\x1b[%dA", drawn)
		}
		draw.WriteString("\r\x1b[J" + strings.Join(lines, "\n") + "\n")
		if _, err := fmt.Fprint(out.w, draw.String()); err != nil {
			return err
		}
		drawn = len(lines)
		select {
		case <-ticker.C:
		case <-signals.ctx.Done():
			return exitStatus(signals.interruption())
		}
	}
}

// fit leaves out the oldest of more rows than there is room for.
func fit(lines []string, room int) []string {
	if room < 3 || len(lines) <= room {
		return lines
	}
	left := len(lines) - 1 - (room - 2)
	return append([]string{lines[0], fmt.Sprintf("… %d more", left)}, lines[len(lines)-(room-2):]...)
}
