package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hardshell"
	"hardshell/compose"
	"hardshell/internal/fault"
	"hardshell/internal/state"
)

// endedDocument is what sessions end prints.
type endedDocument struct {
	Session string `json:"session"`
	// WasRunning says that there was something to end: a host, or a job.
	WasRunning bool `json:"wasRunning"`
	// Jobs are those that ran, as they have ended.
	Jobs []compose.JobInfo `json:"jobs"`
	// Ended says that nothing of the session is left; else Host is the process
	// that somebody keeps.
	Ended bool `json:"ended"`
	Host  int  `json:"host,omitempty"`
	// Survivors are processes that could not be ended.
	Survivors []int `json:"survivors,omitempty"`
}

func (a *app) sessionsEndCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "end ID",
		Short: "End a session: its jobs, and its host",
		Long: `End a session: all of its background jobs get SIGTERM and after a grace SIGKILL, and
its host ends with the last of them. What the session has left stays readable.

A program that is attached to the session keeps its host: that is told after 20
seconds, and the exit status is then 1. A session that does not run is left as it
is; that is told, and the exit status is 0.`,
		Example: `  hardshell sessions end s`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("end needs the id of one session: %s", firstExample(cmd))
			}
			return nil
		},
		ValidArgsFunction: a.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			home, err := a.stateHome()
			if err != nil {
				return err
			}
			return a.endSession(cmd.Context(), home, args[0])
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

// hostBound is how long a host that nobody keeps has to end.
const hostBound = 20 * time.Second

func (a *app) endSession(ctx context.Context, home state.Home, id string) error {
	if err := state.ValidateSessionID(id); err != nil {
		return usageError{err}
	}
	known, err := compose.ReadSessions(home)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(known, func(s compose.SessionInfo) bool { return s.ID == id }) && !compose.HostLives(home, id) {
		return usagef("there is no session %s: see hardshell sessions list", id)
	}
	signals := watchSignals(ctx)
	defer signals.stop()
	<-signals.ready
	a.session = id
	document := endedDocument{Session: id, Jobs: []compose.JobInfo{}}
	document.WasRunning = compose.HostLives(home, id)
	if compose.WakeHost(signals.ctx, home, id) {
		a.tell("the host of session %s was stopped: it goes on, to be ended", id)
	}
	list, err := compose.ReadJobs(home, id)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(info compose.JobInfo) bool { return info.Status.Terminal() && !info.Lost })
	document.WasRunning = document.WasRunning || len(list) > 0
	if err := a.completeLost(signals.ctx, home, id); err != nil {
		return signals.explain(err)
	}
	list = slices.DeleteFunc(list, func(info compose.JobInfo) bool { return info.Lost })
	if len(list) > 0 {
		err := a.withJobs(signals.ctx, func(h *hardshell.Harness) error {
			return h.Jobs().End(signals.ctx, h.Owner())
		})
		if err != nil {
			return signals.explain(err)
		}
	}
	for _, job := range list {
		if info, err := compose.ReadJob(home, id, job.ID); err == nil {
			document.Jobs = append(document.Jobs, info)
		}
	}
	if document.Host, document.Ended, err = endHost(signals.ctx, home, id); err != nil {
		return signals.explain(err)
	}
	if document.Ended {
		// What jobs left behind whose host was killed.
		document.Survivors = compose.EndLeftovers(home, id)
	}
	if signals.ctx.Err() != nil {
		return exitStatus(signals.interruption())
	}
	if err := a.printEnded(document); err != nil {
		return err
	}
	if !document.Ended || len(document.Survivors) > 0 {
		return exitStatus(exitError)
	}
	return nil
}

// endHost ends what is left of a session, and waits for the end of its host.
func endHost(ctx context.Context, home state.Home, id string) (pid int, ended bool, err error) {
	pid, err = compose.LeaveSession(ctx, home, id)
	if err != nil {
		return pid, false, err
	}
	bounded, cancel := context.WithTimeout(ctx, hostBound)
	defer cancel()
	if compose.WaitForHost(bounded, home, id) {
		return 0, true, nil
	}
	if pid == 0 {
		// It was just ending, and does not end.
		return 0, false, fault.New(fault.SpawnFailed, "the host of session %s does not end, and does not say who it is: find it by its lock in the run directory of the home, and kill it", id)
	}
	return pid, false, nil
}

func (a *app) printEnded(d endedDocument) error {
	if a.json {
		return a.printJSON(d)
	}
	for _, info := range d.Jobs {
		fmt.Fprintf(a.streams.Out, "ended job %s: %s\n", info.ID, statusWords(info.Job))
	}
	if !d.Ended {
		a.tell("the host of session %s (process %d) lives on: another program is attached to the session, or what it left in the background runs on. Close that program, or end everything with kill %d", d.Session, d.Host, d.Host)
		return nil
	}
	for _, pid := range d.Survivors {
		a.tell("process %d of the session is still running after SIGKILL", pid)
	}
	how := "has ended"
	if !d.WasRunning {
		how = "was not running"
	}
	_, err := fmt.Fprintf(a.streams.Out, "session %s %s\n", d.Session, how)
	return err
}
